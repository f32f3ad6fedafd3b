import Table from 'cli-table3';
import stringWidth from 'string-width';
import { clip, count, counted, printable } from '../../base/config/printable.js';
import type { Columns, Rows } from './result.js';

/**
 * A table for a terminal. A `>` before a head aligns its column to the right.
 * @param widths of the columns; by default they fit their text
 */
export function gridOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widths?: readonly number[],
): string {
  const grid = new Table({
    head: head.map((name) => name.replace(/^>/, '')),
    colAligns: head.map((name) => (name.startsWith('>') ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
    ...(widths === undefined ? {} : { colWidths: [...widths], wordWrap: true }),
  });
  for (const row of rows) grid.push([...row]);
  return grid.toString();
}

/** Most characters of a line of {@link fittedGrid}, and the fewest of its last column. */
const WIDEST = 120;
const NARROWEST = 20;

/** A table as {@link gridOf} makes it, whose last column wraps so that a line has at most 120 characters. */
export function fittedGrid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const natural = head.map((name, i) => widest([name.replace(/^>/, ''), ...rows.map((row) => row[i] ?? '')]));
  const others = natural.slice(0, -1);
  const room = WIDEST - FRAME * natural.length - 1 - others.reduce((sum, each) => sum + each, 0);
  const last = Math.min(natural.at(-1) ?? 0, Math.max(room, NARROWEST));
  return gridOf(
    head,
    rows,
    [...others, last].map((width) => width + FRAME - 1),
  );
}

/** How much of a result is shown. */
export interface View {
  /** Rows to show. */
  readonly rows: number;
  /** Most characters of a line; undefined if there is no limit. */
  readonly width: number | undefined;
}

/** Most characters of a cell, and the fewest to which a narrow table clips it. */
const MOST = 60;
const LEAST = 8;

/** Characters of the border and the spaces of a cell. */
const FRAME = 3;

/**
 * Rows as a table that fits the width: the widest columns are clipped first. If it still does not fit, the rows are
 * written by {@link verticalText}.
 * @param total rows of the whole result
 */
export function tableText(columns: Columns, rows: Rows, total: number, view: View): string {
  const cells = rows.map((row) => columns.map((_, i) => clip(printable(row[i]), MOST)));
  const head = columns.map(({ name }) => printable(name));
  const natural = columns.map((_, i) => widest([head, ...cells].map((row) => row[i] ?? '')));
  const widths = fitted(natural, view.width);
  if (widths === undefined) return verticalText(columns, rows, total);
  const grid = new Table({
    head,
    colWidths: widths.map((width) => width + FRAME - 1),
    style: { head: [], border: [], compact: true },
    colAligns: columns.map(({ type }) => (/INT|DOUBLE|DECIMAL|FLOAT/.test(type) ? 'right' : 'left')),
  });
  for (const row of cells) grid.push(row);
  return `${grid.toString()}\n${countText(rows.length, total)}`;
}

/** Rows one below the other, a line for each value. Values are not clipped. */
export function verticalText(columns: Columns, rows: Rows, total: number): string {
  const names = columns.map(({ name }) => printable(name));
  const width = widest(names);
  const records = rows.map((row, n) => {
    const lines = names.map((name, i) =>
      `  ${name}${' '.repeat(width - stringWidth(name))}  ${printable(row[i])}`.trimEnd(),
    );
    return `row ${n + 1}\n${lines.join('\n')}\n`;
  });
  return `${records.join('')}${countText(rows.length, total)}`;
}

/** The plan of a query, which DuckDB draws over several lines in the last column of an `explain`. */
export function planText(rows: Rows): string {
  const lines = rows.flatMap((row) => String(row.at(-1)).split('\n'));
  return `${lines.map((line) => printable(line).trimEnd()).join('\n')}\n`;
}

const widest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, stringWidth(text)), 0);

/** Widths of cells that fit into a line; undefined if there are none. */
function fitted(natural: readonly number[], width: number | undefined): readonly number[] | undefined {
  const room = (width ?? Number.POSITIVE_INFINITY) - FRAME * natural.length - 1;
  for (let limit = MOST; limit >= LEAST; limit--) {
    const widths = natural.map((each) => (limit === MOST ? each : Math.min(each, limit)));
    if (widths.reduce((sum, each) => sum + each, 0) <= room) return widths;
  }
  return undefined;
}

function countText(shown: number, total: number): string {
  const all = counted(total, 'row');
  if (shown === total) return `(${all})\n`;
  return `(the first ${count(shown)} of ${all}; --rows shows more, --format csv all)\n`;
}
