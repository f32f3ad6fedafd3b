import { z } from 'zod';
import type { Kind, Value } from './parameter.js';

/** Bounds of an integer, both included. */
export interface Bounds {
  readonly low?: number;
  readonly high?: number;
}

/** 15 digits: what every reader of numbers in JSON holds exactly. */
const HIGHEST = 999_999_999_999_999;

/** An integer within bounds, by default from 0; the service's ids, years, amounts and distances have no sign. */
export function integer(
  bounds: Bounds = {},
  hint = 'give a whole number, or leave the parameter out',
): Kind<z.ZodInt> {
  const { low = 0, high = HIGHEST } = bounds;
  const end = bounds.high === undefined ? ', of at most 15 digits' : ` to ${high}`;
  return { schema: z.int().min(low).max(high), form: `an integer from ${low}${end}`, hint };
}

/** 0 or 1 in the service's words, false or true in ours. */
export const flag: Kind<z.ZodBoolean> = {
  schema: z.boolean(),
  form: 'true or false',
  hint: 'give true or false; they are sent as 1 and 0',
};

/** Half of a character, which no URL can hold. */
const BROKEN = /\p{Surrogate}/u;

const isText = (text: string): boolean => text.trim() !== '' && !BROKEN.test(text);

/** A text to look for. */
export const text: Kind<z.ZodString> = {
  schema: z.string().refine(isText),
  form: 'a text that is not empty, in well-formed Unicode',
  hint: 'leave the parameter out where there is nothing to look for',
};

/** A text that stands in the path; `.` and `..` would lead to another path, however they are escaped. */
export const segment: Kind<z.ZodString> = {
  schema: z.string().refine((value) => isText(value) && value !== '.' && value !== '..'),
  form: 'a text that is not empty, nor . or .., in well-formed Unicode',
  hint: 'give it as a string, as it stands in the records; it is escaped for the path',
};

/** A code of a country or a state, in any case: the service's own records write both (field-notes.md). */
export const code: Kind<z.ZodString> = {
  schema: z.string().regex(/^[A-Za-z]{2}$/),
  form: 'a code of two letters',
  hint: 'give a code such as US, CA or KR for a country, CA or FL for a state',
};

/** One of some words. */
export const word = <const W extends readonly string[]>(words: W): Kind<z.ZodEnum<Words<W>>> => ({
  schema: z.enum(words),
  form: words.join(' or '),
  hint: 'give one of these words, in lower case',
});

type Words<W extends readonly string[]> = { readonly [word in W[number]]: word };

/**
 * The id of an entry of an enumeration: one, since the service takes no list of them. The lists of service.md are not
 * said to be whole, so that ids which they lack can be asked for.
 */
export function enumerated(
  values: Readonly<Record<number, string>>,
  advice = 'give one id a request',
): Kind<z.ZodInt> {
  return integer({}, `${advice}; known are ${named(values)}`);
}

/** One id of those that are known. */
export function oneOf(values: Readonly<Record<number, string>>, advice: string): Kind<z.ZodInt> {
  const ids = Object.keys(values).map(Number);
  return {
    schema: z.int().refine((id) => ids.includes(id)),
    form: `one of ${ids.join(', ')}`,
    hint: `${advice}; ${named(values)}`,
  };
}

const named = (values: Readonly<Record<number, string>>): string =>
  Object.entries(values)
    .map(([id, name]) => `${id} ${name}`)
    .join(', ');

/** Several ids of an enumeration, sent as a repeated name. */
export function severalOf(
  values: Readonly<Record<number, string>>,
): Kind<z.ZodReadonly<z.ZodArray<z.ZodInt>>> {
  const { schema, form, hint } = enumerated(values, 'leave the list out to ask for all');
  return { schema: z.array(schema).min(1).readonly(), form: `a list, each ${form}`, hint };
}

/** One id or several, sent joined by commas. */
export const idList = {
  schema: z
    .union([integer().schema, z.array(integer().schema).min(1).readonly()])
    .transform((ids) => (typeof ids === 'number' ? ids : ids.join(','))),
  form: 'one id, or a list of at least one id',
  hint: 'ids are whole numbers from 0; leave the parameter out to ask for all',
} as const satisfies Kind<z.ZodType<Value>>;

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
