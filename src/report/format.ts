import type { Row } from '../duck/session.js';
import { clip, printable } from '../query/printable.js';

/** Stands for a figure that is not known. */
export const NONE = '–';

/** A figure, or null where no value or too few stand behind it. */
export type Maybe = number | null;

/** The number in a result row; null if it holds none. */
export function maybe(value: unknown): Maybe {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Writes a figure of a result row; a dash if there is none. */
const orNone =
  (write: (known: number) => string) =>
  (value: unknown): string => {
    const known = maybe(value);
    return known === null ? NONE : write(known);
  };

/** A count with separators. */
export const count = orNone((n) => n.toLocaleString('en'));

/** A share as a percentage with one digit. */
export const percent = orNone((n) => `${(n * 100).toFixed(1)}%`);

/** A ratio with two digits. */
export const ratio = orNone((n) => n.toFixed(2));

/** A duration in whole days. */
export const days = orNone((n) => `${Math.round(n)} d`);

/** A figure with one digit. */
export const oneDigit = orNone((n) => n.toFixed(1));

const amount = (value: number, currency: string, rest: Intl.NumberFormatOptions): string =>
  value.toLocaleString('en', { style: 'currency', currency, ...rest });

/** An amount without cents, in a currency such as USD. */
export const money = (value: unknown, currency: string): string =>
  orNone((n) => amount(n, currency, { maximumFractionDigits: 0 }))(value);

/** An amount on an axis, in thousands if it has any. */
export const shortMoney = (value: number, currency: string): string =>
  amount(value, currency, {
    notation: 'compact',
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
  }).replace('K', 'k');

/** A share on an axis, as a whole percentage. */
export const wholePercent = (value: number): string => `${Math.round(value * 100)}%`;

/** A ratio on an axis, with as many digits as it needs. */
export const shortRatio = (value: number): string => String(Number(value.toFixed(2)));

/** A figure, or `too few` with the number of values behind it. */
export const orTooFew = (value: unknown, values: unknown, write: (value: unknown) => string): string =>
  maybe(value) === null ? `too few (${count(values ?? 0)})` : write(value);

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
const dayFormat = new Intl.DateTimeFormat('en-GB', DAY);
const monthFormat = new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' });
const instantFormat = new Intl.DateTimeFormat('en-GB', { ...DAY, hour: '2-digit', minute: '2-digit' });

/** British dates have one month of four letters. */
const short = (date: string): string => date.replace('Sept', 'Sep');

/** A DATE or TIMESTAMPTZ of a result row. */
export const dateOf = (value: unknown): Date => (value instanceof Date ? value : new Date(String(value)));

/** A day in UTC, such as 21 Nov 2026. */
export const day = (date: Date): string => short(dayFormat.format(date));

/** A month in UTC, such as Nov 2026. */
export const month = (date: Date): string => monthFormat.format(date);

/** An instant, such as 21 Nov 2026, 04:00 UTC. */
export const instant = (date: Date): string => `${short(instantFormat.format(date))} UTC`;

/** Whether a month still goes on, or has not begun, at an instant. */
export const isUnfinished = (at: Date, now: Date): boolean =>
  Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) > now.getTime();

/** A month in UTC; one that still goes on is `Nov 2026, so far`. */
export const monthSoFar = (at: Date, now: Date): string =>
  isUnfinished(at, now) ? `${month(at)}, so far` : month(at);

/** A text of the feed as a label; `not given` if it is empty. */
export function label(value: unknown, length = 60): string {
  const text = printable(value).trim();
  return text === '' ? 'not given' : clip(text, length);
}

/** A key of the feed, such as `body_structure`, as words. */
export const words = (value: unknown): string => label(value).replaceAll('_', ' ');

/** A source as people know it: `copart_com` is copart.com. */
export const source = (name: unknown): string => label(name).replace(/_com$/, '.com');

/** What the marts call `unknown`, in words that stand alone. */
export const orNotGiven = (name: string): string => (name === 'unknown' ? 'Not given' : name);

/** A list in a sentence. */
export const list = (items: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(items);

/** `1 alarm`, `2 alarms`. */
export const plural = (n: unknown, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

/** Each text once, in the order of its first place. */
export const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** SQL: a column `apart` with the currency of rows that only their currency tells apart; null in all other rows. */
export const apart = (columns: string): string =>
  `case when count(*) over (partition by ${columns}) > 1 then coalesce(currency, 'currency not known') end as apart`;

/** The currency that {@link apart} found, to put behind a name. */
export const currencyIn = (row: Row): string => (row.apart === null ? '' : `, ${row.apart}`);

/** A result row with more fields. */
export const withFields = <R extends Row, T extends object>(row: R, fields: T): R & T => ({
  ...row,
  ...fields,
});
