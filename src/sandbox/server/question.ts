import { z } from 'zod';
import { type Endpoint, endpoints } from '../../core/service/endpoints.js';
import type { Plan } from '../../core/service/limits.js';
import { type Parameter, type Parameters, type Shape, shapeOf } from '../../core/service/parameter.js';
import type { World } from '../world.js';
import type { Fault } from './faults.js';
import { badRequest } from './refusal.js';
import type { Scrolls } from './scrolls.js';

export interface Question {
  readonly world: World;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly access: {
    readonly plan: Plan;
    /** Value of `simple_paginate` in a request without it. */
    readonly simplePaginateDefault: 0 | 1;
    /** Sources that the key is enabled for. */
    readonly domains: readonly number[];
  };
  readonly faults: readonly Fault[];
  readonly scrolls: Scrolls;
}

export type EndpointName = keyof typeof endpoints;

export type Values<N extends EndpointName> =
  (typeof endpoints)[N] extends Endpoint<infer P> ? z.output<z.ZodObject<Shape<P>>> : never;

/**
 * The values of an endpoint's parameters. Throws a 400 that names the parameter if its value is invalid, if it is given
 * several times, or if it is given as an array or object and has no such form. Unknown parameters are ignored.
 */
export function readParameters<N extends EndpointName>(
  endpoint: N,
  query: URLSearchParams,
  path: ReadonlyMap<string, string>,
): Values<N> {
  const parameters: Parameters = endpoints[endpoint].parameters;
  for (const sent of query.keys()) refuseBrackets(parameters, sent);
  const textsOf = (name: string): readonly string[] => [path.get(name) ?? query.getAll(name)].flat();
  const raw = Object.entries(parameters).map(
    ([name, parameter]) => [name, sentValue(parameter, textsOf(name))] as const,
  );
  const parsed = z.object(shapeOf(parameters)).safeParse(Object.fromEntries(raw));
  // The compiler cannot see that these are the schemas of the endpoint.
  if (parsed.success) return parsed.data as Values<N>;
  const name = String(parsed.error.issues[0]?.path[0]);
  const repeated = textsOf(name).length > 1 ? ', given once' : '';
  throw badRequest(name, `The ${name} must be ${parameters[name]?.form}${repeated}.`);
}

/** The value that the schema checks. A parameter that is wrongly repeated is a list, which its schema refuses. */
function sentValue({ read = String, isList }: Parameter, texts: readonly string[]): unknown {
  const [text, ...more] = texts;
  if (text === undefined) return undefined;
  if (isList === true) return texts.map(read);
  return more.length > 0 ? texts : read(text);
}

function refuseBrackets(parameters: Parameters, sent: string): void {
  const [name = '', brackets] = sent.split('[', 2);
  if (brackets !== undefined && !(sent in parameters) && name in parameters) {
    throw badRequest(name, `The ${name} must be given once, not as an array or object.`);
  }
}
