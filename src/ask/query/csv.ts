import type { Columns } from './result.js';

const NUMERIC = /^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\)|BOOLEAN)$/;

/** A formula, also behind apostrophes. It gets one more apostrophe, so that removing one gives the text back. */
const FORMULA = /^'*[=+\-@\t\r]/;

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * A value as a field of RFC 4180. Null is empty and an empty text is `""`; lists are JSON.
 * A text that a spreadsheet would take for a formula gets a leading apostrophe, unless it is a plain number.
 * @param value as `jsonValue` gives it, with instants in ISO 8601
 * @param type DuckDB's name of the type
 */
export function csvField(value: unknown, type: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || NUMERIC.test(type)) return String(value);
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  const text = String(value);
  return quoted(FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text);
}

/** The header, with the end of its line. */
export const csvHeader = (columns: Columns): string =>
  `${columns.map(({ name }) => csvField(name, 'VARCHAR')).join(',')}\r\n`;

/** A row, with the end of its line. */
export const csvLine = (row: readonly unknown[], columns: Columns): string =>
  `${columns.map(({ type }, i) => csvField(row[i], type)).join(',')}\r\n`;

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
