import { NONE } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type Html, html, raw } from '../docs/html.js';
import { fill, pageOfLot, valueIn } from './format.js';
import { type CellSpec, spec } from './spec.js';

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
  const heads = Object.keys(numbers);
  const isNumber = (i: number): boolean => heads[i]?.startsWith('>') ?? false;
  const classOf = (i: number): Html | '' => (isNumber(i) ? raw(' class="number"') : '');
  const cell = (given: CellSpec, i: number, row: Row): Html => {
    const text = fill(given.text, row) || NONE;
    const value = valueIn(given.text, row);
    const data = value === null || String(value) === text ? '' : html` data-value="${value}"`;
    const hint = given.hint === undefined ? '' : fill(given.hint, row);
    const title = hint === '' || hint === text ? '' : html` title="${hint}"`;
    // A list of lots is a list of blocks on a phone, where each figure has its name.
    const named =
      kind === '' || i === 0
        ? ''
        : html` data-label="${fill((heads[i] ?? '').replace(/^>/, ''), row)}"${text === NONE ? raw(' data-empty') : ''}`;
    const link = given.link && links[given.link](row);
    const shown = link === undefined ? text : html`<a href="${link}" rel="noreferrer">${text}</a>`;
    return i === 0
      ? html`<th scope="row"${data}${title}>${shown}</th>`
      : html`<td${classOf(i)}${data}${title}${named}>${shown}</td>`;
  };
  return html`<div class="scroll${kind === '' ? '' : ` ${kind}`}" tabindex="0"><table><thead><tr>${heads.map(
    (name, i) => html`<th scope="col"${classOf(i)}>${fill(name.replace(/^>/, ''), rows[0] ?? {})}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${Object.values(numbers).map((template, i) => cell(template, i, row))}</tr>`,
  )}</tbody></table></div>`;
}

/** The columns of lots are those of the next auctions. */
const LOT = spec.sections.find(({ id }) => id === 'coming')?.figures[0]?.numbers ?? {};

/** Rows of `lots_on_offer` as a list of lots, with more columns at its end. */
export const lotsTable = (
  lots: readonly Row[],
  links: Links = AT_SOURCE,
  more: Readonly<Record<string, CellSpec>> = {},
): Html =>
  numbersTable(
    { ...LOT, ...more },
    lots.map((row) => ({ ...row, moment: row.sale_date })),
    links,
    'lots',
  );
