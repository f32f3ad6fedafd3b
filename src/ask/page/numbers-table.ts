import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from '../../base/config/package-root.js';
import { NONE } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { fill, pageOfLot, valueIn } from './format.js';
import { type GridCell, gridOfCells } from './grid.js';
import { type Html, html, raw } from './html.js';

/** A cell: its text alone, or with a link to the page of the row's lot or car, and a text that a pointer shows. */
const cellSpec = z.preprocess(
  (given) => (typeof given === 'string' ? { text: given } : given),
  z.strictObject({ text: z.string(), link: z.enum(['lot', 'car']).optional(), hint: z.string().optional() }),
);

/** A cell of a table. */
type CellSpec = z.output<typeof cellSpec>;

/** Cells by head. A `>` before a head marks a column of numbers. */
export const numbersSpec = z.record(z.string(), cellSpec);

/** The cells of a list of lots, as `sql/report/lots.yml` describes them. */
export const LOT_CELLS = numbersSpec.parse(load(packageFile('sql/report/lots.yml')));

const COST_CELLS = Object.entries(numbersSpec.parse(load(packageFile('sql/report/lot_costs.yml'))));

/** The same with what the lots cost in the end by the user's tables of costs, of rows that have a column `cost`, too. */
export const COSTED_CELLS: typeof LOT_CELLS = Object.fromEntries(
  Object.entries(LOT_CELLS).flatMap((cell) => (cell[0] === '>Buy Now' ? [cell, ...COST_CELLS] : [cell])),
);

/** Addresses of the pages that a cell may link to, of the row's lot and of its car; undefined where there is none. */
export type Links = Readonly<Record<'lot' | 'car', (row: Row) => string | undefined>>;

/** A document without other pages leads to the lot at its source. */
const AT_SOURCE: Links = { lot: pageOfLot, car: pageOfLot };

/**
 * Rows as a table that scrolls, with a column for each head of `numbers`.
 * @param kind class of a list that is blocks on a phone
 */
export function numbersTable(
  numbers: Readonly<Record<string, CellSpec>>,
  rows: readonly Row[],
  links: Links = AT_SOURCE,
  kind = '',
): Html {
  const columns = Object.entries(numbers).map(([head, template], i) => ({
    head: head.replace(/^>/, ''),
    mark: head.startsWith('>') ? '>' : '',
    template,
    // A list of lots is a list of blocks on a phone, where each figure has its name.
    isNamed: kind !== '' && i > 0,
  }));
  const cell = ({ head, template, isNamed }: (typeof columns)[number], row: Row): GridCell => {
    const text = fill(template.text, row) || NONE;
    const value = valueIn(template.text, row);
    const data = value === null || String(value) === text ? '' : html` data-value="${value}"`;
    const hint = template.hint === undefined ? '' : fill(template.hint, row);
    const title = hint === '' || hint === text ? '' : html` title="${hint}"`;
    const name = isNamed
      ? html` data-label="${fill(head, row)}"${text === NONE ? raw(' data-empty') : ''}`
      : '';
    const link = template.link && links[template.link](row);
    return {
      shown: link === undefined ? text : html`<a href="${link}" rel="noreferrer">${text}</a>`,
      attributes: html`${data}${title}${name}`,
    };
  };
  return gridOfCells(
    columns.map(({ head, mark }) => `${mark}${fill(head, rows[0] ?? {})}`),
    rows.map((row) => columns.map((column) => cell(column, row))),
    kind,
  );
}

/** Rows of `lots_on_offer` as a list of lots, with more columns at its end. */
export const lotsTable = (
  lots: readonly Row[],
  links: Links = AT_SOURCE,
  more: Readonly<Record<string, CellSpec>> = {},
  cells = LOT_CELLS,
): Html =>
  numbersTable(
    { ...cells, ...more },
    lots.map((row) => ({ ...row, moment: row.sale_date })),
    links,
    'lots',
  );
