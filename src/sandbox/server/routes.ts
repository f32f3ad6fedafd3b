import type { World } from '../world.js';
import { faultOf } from './disturb.js';
import { type PageRequest, type PagingDefaults, pageRequest, pageText } from './envelope.js';
import type { Fault } from './fault.js';
import { type PageSizes, pageSizes } from './plan.js';
import { flagOf, integerOf, sinceOf } from './query.js';
import { badRequest, noAccess } from './refusal.js';

/** The sources that exist (service.md, enumerations). */
export const allDomains: readonly number[] = [1, 3, 12];

/** One question to the service. */
export interface Question {
  readonly world: World;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly access: PagingDefaults & { readonly domains: readonly number[] };
  readonly faults: readonly Fault[];
}

/** Gives the JSON text of the answer, or throws a Refusal. */
export type Route = (question: Question) => string;

/** The lists that are served, by path. */
export const routes: ReadonlyMap<string, Route> = new Map([
  ['/cars', cars],
  ['/archived-lots', archivedLots],
  ['/statistics', statistics],
]);

const paging = ({ path, query, access }: Question, sizes: PageSizes): PageRequest =>
  pageRequest(path, query, sizes, access);

const repeated = ({ faults }: Question): number | undefined => {
  const fault = faultOf(faults, 'repeat-page');
  return fault && (fault.page ?? 1);
};

/** `/cars`: active vehicles by id. */
function cars(question: Question): string {
  const { world, query } = question;
  const request = paging(question, pageSizes.cars);
  const pricesHistory = flagOf(query, 'prices_history', false);
  const ids = carIds(question);
  const record = (id: number): string => world.vehicleJson(id, { pricesHistory }) ?? '';
  return pageText(ordered(query) ? ids : ids.toReversed(), request, record, repeated(question));
}

function ordered(query: URLSearchParams): boolean {
  const direction = query.get('sortDirection') ?? 'asc';
  if (direction !== 'asc' && direction !== 'desc')
    throw badRequest('sortDirection', 'The sortDirection is invalid.');
  return direction === 'asc';
}

function carIds({ world, query, access }: Question): readonly number[] {
  const since = sinceOf(query, world.clock);
  const domain = integerOf(query, 'domain_id', { low: 0, high: 1_000_000 });
  if (domain !== undefined && !allDomains.includes(domain))
    throw badRequest('domain_id', 'Unsupported domain_id.');
  if (domain !== undefined && !access.domains.includes(domain)) throw noAccess(domain);
  const one = (source?: number): readonly number[] =>
    since === undefined ? world.activeIds(source) : world.changedIds(since, source);
  if (domain !== undefined || access.domains.length === allDomains.length) return one(domain);
  return [...new Set(access.domains.flatMap(one))].sort((a, b) => a - b);
}

/** `/archived-lots`: flat records; `domain_id` is ignored (field-notes.md). */
function archivedLots(question: Question): string {
  const { world, query } = question;
  const request = paging(question, pageSizes.archivedLots);
  const ids = world.archivedLotIds(sinceOf(query, world.clock));
  return pageText(ids, request, (id) => JSON.stringify(world.archivedLot(id)), repeated(question));
}

/** `/statistics`: the service's own averages. */
function statistics(question: Question): string {
  const request = paging(question, pageSizes.statistics);
  return pageText(
    question.world.statistics(),
    request,
    (record) => JSON.stringify(record),
    repeated(question),
  );
}
