import { inspect } from 'node:util';
import { z } from 'zod';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { endpoints, namesInPath } from './endpoints.js';
import { type Parameters, required, type Shape, shapeOf, text } from './parameter.js';

/** A GET that keeps the limits of the service, ready for the client. */
export interface ServiceRequest {
  /** Path below the base URL, its parameters escaped. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | number>>;
}

/** Parameters as a caller gives them, by the service's names; flags are booleans. */
type Given<P extends Parameters> = z.input<z.ZodObject<Shape<P>, z.core.$strict>>;

type Arguments<P extends Parameters> =
  Record<never, never> extends Given<P> ? [parameters?: Given<P>] : [parameters: Given<P>];

/**
 * Makes a function for the requests of an endpoint; its `from` takes parameters of unknown shape, such as those of a
 * command line. Both throw SERVICE_REQUEST_LIMIT, before anything is sent, for a parameter that is unknown, missing or
 * beyond its limits.
 */
function requestOf<const P extends Parameters>(path: string, parameters: P) {
  const schema = z.strictObject(shapeOf<Parameters>(parameters));
  const from = (given: unknown): ServiceRequest => {
    const parsed = schema.safeParse(given);
    const [issue] = parsed.error?.issues ?? [];
    if (issue !== undefined) throw refusal(path, parameters, issue, given);
    const isGiven = ([name]: readonly [string, unknown]): boolean => memberOf(given, name) !== undefined;
    return requestFor(path, Object.entries(parsed.data ?? {}).filter(isGiven));
  };
  return Object.assign((...given: Arguments<P>) => from(given[0] ?? {}), { from, path, parameters });
}

const memberOf = (given: unknown, name: string): unknown => Reflect.get(Object(given), name);

/** Puts values into the path or else the query. A part of the path in brackets is left out if its value is missing. */
function requestFor(template: string, values: readonly (readonly [string, unknown])[]): ServiceRequest {
  const given = new Map(values);
  const path = template
    .replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
      namesInPath(part).every((name) => given.has(name)) ? part : '',
    )
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))));
  const inPath = namesInPath(template);
  const sent = values.filter(([name]) => !inPath.includes(name));
  return { path, query: Object.fromEntries(sent.map(([name, value]) => [name, inQuery(value)])) };
}

/** A value as a query writes it; flags are 0 and 1. */
export const inQuery = (value: unknown): string | number =>
  typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : String(value);

/** The error of a parameter that the service would refuse. */
function refusal(path: string, parameters: Parameters, issue: z.core.$ZodIssue, given: unknown) {
  const name = String(issue.code === 'unrecognized_keys' ? issue.keys[0] : issue.path[0]);
  const refused = (limit: string, hint: string, what = name, value = memberOf(given, name)): LotlakeError => {
    const message = `${what} of GET ${path} ${limit}; ${shown(value)}`;
    return new LotlakeError('SERVICE_REQUEST_LIMIT', message, { outcome: 'usage', hint });
  };
  const parameter = parameters[name];
  if (parameter !== undefined) return refused(`must be ${parameter.given ?? parameter.form}`, parameter.hint);
  if (issue.code !== 'unrecognized_keys')
    return refused('must be an object', 'name each parameter', 'parameters', given);
  const names = Object.keys(parameters);
  const hint = names.length === 0 ? 'it has no parameters' : `the parameters are ${names.join(', ')}`;
  return refused('must be left out, lotlake does not send it', hint);
}

/** Most characters of a value that a refusal repeats. */
const LONGEST = 80;

function shown(given: unknown): string {
  if (given === undefined) return 'it is missing';
  const text = inspect(given, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: LONGEST });
  return `it is ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}

/** The parameters with these names. */
const only = <P extends Parameters, N extends keyof P>(parameters: P, ...names: N[]): Pick<P, N> =>
  // The entries are taken from `P` name by name, which the compiler cannot see.
  Object.fromEntries(names.map((name) => [name, parameters[name]])) as Pick<P, N>;

/** The request of an endpoint with all its parameters. */
const whole = <P extends Parameters>({ path, parameters }: { path: string; parameters: P }) =>
  requestOf(path, parameters);

/** The request of an endpoint with the parameters that lotlake uses. */
const part = <P extends Parameters, N extends keyof P>(
  { path, parameters }: { path: string; parameters: P },
  ...names: N[]
) => requestOf(path, only(parameters, ...names));

const { cars } = endpoints;

/** Every request that lotlake sends, with the parameters that it uses. */
export const requests = {
  cars: part(cars, 'domain_id', 'minutes', 'prices_history', 'page', 'per_page', 'simple_paginate'),
  /** The first part of a scroll; `limit` is required because it starts one. */
  carsScroll: requestOf(cars.path, {
    ...only(cars.parameters, 'domain_id', 'minutes', 'prices_history', 'scroll_time'),
    limit: { ...cars.parameters.limit, schema: cars.parameters.limit.schema.unwrap() },
  }),
  /** The next part of a scroll, which keeps the filters of its start. */
  carsScrollNext: requestOf(cars.path, {
    scroll_id: required(text, 'goes on with a scroll'),
    ...only(cars.parameters, 'scroll_time'),
  }),
  car: whole(endpoints.car),
  listing: whole(endpoints.listing),
  searchCount: part(endpoints.searchCount, 'domain_id'),
  searchVin: whole(endpoints.searchVin),
  searchLot: part(endpoints.searchLot, 'lot', 'domain', 'prices_history'),
  archivedLots: whole(endpoints.archivedLots),
  statistics: part(endpoints.statistics, 'page', 'per_page', 'simple_paginate'),
  manufacturers: whole(endpoints.manufacturers),
  models: whole(endpoints.models),
  generations: whole(endpoints.generations),
  damages: whole(endpoints.damages),
  states: whole(endpoints.states),
  cities: whole(endpoints.cities),
  titles: whole(endpoints.titles),
  koreaDuplicates: part(endpoints.koreaDuplicates, 'minutes', 'page', 'per_page'),
  koreaOptions: whole(endpoints.koreaOptions),
} as const;
