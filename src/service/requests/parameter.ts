import { z } from 'zod';

/** A parameter's value after its check: what goes into a path or a query. */
export type Value = string | number | boolean | readonly (string | number)[] | undefined;

/** Parameters of an endpoint by the service's names. */
export type Parameters = Readonly<Record<string, z.ZodType<Value>>>;

/** What a value must be, and how that is said. */
export interface Kind<S extends z.ZodType<Value>> {
  readonly schema: S;
  /** What is valid, such as `an integer from 1 to 4320`. */
  readonly form: string;
  /** What to do about a value that is not. */
  readonly hint: string;
}

/** What is known of a parameter in words. */
export interface ParameterFacts {
  /** What it does. */
  readonly what: string;
  readonly form: string;
  readonly hint: string;
}

const known = z.registry<ParameterFacts>();

function documented<S extends z.ZodType<Value>>(schema: S, what: string, kind: Kind<z.ZodType<Value>>): S {
  const described = schema.describe(what);
  known.add(described, { what, form: kind.form, hint: kind.hint });
  return described;
}

/** A parameter that may be left out. */
export const optional = <S extends z.ZodType<Value>>(kind: Kind<S>, what: string): z.ZodOptional<S> =>
  documented(kind.schema.optional(), what, kind);

/** A parameter that must be given. */
export const required = <S extends z.ZodType<Value>>(kind: Kind<S>, what: string): S =>
  documented(kind.schema, what, kind);

/** The words on a parameter that was made by `optional` or `required`. */
export const factsOf = (parameter: z.ZodType): ParameterFacts | undefined => known.get(parameter);
