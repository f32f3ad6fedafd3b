import { clip, printable } from '../query/printable.js';

/** Shown where a figure is not known. */
export const NONE = '–';

/** A figure that may be missing, because too few values or none stand behind it. */
export type Maybe = number | null;

/** A value of a result row as a number, null where it is none. */
export function maybe(value: unknown): Maybe {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

const or = (value: Maybe, text: (known: number) => string): string => (value === null ? NONE : text(value));

/** A count with separators. */
export const count = (value: Maybe): string => or(value, (n) => n.toLocaleString('en'));

const amount = (value: number, currency: string, rest: Intl.NumberFormatOptions): string =>
  value.toLocaleString('en', { style: 'currency', currency, ...rest });

/** An amount in a currency, such as USD, without cents. */
export const money = (value: Maybe, currency: string): string =>
  or(value, (n) => amount(n, currency, { maximumFractionDigits: 0 }));

/** The same for axes: in thousands, where it has any. */
export const shortMoney = (value: number, currency: string): string =>
  amount(value, currency, {
    notation: 'compact',
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
  }).replace('K', 'k');

/** A share as a percentage with one digit. */
export const percent = (value: Maybe): string => or(value, (n) => `${(n * 100).toFixed(1)}%`);

/** A share as a whole percentage, for axes. */
export const wholePercent = (value: number): string => `${Math.round(value * 100)}%`;

/** A ratio with two digits. */
export const ratio = (value: Maybe): string => or(value, (n) => n.toFixed(2));

/** A ratio on an axis, with as many digits as it needs. */
export const shortRatio = (value: number): string => String(Number(value.toFixed(2)));

/** A duration in whole days. */
export const days = (value: Maybe): string => or(value, (n) => `${Math.round(n)} d`);

/** A figure, or the words that say why there is none. */
export const orTooFew = (value: Maybe, lots: Maybe, text: (value: Maybe) => string): string =>
  value === null ? `too few (${count(lots ?? 0)})` : text(value);

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
const dayFormat = new Intl.DateTimeFormat('en-GB', DAY);
const monthFormat = new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' });
const instantFormat = new Intl.DateTimeFormat('en-GB', { ...DAY, hour: '2-digit', minute: '2-digit' });

/** British dates have one month of four letters. */
const short = (date: string): string => date.replace('Sept', 'Sep');

/** A day of UTC, such as 21 Nov 2026. */
export const day = (date: Date): string => short(dayFormat.format(date));

/** A month of UTC, such as Nov 2026. */
export const month = (date: Date): string => monthFormat.format(date);

/** Whether a month is not over, or not even begun, at an instant. */
export const isUnfinished = (at: Date, now: Date): boolean =>
  Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) > now.getTime();

/** A month of UTC that says where it is not over, such as Nov 2026, so far. */
export const monthSoFar = (at: Date, now: Date): string =>
  isUnfinished(at, now) ? `${month(at)}, so far` : month(at);

/** An instant, such as 21 Nov 2026, 04:00 UTC. */
export const instant = (date: Date): string => `${short(instantFormat.format(date))} UTC`;

/** A text of the feed as a label; what the feed does not name is said so. */
export function label(value: unknown, length = 60): string {
  const text = printable(value).trim();
  return text === '' ? 'not given' : clip(text, length);
}

/** Keys of the feed (`body_structure`) as words. */
export const words = (value: unknown): string => label(value).replaceAll('_', ' ');

/** A source platform as people know it: `copart_com` is copart.com. */
export const source = (name: unknown): string => label(name).replace(/_com$/, '.com');

/** A list in a sentence. */
export const list = (items: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(items);

/** What the marts call `unknown`, in words that stand alone. */
export const orNotGiven = (name: string): string => (name === 'unknown' ? 'Not given' : name);

/** `1 alarm`, `2 alarms`. */
export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
