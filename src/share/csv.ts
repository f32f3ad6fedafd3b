import type { Columns } from './query.js';

const NUMERIC = /^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*|BOOLEAN)$/;

/** Apostrophes that are there already count as text, so that taking one away brings any text back. */
const FORMULA = /^'*[=+\-@\t\r]/;

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?$/;

/**
 * A value as a field of RFC 4180. Null is empty and an empty text is `""`; instants are ISO 8601 in UTC; lists are JSON.
 * A text that a spreadsheet would take for a formula gets a leading apostrophe; one that is a plain number does not.
 * @param value as DuckDB's JSON converter gives it
 * @param type DuckDB's name of the type
 */
export function csvField(value: unknown, type: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || NUMERIC.test(type)) return String(value);
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  const text = String(value);
  if (type.startsWith('TIMESTAMP')) return isoInstant(text);
  return quoted(disarmed(text));
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

/** `2026-09-09 19:44:38.5+00`, as DuckDB writes it in UTC, as `2026-09-09T19:44:38.5Z`. */
function isoInstant(text: string): string {
  const parts = INSTANT.exec(text);
  if (parts === null) return quoted(disarmed(text));
  return `${parts[1]}T${parts[2]}${parts[3] === undefined ? '' : 'Z'}`;
}
