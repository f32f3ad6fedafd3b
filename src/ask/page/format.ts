import { clip, count, numberOrNull, orNone, printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';

/** A share as a percentage with one digit. */
export const percent = orNone((n) => `${(n * 100).toFixed(1).replace(/^-0\.0$/, '0.0')}%`);

/** A number with two digits. */
export const ratio = orNone((n) => n.toFixed(2));

/** A number with one digit. */
export const tenths = orNone((n) => n.toFixed(1));

/** Whole days. */
export const days = orNone((n) => `${Math.round(n)} d`);

/** Writes amounts; each currency has one formatter, since making one takes as long as writing a hundred amounts. */
function amountsWith(options: Intl.NumberFormatOptions): (value: number, currency: string) => string {
  const formats = new Map<string, Intl.NumberFormat>();
  return (value, currency) => {
    const format =
      formats.get(currency) ?? new Intl.NumberFormat('en', { style: 'currency', currency, ...options });
    formats.set(currency, format);
    return format.format(value);
  };
}

const whole = amountsWith({ maximumFractionDigits: 0 });
const exact = amountsWith({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const compact = amountsWith({ notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 1 });

/** Stands before an amount whose currency is not known: ISO 4217 calls it XXX, which is written ¤. */
const codeOf = (currency: unknown): string =>
  currency === null || currency === undefined ? 'XXX' : String(currency);

/** An amount without cents, in a currency such as USD; with ¤ if its currency is not known. */
export const money = (value: unknown, currency: unknown): string =>
  orNone((n) => whole(n, codeOf(currency)))(value);

/** An amount to the cent, as {@link money}. */
export const cents = (value: unknown, currency: unknown): string =>
  orNone((n) => exact(n, codeOf(currency)))(value);

/** An amount on an axis, in thousands if it has any. */
const shortMoney = (value: number, currency: unknown): string =>
  compact(value, String(currency)).replace('K', 'k');

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
const dayFormat = new Intl.DateTimeFormat('en-GB', DAY);
const monthFormat = new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' });
const instantFormat = new Intl.DateTimeFormat('en-GB', { ...DAY, hour: '2-digit', minute: '2-digit' });

/** British English has one short month of four letters. */
const short = (date: string): string => date.replace('Sept', 'Sep');

/** A DATE or TIMESTAMPTZ of a result row. */
export const dateOf = (value: unknown): Date => (value instanceof Date ? value : new Date(String(value)));

/** A day in UTC, such as 21 Nov 2026. */
export const day = (value: unknown): string => short(dayFormat.format(dateOf(value)));

/** A month in UTC, such as Nov 2026. */
export const month = (value: unknown): string => monthFormat.format(dateOf(value));

/** An instant, such as 21 Nov 2026, 04:00 UTC. */
export const instant = (value: unknown): string => `${short(instantFormat.format(dateOf(value)))} UTC`;

/** A text of the feed on one line, clipped; `not given` if it is empty. */
export function label(value: unknown, length = 60): string {
  const text = printable(value).trim();
  return text === '' ? 'not given' : clip(text, length);
}

/** A source as people know it: `copart_com` is copart.com. */
export const source = (name: unknown): string => label(name).replace(/_com$/, '.com');

/** A list in a sentence. */
export const list = (items: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(items);

/** Each text once, in order of first appearance. */
export const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Address of the page of the lot of a row at its source; undefined if it has none. */
export const pageOfLot = ({ link }: Row): string | undefined => (typeof link === 'string' ? link : undefined);

/** A place that the feed writes in capitals or in small letters. */
export const titled = (value: unknown): string =>
  label(value, 30)
    .toLowerCase()
    .replaceAll(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());

/** The feed writes some names of states in lower case. */
function state(value: unknown): string {
  const name = label(value, 30);
  if (name === 'not given') return 'State not given';
  return name.replaceAll(/\b\p{Ll}/gu, (letter) => letter.toUpperCase());
}

/** A chance, without digits that it does not have. */
export const chance = orNone((n) => (n < 0.01 ? '<1%' : n > 0.99 ? '>99%' : `${Math.round(n * 100)}%`));

/** Formats that the texts of `sql/report/report.yml` name; a length clips a label. */
const FORMATS: Readonly<Record<string, (value: unknown, row: Row, length?: number) => string>> = {
  count,
  percent,
  ratio,
  days,
  tenths,
  rounded: orNone((n) => count(Math.round(n))),
  money: (value, { currency }) => money(value, currency),
  day,
  month,
  instant,
  label: (value, _, length) => label(value, length),
  /** A key of the feed, such as `body_structure`. */
  words: (value) => label(value).replaceAll('_', ' '),
  source,
  /** Marks an estimate in doubt. */
  mark: () => '~',
  state,
  country: (value) => (value === null ? 'country not given' : label(value, 12)),
  text: String,
};

/** Formats of the values on an axis; the row gives the currency. */
export const AXES = {
  count,
  money: (value: number, { currency }: Row): string => shortMoney(value, currency),
  share: (value: number): string => `${Math.round(value * 100)}%`,
  /** With as many digits as it needs. */
  ratio: (value: number): string => String(Number(value.toFixed(2))),
  whole: String,
} as const;

const OPTIONAL = /\[([^\]]*)\]/g;
const VALUE = /\{(?:(\w+)(?::(\d+))? )?(\w+)(?: of (\w+))?\}/g;

/** The value of a text with one column, as a number, or in ISO 8601 for a time; null for any other text. A mark is no value. */
export function valueIn(text: string, row: Row): number | string | null {
  const [first, ...others] = [...text.matchAll(VALUE)].filter(([, format]) => format !== 'mark');
  if (others.length > 0) return null;
  const [, format = '', , column = ''] = first ?? [];
  const value = row[column] ?? null;
  if (value !== null && /^(day|month)$/.test(format)) return dateOf(value).toISOString().slice(0, 10);
  if (value !== null && /^instant$/.test(format)) return dateOf(value).toISOString();
  return typeof value === 'number' ? Number(value.toPrecision(9)) : null;
}

/** Fills a text of `sql/report/report.yml` with the values of a row. The file explains the syntax. */
export function fill(text: string, row: Row): string {
  const get = (column: string): unknown => {
    if (row[column] === undefined) throw new TypeError(`there is no column ${column} for: ${text}`);
    return row[column];
  };
  const isKnown = (part: string): boolean =>
    [...part.matchAll(VALUE)].every(([, , , column = '', values]) => get(values ?? column) !== null);
  const write = (_: string, name = 'text', length: string | undefined, column: string, values?: string) => {
    const format = FORMATS[name];
    if (format === undefined) throw new TypeError(`there is no format ${name} for: ${text}`);
    const value = get(column);
    if (values !== undefined && numberOrNull(value) === null) return `too few (${count(get(values) ?? 0)})`;
    return format(value, row, length === undefined ? undefined : Number(length));
  };
  return text
    .replaceAll(OPTIONAL, (_, part: string) => (isKnown(part) ? part : ''))
    .replaceAll(VALUE, write)
    .trim();
}
