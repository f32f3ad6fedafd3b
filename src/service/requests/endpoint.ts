import { z } from 'zod';
import { RequestLimitError } from '../errors/request-limit-error.js';
import { type Check, type Values, violationOf } from './check.js';
import type { Parameters, Value } from './parameter.js';
import { namesInPath, pathOf } from './path.js';
import type { Plan } from './plan.js';
import type { QueryValue, ServiceRequest } from './service-request.js';

/** An endpoint of the service: what it gives and what it can be asked for. */
export interface Definition<P extends Parameters> {
  /** Path with its parameters in braces; a part in brackets may be left out. */
  readonly path: string;
  /** What it gives, as a sentence. */
  readonly what: string;
  readonly parameters: P;
  /** Limits beyond those of single parameters. */
  readonly checks?: readonly Check[];
}

/** What is known of the key that asks. */
interface RequestOptions {
  /** Plan of the key; without it the endpoint's own limits hold. */
  readonly plan?: Plan | undefined;
}

/** Parameters as they are given, by the service's names; flags are booleans. */
type Given<P extends Parameters> = z.input<z.ZodObject<P, z.core.$strict>>;

type Arguments<P extends Parameters> =
  Record<never, never> extends Given<P>
    ? [parameters?: Given<P>, options?: RequestOptions]
    : [parameters: Given<P>, options?: RequestOptions];

/**
 * Makes the request of an endpoint. Throws RequestLimitError, before anything is sent, for a parameter that is unknown,
 * missing or beyond its limits.
 */
export interface RequestOf<P extends Parameters> {
  (...given: Arguments<P>): ServiceRequest;
  /** The same for parameters of unknown shape, such as those of a command line. */
  readonly from: (parameters: unknown, options?: RequestOptions) => ServiceRequest;
  readonly endpoint: Definition<P>;
}

/** The function that makes the requests of an endpoint. */
export function requestOf<const P extends Parameters>(endpoint: Definition<P>): RequestOf<P> {
  const shape: Parameters = endpoint.parameters;
  const schema = z.strictObject(shape);
  const from = (parameters: unknown, { plan }: RequestOptions = {}): ServiceRequest => {
    const parsed = schema.safeParse(parameters);
    const [issue] = parsed.error?.issues ?? [];
    if (issue !== undefined) throw refusal(endpoint.path, violationOf(issue, shape, parameters));
    const values: Values = parsed.data ?? {};
    for (const check of endpoint.checks ?? []) {
      const violation = check(values, plan);
      if (violation !== undefined) throw refusal(endpoint.path, violation);
    }
    return { path: pathOf(endpoint.path, values), query: queryOf(endpoint.path, values) };
  };
  return Object.assign((...given: Arguments<P>) => from(given[0] ?? {}, given[1]), { from, endpoint });
}

const refusal = (endpoint: string, violation: NonNullable<ReturnType<Check>>): RequestLimitError =>
  new RequestLimitError({ endpoint, ...violation });

/** What does not stand in the path, in the order of the endpoint's parameters. */
function queryOf(path: string, values: Values): ServiceRequest['query'] {
  const inPath = namesInPath(path);
  const sent = Object.entries(values).filter(
    ([name, value]) => !inPath.includes(name) && value !== undefined,
  );
  return Object.fromEntries(sent.map(([name, value]) => [name, inQuery(value)]));
}

const inQuery = (value: Value): QueryValue => (typeof value === 'boolean' ? Number(value) : value);
