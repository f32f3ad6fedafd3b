import type { z } from 'zod';
import type { RequestLimitFacts } from '../errors/request-limit-error.js';
import { factsOf, type Parameters, type Value } from './parameter.js';
import { mostRecords, type PageSizes, type Plan } from './plan.js';

/** What is wrong with a parameter. */
export type Violation = Omit<RequestLimitFacts, 'endpoint'>;

/** Values of an endpoint's parameters, each within its own limits. */
export type Values = Readonly<Record<string, Value>>;

/** A limit that is not one parameter's own: it depends on others, or on the plan. */
export type Check = (values: Values, plan: Plan | undefined) => Violation | undefined;

/** `status` or `status[]`, not both (service.md, `/cars`). */
export const oneStatusForm: Check = (values) =>
  values.status === undefined || values['status[]'] === undefined
    ? undefined
    : {
        parameter: 'status[]',
        given: values['status[]'],
        limit: 'must not be combined with status',
        hint: 'put all status ids into status[]',
      };

/** The largest page of the plan; what no plan allows is the parameter's own limit. */
export const pageSizeOfPlan =
  (sizes: PageSizes, parameter = 'per_page'): Check =>
  (values, plan) => {
    const given = values[parameter];
    const most = mostRecords(sizes, plan);
    if (typeof given !== 'number' || given <= most) return undefined;
    return {
      parameter,
      given,
      limit: `must be an integer from 1 to ${most} on the ${plan} plan`,
      hint: `ask for at most ${most} records and for more pages, or leave ${parameter} out`,
    };
  };

/** Results that `/search` can page through (service.md, limits). */
const SEARCH_WINDOW = 10_000;

/** A page that ends within the window of `/search`. */
export const searchWindow =
  (sizes: PageSizes): Check =>
  ({ page, per_page }) => {
    const size = typeof per_page === 'number' ? per_page : sizes.fallback;
    const last = Math.floor(SEARCH_WINDOW / size);
    if (typeof page !== 'number' || page <= last) return undefined;
    return {
      parameter: 'page',
      given: page,
      limit: `must be an integer from 1 to ${last} with ${size} records a page: /search ends after ${SEARCH_WINDOW} results`,
      hint: 'narrow the search by filters such as manufacturer_id, year or domain_id, or read the feed with /cars',
    };
  };

/** Ids inside a source are known for source 1 only (service.md, `/search-lot`). */
export const idsOfSource1: Check = ({ search_by_id, domain }) =>
  search_by_id !== true || domain === undefined || domain === 'iaai_com'
    ? undefined
    : {
        parameter: 'search_by_id',
        given: search_by_id,
        limit: `must be false for ${String(domain)}`,
        hint: 'only iaai_com can be asked for its own ids; look the lot up by its number on other sources',
      };

/** What a failed check of single parameters says, in the words on the parameter. */
export function violationOf(issue: z.core.$ZodIssue, parameters: Parameters, given: unknown): Violation {
  if (issue.code === 'unrecognized_keys') return unknown(issue.keys[0] ?? '', parameters, given);
  const name = issue.path[0];
  const parameter = typeof name === 'string' ? parameters[name] : undefined;
  const facts = parameter && factsOf(parameter);
  if (typeof name !== 'string' || facts === undefined)
    return { parameter: 'parameters', given, limit: 'must be an object', hint: 'give parameters by name' };
  return {
    parameter: name,
    given: memberOf(given, name),
    limit: `must be ${facts.form}`,
    hint: facts.hint,
  };
}

function unknown(name: string, parameters: Parameters, given: unknown): Violation {
  const names = Object.keys(parameters);
  return {
    parameter: name,
    given: memberOf(given, name),
    limit: 'must be left out, the endpoint has no such parameter',
    hint: names.length === 0 ? 'the endpoint has no parameters' : `the parameters are ${names.join(', ')}`,
  };
}

const memberOf = (given: unknown, name: string): unknown =>
  typeof given === 'object' && given !== null ? Reflect.get(given, name) : undefined;
