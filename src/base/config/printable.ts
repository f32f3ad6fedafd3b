/** Characters that act on a terminal or on the text around them: control characters, text direction, line ends. */
const ACTING =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff';
const IN_LINES = new RegExp(`[${ACTING}]`, 'g');
const IN_LINE = new RegExp(`[\\t\\n${ACTING}]`, 'g');

/** A value as one line of text, empty for null; characters that would act on a terminal become spaces. */
export function printable(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(IN_LINE, ' ');
}

/** A key of the feed, such as `body_structure`, in words. */
export const words = (key: unknown): string => printable(key).replaceAll('_', ' ');

/** A text in which such characters are spaces; lines stay. */
export const withoutActing = (text: string): string => text.replaceAll(IN_LINES, ' ');

/**
 * A text of several lines in which characters that would act on a terminal are escaped as in JSON, such as `\u001b`. JSON
 * with such characters in its strings keeps its meaning.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(IN_LINES, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text cut to a length; an ellipsis stands for the rest. */
export function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** Stands for an unknown figure. */
export const NONE = '–';

/** A value of a result row if it is a finite number, else null. */
export const numberOrNull = (value: unknown): number | null =>
  Number.isFinite(value) ? Number(value) : null;

/** Writes a figure of a result row; a dash if there is none. */
export const orNone =
  (write: (known: number) => string) =>
  (value: unknown): string => {
    const known = numberOrNull(value);
    return known === null ? NONE : write(known);
  };

/** A count with separators. Small ones go without Intl, which takes 8 ms to load. */
export const count = orNone((n) =>
  Math.abs(n) < 1000 && Number.isInteger(n) ? `${n}` : n.toLocaleString('en'),
);

/** A count with its noun: `1 row`, `2,000 rows`. */
export const counted = (value: unknown, singular: string, plural = `${singular}s`): string =>
  `${count(value)} ${value === 1 ? singular : plural}`;

/** A size in megabytes, or gigabytes from ten on. */
export const megabytes = (bytes: number): string =>
  bytes < 1e10 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

/** The sum of a figure over a list. */
export const sumOf = <T>(list: readonly T[], figure: (each: T) => number): number =>
  list.reduce((sum, each) => sum + figure(each), 0);

/** Replaces each name in braces by its value. */
export const fillText = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
