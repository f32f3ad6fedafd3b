import type { Columns } from './result.js';

const NUMERIC = /^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\)|BOOLEAN)$/;

/**
 * A formula: a sign, also one of full width or a small one, which spreadsheets with an East Asian keyboard take for it. What
 * nobody sees may stand before it, since some drop that. It may stand behind apostrophes: it gets one more, so that removing
 * one gives the text back.
 */
const FORMULA =
  /^'*(?:[\t\r]|[\s\u0000-\u001f\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b\u2212])/;

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
