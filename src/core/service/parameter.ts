import { z } from 'zod';

/** A form of values: their schema, its description for people, and how a query writes them. */
export interface Kind<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  /** What the service accepts, such as `an integer from 1 to 4320`. */
  readonly form: string;
  /** What a caller of the client gives, if that differs: a flag is a boolean here and 0 or 1 in a query. */
  readonly given?: string;
  /** What to do about a value that is not accepted. */
  readonly hint: string;
  /**
   * Turns the text of a query into a value. By default, and if it cannot, it is the text itself for the schema to
   * check.
   */
  readonly read?: (text: string) => unknown;
  /** A query repeats the name for each entry of the list. */
  readonly isList?: boolean;
}

export interface Parameter<S extends z.ZodType = z.ZodType> extends Kind<S> {
  /** Description, as a sentence without its full stop. */
  readonly what: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

export type Shape<P extends Parameters> = { [name in keyof P]: P[name]['schema'] };

/** The schemas of some parameters by name. */
export const shapeOf = <P extends Parameters>(parameters: P): Shape<P> =>
  // The entries are made from `P` name by name, which the compiler cannot see.
  Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])) as Shape<P>;

/** A parameter that may be left out. */
export const optional = <S extends z.ZodType>(kind: Kind<S>, what: string): Parameter<z.ZodOptional<S>> => ({
  ...kind,
  what,
  schema: kind.schema.optional(),
});

/** A parameter that must be given. */
export const required = <S extends z.ZodType>(kind: Kind<S>, what: string): Parameter<S> => ({
  ...kind,
  what,
});

/** A parameter that the service gives a value when it is left out. */
export const withDefault = <S extends z.ZodType>(
  kind: Kind<S>,
  what: string,
  value: z.core.util.NoUndefined<z.output<S>>,
): Parameter<z.ZodDefault<S>> => ({
  ...kind,
  what: `${what}; default ${typeof value === 'boolean' ? Number(value) : String(value)}`,
  schema: kind.schema.default(value),
});

/** 15 digits: every JSON reader represents such a number exactly. */
const HIGHEST = 999_999_999_999_999;

const readInteger = (text: string): unknown => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);

/** An integer within bounds (included), by default from 0: ids, years, amounts and distances have no sign. */
export function integer(
  { low = 0, high }: { readonly low?: number; readonly high?: number } = {},
  hint = 'give a whole number, or leave the parameter out',
): Kind<z.ZodInt> {
  const end = high === undefined ? ', of at most 15 digits' : ` to ${high}`;
  const schema = z
    .int()
    .min(low)
    .max(high ?? HIGHEST);
  return { schema, form: `an integer from ${low}${end}`, hint, read: readInteger };
}

/** A boolean by the words that stand for it in a query. */
const yesOrNo = (form: string, words: Readonly<Record<string, boolean>>): Kind<z.ZodBoolean> => ({
  schema: z.boolean(),
  form,
  given: 'true or false',
  hint: `give true or false; they are sent as 1 and 0`,
  read: (text) => words[text] ?? text,
});

export const flag = yesOrNo('0 or 1', { 0: false, 1: true });

/** 0 or 1, or the words for them; the filters on reports take both. */
export const looseFlag = yesOrNo('0, 1, false or true', { 0: false, 1: true, false: false, true: true });

/** Half of a surrogate pair, which no URL can hold. */
const BROKEN = /\p{Surrogate}/u;

const isText = (text: string): boolean => text.trim() !== '' && !BROKEN.test(text);

export const text: Kind<z.ZodString> = {
  schema: z.string().refine(isText),
  form: 'a text that is not empty',
  hint: 'leave the parameter out where there is nothing to look for',
};

/** A text that stands in the path; `.` and `..` would lead to another path, however they are escaped. */
export const segment: Kind<z.ZodString> = {
  schema: z.string().refine((value) => isText(value) && value !== '.' && value !== '..'),
  form: 'a text that is not empty, nor . or ..',
  hint: 'give it as it stands in the records, in well-formed Unicode; it is escaped for the path',
};

/** A code of a country or a state, in any case: the service's own records write both (service.md#values). */
export const code: Kind<z.ZodString> = {
  schema: z.string().regex(/^[A-Za-z]{2}$/),
  form: 'a code of two letters',
  hint: 'give a code such as US, CA or KR for a country, CA or FL for a state',
};

/** One of several words. */
export const word = <const W extends readonly string[]>(words: W) => ({
  schema: z.enum(words),
  form: words.join(' or '),
  hint: 'give one of these words, in lower case',
});

export type Names = Readonly<Record<number, string>>;

/** One id of an enumeration; the service takes no list of them. */
export function oneOf(values: Names, advice = 'give one id a request'): Kind<z.ZodInt> {
  const ids = Object.keys(values).map(Number);
  const known = Object.entries(values).map(([id, name]) => `${id} ${name}`);
  return {
    schema: z.int().refine((id) => ids.includes(id)),
    form: `one of ${ids.join(', ')}`,
    hint: `${advice}; ${known.join(', ')}`,
    read: readInteger,
  };
}

/** Several ids of an enumeration. */
export const severalOf = (values: Names): Kind<z.ZodArray<z.ZodInt>> => {
  const one = oneOf(values, 'leave the list out to ask for all');
  return { ...one, schema: z.array(one.schema).min(1), isList: true };
};

/** A name of an enumeration, which a caller may also give by its id. */
export const nameOf = (values: Names, advice: string) => {
  const names = Object.values(values);
  const { schema, hint } = oneOf(values, advice);
  return {
    schema: z.union([z.enum(names), schema.transform((id) => values[id] ?? '')]),
    form: names.join(' or '),
    given: `${names.join(', ')}, or its id`,
    hint,
  } as const satisfies Kind;
};

/** One id or several; a query joins them by commas. */
export const idList: Kind<z.ZodArray<z.ZodInt>> = {
  schema: z.array(integer().schema).min(1),
  form: 'one id, or several joined by commas',
  hint: 'ids are whole numbers from 0; leave the parameter out to ask for all',
  read: (ids) => ids.split(',').map(readInteger),
};

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

/** Whether a moment is on the calendar: the parser would carry a 31st of February over to March. */
function exists(moment: string): boolean {
  const at = MOMENT.test(moment) ? Date.parse(`${moment}Z`) : Number.NaN;
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(moment);
}

/** A moment in UTC. */
export const moment: Kind<z.ZodString> = {
  schema: z.string().refine(exists),
  form: 'a timestamp YYYY-MM-DDTHH:MM:SS',
  hint: 'give a moment of the calendar in UTC without zone and fraction, such as 2026-10-01T00:00:00',
};
