import { z } from 'zod';
import type { EnumerationName } from './enumerations.js';
import type { ReportKeyName } from './report-keys.js';

/** JSON forms that one value can take on the wire, as bits. Texts are told apart only where the contract asks. */
export const Kind = {
  null: 1,
  boolean: 2,
  /** An integer token of at most 15 digits: exact in a double and in BIGINT. */
  integer: 4,
  /** An integer token of more than 15 digits: exact only within the safe range, so it is looked at one by one. */
  longInteger: 8,
  /** A number with a fraction or an exponent. */
  real: 16,
  text: 32,
  /** A text of at most 15 digits with an optional sign. */
  integerText: 64,
  /** A text that is a plain decimal number with a fraction. */
  realText: 128,
  /** A text that is a timestamp in one of the service's forms. */
  timestampText: 256,
  object: 512,
  array: 1024,
  /** A text that is a year or a month alone, such as `2019` or `2019-05`. */
  yearOrMonthText: 2048,
} as const;

/** What the scanner has to tell apart inside a text. */
export type Lexical = 'none' | 'number' | 'timestamp';

/** How a field travels: which kinds are welcome, and the DuckDB type that receives it. */
export interface Wire {
  readonly accepts: number;
  readonly duckdb: string;
  readonly lexical: Lexical;
  readonly required: boolean;
  /** The value is kept whole as JSON and its inside is not compared with the contract. */
  readonly opaque?: boolean;
  /** Members of the object form of a field that also has other forms. */
  readonly object?: z.core.$ZodType;
}

/** Optional facts about a field. */
export interface FieldFacts {
  readonly unit?: string;
  /** Name of the enumeration in `enumerations.ts` that lists the known ids. */
  readonly values?: EnumerationName;
  /** Name of the value set in `report-keys.ts` that lists the known keys. */
  readonly keys?: ReportKeyName;
}

/** What the contract says of a field beyond its zod type. */
export interface FieldMeta extends FieldFacts {
  readonly description: string;
  readonly wire?: Wire;
}

const metaOf = new WeakMap<z.core.$ZodType, FieldMeta>();

/** Attaches facts to a schema and returns the schema. */
export function described<T extends z.core.$ZodType>(schema: T, meta: FieldMeta): T {
  metaOf.set(schema, meta);
  return schema;
}

/** The facts attached to a schema, if any. */
export const factsOf = (schema: z.core.$ZodType): FieldMeta | undefined => metaOf.get(schema);

const integerText = z.string().regex(/^-?(?:0|[1-9]\d{0,14})$/, 'a text that is no integer');
/** A text that is a plain decimal number. */
export const numberText = z.string().regex(/^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/, 'a text that is no number');

const wire = (
  accepts: number,
  duckdb: string,
  lexical: Lexical = 'none',
  rest: Partial<Wire> = {},
): Wire => ({ accepts, duckdb, lexical, required: false, ...rest });

/** A key: an integer (or its digits as text) that must be there. BIGINT. */
export const id = (description: string, facts: FieldFacts = {}) =>
  described(z.union([z.int(), integerText]), {
    description,
    ...facts,
    wire: wire(Kind.integer | Kind.integerText, 'BIGINT', 'number', { required: true }),
  });

/** A whole number, or its digits as text; null or missing is null. BIGINT. */
export const integer = (description: string, facts: FieldFacts = {}) =>
  described(z.union([z.int(), integerText]).nullish(), {
    description,
    ...facts,
    wire: wire(Kind.null | Kind.integer | Kind.integerText, 'BIGINT', 'number'),
  });

/** Unit of amounts for which the service names no currency (service.md); `currencies` holds what lotlake assumes. */
export const AMOUNT = 'currency not stated, see currencies';

/** Every kind that `number` takes but null. */
export const NUMBER_KINDS = Kind.integer | Kind.longInteger | Kind.real | Kind.integerText | Kind.realText;

/** A number, or its digits as text; null or missing is null. DOUBLE. */
export const number = (description: string, facts: FieldFacts = {}) =>
  described(z.union([z.number(), numberText]).nullish(), {
    description,
    ...facts,
    wire: wire(Kind.null | NUMBER_KINDS, 'DOUBLE', 'number'),
  });

/** A text; an integer token is taken as its digits; null or missing is null. VARCHAR. */
export const text = (description: string, facts: FieldFacts = {}) =>
  described(z.union([z.string(), z.int()]).nullish(), {
    description,
    ...facts,
    wire: wire(Kind.null | Kind.text | Kind.integer, 'VARCHAR'),
  });

/** Every kind but whole numbers of more than 15 digits, which would not be read exactly. */
const ANY_KINDS = Kind.null | Kind.boolean | Kind.integer | Kind.real | Kind.text | Kind.object | Kind.array;

/** Any JSON value that is read exactly. */
const anyValue = z
  .unknown()
  .refine(
    (value) =>
      typeof value !== 'number' ||
      (Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value))),
    'a number that is not exact',
  );

/** Any JSON value, where service.md gives no type: a text as it is, anything else as its JSON. VARCHAR. */
export const anyText = (description: string) =>
  described(anyValue.optional(), { description, wire: wire(ANY_KINDS, 'VARCHAR') });

/** A key of any form that must be there: a text as it is, anything else as its JSON. VARCHAR. */
export const textId = (description: string) =>
  described(
    anyValue.refine((value) => value !== undefined && value !== null, 'no key'),
    { description, wire: wire(ANY_KINDS & ~Kind.null, 'VARCHAR', 'none', { required: true }) },
  );

/** A value of any form; one that is an object has known members. JSON, normalised by sql/flatten. */
export const anyForm = (description: string, object: z.ZodObject) =>
  forms(
    description,
    z.union([
      object,
      anyValue.refine((value) => typeof value !== 'object' || value === null || Array.isArray(value)),
    ]),
    ANY_KINDS,
    { object },
  );

/** True or false (or 1 and 0); null or missing is null. BOOLEAN. */
export const flag = (description: string) =>
  described(z.union([z.boolean(), z.literal(0), z.literal(1)]).nullish(), {
    description,
    wire: wire(Kind.null | Kind.boolean, 'BOOLEAN'),
  });

/** A text that is a timestamp. */
export const timestampText = z.string().refine((value) => isTimestamp(value), 'a text that is no timestamp');

/** A text that `isTimestamp` accepts; no zone means UTC; null or missing is null. TIMESTAMPTZ. */
export const timestamp = (description: string) =>
  described(timestampText.nullish(), {
    description,
    wire: wire(Kind.null | Kind.timestampText, 'TIMESTAMPTZ', 'timestamp'),
  });

/**
 * A date of a report as its source gave it: a timestamp, a month or a year (reports.md, `date_precision_key`); null or
 * missing is null. VARCHAR, which `sql/flatten` takes apart into the instant, the local date and the offset.
 */
export const reportDate = (description: string) =>
  described(
    z
      .string()
      .refine((value) => isTimestamp(value) || isYearOrMonth(value), 'a text that is no date')
      .nullish(),
    {
      description,
      unit: 'UTC',
      wire: wire(Kind.null | Kind.timestampText | Kind.yearOrMonthText, 'VARCHAR', 'timestamp'),
    },
  );

/** Any JSON value, kept whole. JSON. */
export const json = (description: string) =>
  described(z.unknown().optional(), { description, wire: wire(-1, 'JSON', 'none', { opaque: true }) });

/** A list of objects or texts; null or missing is null. */
export const list = <T extends z.ZodType>(schema: T, description: string, facts: FieldFacts = {}) =>
  described(z.array(schema).nullish(), { description, ...facts });

/** A list of texts. VARCHAR[]. */
export const texts = (description: string, facts: FieldFacts = {}) =>
  list(text(description), description, facts);

/** An object whose unknown members are kept; null or missing is null. */
export const group = <T extends z.ZodRawShape>(description: string, shape: T) =>
  described(z.looseObject(shape).nullish(), { description });

/** An object with `id` and `name`, as the service writes enumerations and references. */
export const named = (what: string, facts: FieldFacts = {}) =>
  group(`The ${what}.`, { id: integer(`Id of the ${what}.`, facts), name: text(`Name of the ${what}.`) });

/** A field that comes in several forms: plain values and, where given, an object. JSON, normalised by sql/flatten. */
export const forms = <T extends z.ZodType>(
  description: string,
  schema: T,
  accepts: number,
  options: { readonly lexical?: Lexical; readonly object?: z.core.$ZodType } = {},
) =>
  described(schema.nullish(), {
    description,
    wire: wire(accepts | Kind.null, 'JSON', options.lexical ?? 'none', {
      ...(options.object ? { object: options.object } : {}),
    }),
  });

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?(?:Z|([+-])(0\d|1[0-4])(?::?([0-5]\d))?)?)?)?$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Whether a text is a timestamp that the service is known to write: a date, or date and time joined by `T` or a
 * space, with up to nine decimals and an optional zone (service.md, reports.md, field-notes.md). Its instant lies in the
 * years 1 to 9999 in UTC: readers and partitions know no other.
 */
export function isTimestamp(value: string): boolean {
  const match = TIMESTAMP.exec(value);
  if (match === null) return false;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  if (year === undefined || month === undefined || day === undefined) return false;
  if (year < 1 || (hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && leap ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  if (day < 1 || day > days) return false;
  return (year > 1 && year < 9999) || isInRange(match);
}

/** Whether the instant of a timestamp of the first or the last year is within the years 1 to 9999 in UTC, too. */
function isInRange(match: RegExpExecArray): boolean {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const [sign, hours = 0, minutes = 0] = match.slice(7, 10);
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  const instant = new Date(0);
  instant.setUTCFullYear(year, month - 1, day);
  instant.setUTCHours(hour, minute, second, -offset);
  return instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999;
}

/** Whether a text is a year from 1 on, or a month of one, such as `2019` or `2019-05`. */
export const isYearOrMonth = (value: string): boolean => /^(?!0000)\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(value);
