import { z } from 'zod';
import { NONE } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { fill, pageOfLot, valueIn } from './format.js';
import { type GridCell, gridOfCells } from './grid.js';
import { type Html, html } from './html.js';

/** A cell: its text alone, or with a link to the page of the row's lot or car, and a text that a pointer shows. */
const cellSpec = z.preprocess(
  (given) => (typeof given === 'string' ? { text: given } : given),
  z.strictObject({ text: z.string(), link: z.enum(['lot', 'car']).optional(), hint: z.string().optional() }),
);

/** A cell of a table. */
type CellSpec = z.output<typeof cellSpec>;

/** Cells by head. A `>` before a head marks a column of numbers. */
export const numbersSpec = z.record(z.string(), cellSpec);

/** Addresses of the pages that a cell may link to, of the row's lot and of its car; undefined where there is none. */
export type Links = Readonly<Record<'lot' | 'car', (row: Row) => string | undefined>>;

/** A document without other pages leads to the lot at its source. */
const AT_SOURCE: Links = { lot: pageOfLot, car: pageOfLot };

/**
 * Rows as a table that scrolls, with a column for each head of `numbers`.
 */
export function numbersTable(
  numbers: Readonly<Record<string, CellSpec>>,
  rows: readonly Row[],
  links: Links = AT_SOURCE,
): Html {
  const columns = Object.entries(numbers).map(([head, template]) => ({
    head: head.replace(/^>/, ''),
    mark: head.startsWith('>') ? '>' : '',
    template,
  }));
  const cell = ({ template }: (typeof columns)[number], row: Row): GridCell => {
    const text = fill(template.text, row) || NONE;
    const value = valueIn(template.text, row);
    const data = value === null || String(value) === text ? '' : html` data-value="${value}"`;
    const hint = template.hint === undefined ? '' : fill(template.hint, row);
    const title = hint === '' || hint === text ? '' : html` title="${hint}"`;
    const link = template.link && links[template.link](row);
    return {
      shown: link === undefined ? text : html`<a href="${link}" rel="noreferrer">${text}</a>`,
      attributes: html`${data}${title}`,
    };
  };
  return gridOfCells(
    columns.map(({ head, mark }) => `${mark}${fill(head, rows[0] ?? {})}`),
    rows.map((row) => columns.map((column) => cell(column, row))),
  );
}
