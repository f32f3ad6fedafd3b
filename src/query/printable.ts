/** Characters that act on a terminal or on the lines around them instead of being read: control, direction, line ends. */
const ACTING =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff';
const IN_LINES = new RegExp(`[${ACTING}]`, 'g');
const IN_LINE = new RegExp(`[\\t\\n${ACTING}]`, 'g');

/** A value as one line of text, empty for none; characters that would act on a terminal become spaces. */
export function printable(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(IN_LINE, ' ');
}

/**
 * A text of several lines whose characters that would act on a terminal are written as in JSON, such as `\u001b`: JSON
 * that has such characters in its texts says the same as before.
 */
export function visible(text: string): string {
  return text.replaceAll(IN_LINES, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text cut to a length; an ellipsis shows that something is missing. */
export function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Stands for a figure that is not known. */
export const NONE = '–';

/** The number in a result row; null if it holds none. */
export const maybe = (value: unknown): number | null => (Number.isFinite(value) ? Number(value) : null);

/** Writes a figure of a result row; a dash if there is none. */
export const orNone =
  (write: (known: number) => string) =>
  (value: unknown): string => {
    const known = maybe(value);
    return known === null ? NONE : write(known);
  };

/** A count with separators. */
export const count = orNone((n) => n.toLocaleString('en'));

/** A count with its noun: `1 row`, `2,000 rows`. */
export const counted = (value: unknown, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A size in megabytes, or gigabytes from ten on. */
export const megabytes = (bytes: number): string =>
  bytes < 1e10 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

/** The sum of a figure over a list. */
export const sumOf = <T>(list: readonly T[], figure: (each: T) => number): number =>
  list.reduce((sum, each) => sum + figure(each), 0);

/** A text with values in the place of their names in braces. */
export const fillText = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
