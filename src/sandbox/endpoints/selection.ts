import { rowOf } from '../lookup/row.js';
import { badRequest } from '../server/refusal.js';
import { allDomains, domainId, domainOf } from './domain.js';
import type { Question } from './endpoint.js';
import { type Condition, meets } from './filters/condition.js';
import { lotFilters } from './filters/lot-filters.js';
import { rangeFilters } from './filters/range-filters.js';
import { saleFilters } from './filters/sale-filters.js';
import { vehicleFilters } from './filters/vehicle-filters.js';
import { word } from './parameter.js';
import { minutesParameter, sinceOf } from './window.js';

/** Parameters that decide which vehicles `/cars` and `/search` give, and in which order. */
export const selection = {
  domain_id: domainId('only vehicles with a lot on this source; without it, all sources of the key'),
  minutes: minutesParameter('only vehicles updated within the last minutes'),
  ...vehicleFilters,
  ...lotFilters,
  ...rangeFilters,
  ...saleFilters,
} as const;

/** `sortDirection` of a list of vehicles. */
export const sorted = {
  sortDirection: word('order of the vehicle ids; default asc', ['asc', 'desc']),
} as const;

/** Values of the parameters of a selection: conditions stand under the names of their filters. */
interface Selected {
  readonly domain_id: number | undefined;
  readonly minutes: number | undefined;
  readonly sortDirection?: 'asc' | 'desc' | undefined;
}

/** Ids of the vehicles in the feed that meet all filters; throws a 400 or 401 for a combination that cannot be. */
export function selectedIds(question: Question, values: Selected): readonly number[] {
  const { world, query, access } = question;
  if (query.has('status') && query.has('status[]')) {
    throw badRequest('status', 'The status must not be combined with status[].');
  }
  const domain = values.domain_id === undefined ? undefined : domainOf(values.domain_id, access);
  const candidates = candidateIds(question, domain, values.minutes);
  const conditions = conditionsOf(values);
  const domains = domain === undefined ? access.domains : [domain];
  const clock = world.clock.getTime();
  const keeps = (id: number): boolean => {
    const row = rowOf(world, id);
    return row !== undefined && meets(row, conditions, domains, clock);
  };
  const ids = conditions.length === 0 ? candidates : candidates.filter(keeps);
  return values.sortDirection === 'desc' ? ids.toReversed() : ids;
}

function candidateIds(
  { world, access }: Question,
  domain: number | undefined,
  minutes: number | undefined,
): readonly number[] {
  const since = sinceOf(minutes, world.clock);
  const one = (source?: number): readonly number[] =>
    since === undefined ? world.activeIds(source) : world.changedIds(since, source);
  if (domain !== undefined || access.domains.length === allDomains.length) return one(domain);
  return [...new Set(access.domains.flatMap(one))].sort((a, b) => a - b);
}

const isCondition = (value: unknown): value is Condition =>
  typeof value === 'object' && value !== null && ('vehicle' in value || 'lot' in value);

/** The conditions among the values; `sale_date_from` takes priority over `sale_date_in_days` (service.md). */
function conditionsOf(values: object): readonly Condition[] {
  const dropped = Reflect.get(values, 'sale_date_from') === undefined ? '' : 'sale_date_in_days';
  return Object.entries(values)
    .filter(([name]) => name !== dropped)
    .map(([, value]) => value)
    .filter(isCondition);
}
