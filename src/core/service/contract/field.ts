import { z } from 'zod';
import type { EnumerationName, ReportKeyName } from './enumerations.js';
import * as Kind from './kinds.js';

/** What the scanner has to tell apart inside a text. */
export type Lexical = 'none' | 'number' | 'timestamp';

/** How a field is written in JSON and loaded into DuckDB. */
export interface Wire {
  /** Kinds that pass without a closer look, as bits of `kinds.ts`. */
  readonly accepts: number;
  /** DuckDB type that receives it. */
  readonly duckdb: string;
  /** Default `none`. */
  readonly lexical?: Lexical;
  readonly required?: boolean;
  /** The value is kept whole as JSON and its inside is not compared with the contract. */
  readonly opaque?: boolean;
  /** The members of an object, even if the field has other forms, too. */
  readonly object?: z.ZodObject;
  /** The elements of a list. */
  readonly element?: z.ZodType;
}

export interface FieldFacts {
  readonly unit?: string;
  /** Name of the enumeration in `enumerations.ts` that lists the known ids. */
  readonly values?: EnumerationName;
  /** Name of the value set in `enumerations.ts` that lists the known keys. */
  readonly keys?: ReportKeyName;
}

/** Facts of the contract about a field beyond its zod type. */
export interface FieldMeta extends FieldFacts {
  readonly description: string;
  readonly wire: Wire;
}

/** Facts of the contract about the schemas of fields. */
export const fields = new WeakMap<z.core.$ZodType, FieldMeta>();

/** Attaches facts to a schema and returns the schema. */
export function described<T extends z.core.$ZodType>(schema: T, meta: FieldMeta): T {
  fields.set(schema, meta);
  return schema;
}

const integerText = z.string().regex(/^-?(?:0|[1-9]\d{0,14})$/, 'a text that is no integer');
const numberText = z.string().regex(/^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/, 'a text that is no number');
const timestampText = z.string().refine((value) => isTimestamp(value), 'a text that is no timestamp');

const NUMBER_KINDS = Kind.INTEGER | Kind.LONG_INTEGER | Kind.REAL | Kind.INTEGER_TEXT | Kind.REAL_TEXT;

/**
 * Every kind but whole numbers of more than 15 digits, which would not be read exactly, and numbers with a fraction, which may
 * be whole numbers in another form.
 */
const ANY_KINDS = Kind.NULL | Kind.BOOLEAN | Kind.INTEGER | Kind.TEXT | Kind.OBJECT | Kind.ARRAY;

/** Any JSON value that is read exactly. */
const anyValue = z
  .unknown()
  .refine(
    (value) =>
      typeof value !== 'number' ||
      (Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value))),
    'a number that is not exact',
  );

/** A field for which null or missing is null. */
const nullable = (description: string, schema: z.ZodType, wire: Wire, facts: FieldFacts = {}) =>
  described(schema.nullish(), {
    description,
    ...facts,
    wire: { ...wire, accepts: Kind.NULL | wire.accepts },
  });

/** Makes a kind of field. */
const kind =
  (schema: z.ZodType, accepts: number, duckdb: string, lexical: Lexical = 'none') =>
  (description: string, facts?: FieldFacts) =>
    nullable(description, schema, { accepts, duckdb, lexical }, facts);

/** Makes a kind of key, which must be there. */
const keyKind =
  (schema: z.ZodType, accepts: number, duckdb: string, lexical: Lexical = 'none') =>
  (description: string) =>
    described(schema.clone(), { description, wire: { accepts, duckdb, lexical, required: true } });

/** A key: an integer from 0, or its digits as text. BIGINT. */
export const id = keyKind(
  z.union([z.int().nonnegative(), integerText.refine((digits) => Number(digits) >= 0, 'a key below zero')]),
  Kind.INTEGER | Kind.INTEGER_TEXT,
  'BIGINT',
  'number',
);

/** A key of any form: a text as it is, a whole number as its digits, anything else as its JSON. VARCHAR. */
const textId = keyKind(
  anyValue.refine((value) => value !== undefined && value !== null, 'no key'),
  (ANY_KINDS & ~Kind.NULL) | Kind.INTEGER_TEXT,
  'VARCHAR',
  'number',
);

/** A whole number, or its digits as text. BIGINT. */
const integer = kind(z.union([z.int(), integerText]), Kind.INTEGER | Kind.INTEGER_TEXT, 'BIGINT', 'number');

/** A number, or its digits as text. DOUBLE. */
export const number = kind(z.union([z.number(), numberText]), NUMBER_KINDS, 'DOUBLE', 'number');

/** A text; an integer token is taken as its digits. VARCHAR. */
export const text = kind(z.union([z.string(), z.int()]), Kind.TEXT | Kind.INTEGER, 'VARCHAR');

/** A text that `isTimestamp` accepts; no zone means UTC. TIMESTAMPTZ. */
export const timestamp = kind(timestampText, Kind.TIMESTAMP_TEXT, 'TIMESTAMPTZ', 'timestamp');

const dateText = z
  .string()
  .refine((value) => isTimestamp(value) || isYearOrMonth(value), 'a text that is no date');
const dateKind = kind(dateText, Kind.TIMESTAMP_TEXT | Kind.YEAR_OR_MONTH_TEXT, 'VARCHAR', 'timestamp');

/**
 * A date of a report as its source gave it: a timestamp, a month or a year (service.md#histories,
 * `date_precision_key`). VARCHAR, which `sql/flatten` takes apart into the instant, the local date and the offset.
 */
export const reportDate = (description: string) => dateKind(description, { unit: 'UTC' });

/** Any JSON value, kept whole. JSON. */
const json = (description: string) =>
  nullable(description, z.unknown(), { accepts: -1, duckdb: 'JSON', opaque: true });

/** An object whose unknown members are kept. */
const group = (description: string, object: z.ZodObject) =>
  nullable(description, object, { accepts: Kind.OBJECT, duckdb: 'STRUCT', object });

/** A list of objects or texts. */
const list = (description: string, element: z.ZodType, facts?: FieldFacts) =>
  nullable(description, z.array(element), { accepts: Kind.ARRAY, duckdb: 'LIST', element }, facts);

/** An object with `id` and `name`, as the service writes enumerations and references. */
const named = (what: string, facts?: FieldFacts) =>
  group(
    `The ${what}.`,
    z.looseObject({ id: integer(`Id of the ${what}.`, facts), name: text(`Name of the ${what}.`) }),
  );

/** Makes a kind of field that comes as an object or as something else. JSON, normalised by sql/flatten. */
const formKind =
  (other: z.ZodType, accepts: number, lexical: Lexical = 'none') =>
  (description: string, object: z.ZodObject) => {
    const wire = { accepts: Kind.OBJECT | accepts, duckdb: 'JSON', lexical, object };
    return nullable(description, z.union([other, object]), wire);
  };

/** The kinds of plain fields, as `records.json` names them: each makes a schema from a description and facts. */
export const plainKinds = {
  id,
  textId,
  integer,
  number,
  /** An amount for which the service names no currency (service.md#values); `currencies` holds what lotlake assumes. */
  amount: (description: string) => number(description, { unit: 'currency not stated, see currencies' }),
  text,
  /** A value whose type is not described (service.md#lots): a text as it is, a whole number as its digits, anything else as its JSON. VARCHAR. */
  anyText: kind(anyValue, ANY_KINDS, 'VARCHAR'),
  flag: kind(z.union([z.boolean(), z.literal(0), z.literal(1)]), Kind.BOOLEAN, 'BOOLEAN'),
  timestamp,
  reportDate,
  json,
  texts: (description: string, facts?: FieldFacts) => list(description, text(description), facts),
  named,
  textOrList: kind(z.union([z.array(z.unknown()), z.string()]), Kind.TEXT | Kind.ARRAY, 'JSON'),
  numberOrText: kind(z.union([z.number(), z.string()]), Kind.INTEGER | Kind.REAL | Kind.TEXT, 'JSON'),
} as const;

/**
 * The kinds of fields with members, as `records.json` names them: each makes a schema from a description and an object.
 */
export const objectKinds = {
  group,
  list,
  textOrObject: formKind(z.string(), Kind.TEXT),
  numberOrObject: formKind(z.union([z.number(), numberText]), NUMBER_KINDS, 'number'),
  timestampOrObject: formKind(timestampText, Kind.TIMESTAMP_TEXT, 'timestamp'),
  anyForm: formKind(
    anyValue.refine((value) => typeof value !== 'object' || value === null || Array.isArray(value)),
    ANY_KINDS,
  ),
} as const;

const TIMESTAMP =
  /^((?!0000)\d{4})-(0[1-9]|1[0-2])-(\d{2})(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::[0-5]\d(?:\.\d{1,9})?(?:Z|([+-](?:0\d|1[0-4]))(?::?([0-5]\d))?)?)?)?$/;

/**
 * Whether a text is a timestamp that the service is known to write: a date, or date and time joined by `T` or a
 * space, with up to nine decimals and an optional zone (service.md#values). Its instant lies in the
 * years 1 to 9999 in UTC: readers and partitions know no other.
 */
export function isTimestamp(value: string): boolean {
  const [, year = '', month = '', day = '', time = '00:00', hours = '+00', minutes = '00'] =
    TIMESTAMP.exec(value) ?? [];
  if (day === '' || day === '00') return false;
  // The calendar repeats after 400 years; day 0 of the next month is the last one of this month.
  const last = (): number => new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (day > '28' && Number(day) > last()) return false;
  if (year !== '0001' && year !== '9999') return true;
  const inUtc = new Date(`${year}-${month}-${day}T${time}${hours}:${minutes}`).getUTCFullYear();
  return inUtc >= 1 && inUtc <= 9999;
}

/** Whether a text is a year from 1 on, or a month of one, such as `2019` or `2019-05`. */
export const isYearOrMonth = (value: string): boolean => /^(?!0000)\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(value);
