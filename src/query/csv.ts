import type { Columns } from './result.js';

const NUMERIC = /^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\)|BOOLEAN)$/;

/** Apostrophes that are there already count as text, so that taking one away brings any text back. */
const FORMULA = /^'*[=+\-@\t\r]/;

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * A value as a field of RFC 4180. Null is empty and an empty text is `""`; lists are JSON.
 * A text that a spreadsheet would take for a formula gets a leading apostrophe; one that is a plain number does not.
 * @param value as jsonValue gives it, with instants in ISO 8601
 * @param type DuckDB's name of the type
 */
export function csvField(value: unknown, type: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || NUMERIC.test(type)) return String(value);
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  return quoted(disarmed(String(value)));
}

/** A header line, without its end. */
export function csvHeader(columns: Columns): string {
  return columns.map(({ name }) => quoted(disarmed(name))).join(',');
}

/** Ends every line of a CSV, the last one too. */
export const LINE_END = '\r\n';

function disarmed(text: string): string {
  return FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
