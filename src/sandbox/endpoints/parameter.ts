/** A parameter of an endpoint: what a client may send, and the value it stands for. */
export interface Parameter<T> {
  /** What is valid, such as `an integer from 1 to 4320`. */
  readonly form: string;
  /** What it does, as a sentence without its full stop. */
  readonly what: string;
  /** The value when it is left out. */
  readonly absent: T;
  /** The value of the texts that were sent, or null where they are none. */
  readonly read: (texts: readonly string[]) => T | null;
}

/** Parameters of an endpoint by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** Values of parameters by name. */
export type Values<P extends Parameters> = {
  readonly [name in keyof P]: P[name] extends Parameter<infer T> ? T : never;
};

type Optional<T> = Parameter<T | undefined>;

/** A parameter that may be given once, read from its text; `parse` gives null for what is invalid. */
export const single = <T>(form: string, what: string, parse: (text: string) => T | null): Optional<T> => ({
  form,
  what,
  absent: undefined,
  read: ([text, ...more]) => (text === undefined || more.length > 0 ? null : parse(text)),
});

/** Bounds of an integer, both included. */
export interface Bounds {
  readonly low?: number;
  readonly high?: number;
}

const HIGHEST = 999_999_999_999_999;

/** The integer that a text is within bounds, else null. */
export function integerIn(text: string, { low = 0, high = HIGHEST }: Bounds = {}): number | null {
  const value = Number(text);
  return /^-?\d{1,15}$/.test(text) && value >= low && value <= high ? value : null;
}

/** An integer within bounds, by default from 0. */
export function integer(what: string, bounds: Bounds = {}): Optional<number> {
  const { low = 0, high = HIGHEST } = bounds;
  const form = high === HIGHEST ? `an integer from ${low}` : `an integer from ${low} to ${high}`;
  return single(form, what, (text) => integerIn(text, bounds));
}

/** 0 or 1. */
export const flag = (what: string): Optional<boolean> =>
  single('0 or 1', what, (text) => (text === '0' ? false : text === '1' ? true : null));

/** A text that is not empty. */
export const text = (what: string, form = 'a text'): Optional<string> =>
  single(form, what, (value) => (value.trim() === '' ? null : value));

/** One of some words. */
export const word = <const W extends string>(what: string, words: readonly W[]): Optional<W> =>
  single(words.join(' or '), what, (value) => words.find((known) => known === value) ?? null);

/** The id of an entry of an enumeration. */
export function enumerated(what: string, values: Readonly<Record<number, string>>): Optional<number> {
  const ids = Object.keys(values).map(Number);
  const form = `one of ${ids.join(', ')}`;
  return single(form, what, (value) => {
    const id = integerIn(value);
    return id !== null && ids.includes(id) ? id : null;
  });
}

/** One id, or several joined by commas. */
export const idList = (what: string): Optional<readonly number[]> =>
  single('one id, or several joined by commas', what, (value) => {
    const ids = value.split(',').map((part) => integerIn(part));
    return ids.every((id) => id !== null) ? ids : null;
  });

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

/** A moment in UTC as `YYYY-MM-DDTHH:MM:SS`; its value is in milliseconds since 1970. */
export const moment = (what: string): Optional<number> =>
  single('a timestamp YYYY-MM-DDTHH:MM:SS', what, (value) => {
    const at = MOMENT.test(value) ? Date.parse(`${value}Z`) : Number.NaN;
    // The parser would carry a 31st of February over to March.
    const exists = Number.isFinite(at) && new Date(at).toISOString().startsWith(value);
    return exists ? at : null;
  });

/** The same parameter with a value when it is left out. */
export const withDefault = <T>(parameter: Optional<T>, value: T): Parameter<T> => ({
  form: parameter.form,
  what: `${parameter.what}; default ${value === true ? 1 : value === false ? 0 : String(value)}`,
  absent: value,
  read: (texts) => parameter.read(texts) ?? null,
});

/** The same parameter, which stands in the path and is never left out; the value only serves the type. */
export const required = <T>(parameter: Optional<T>, value: T): Parameter<T> => ({
  ...parameter,
  absent: value,
  read: (texts) => parameter.read(texts) ?? null,
});

/** The same parameter with its value turned into another. */
export const mapped = <A, B>(parameter: Optional<A>, make: (value: A) => B): Optional<B> => ({
  form: parameter.form,
  what: parameter.what,
  absent: undefined,
  read: (texts) => {
    const value = parameter.read(texts);
    return value === null || value === undefined ? null : make(value);
  },
});
