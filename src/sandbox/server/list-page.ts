import type { PageSizes, Plan } from '../../core/service/limits.js';
import { faultOf } from './faults.js';
import type { Question } from './question.js';
import { badRequest } from './refusal.js';

/** Path prefix of all endpoints of the service. */
export const BASE_PATH = '/api';

/** Path prefix of the requests that only the sandbox has. */
export const ADMIN_PATH = '/sandbox';

/** Links name another host than the requested one, without TLS (service.md#envelope). */
export const LINK_BASE = 'http://service.example/api';
/** Parameters that links keep; the others are dropped (service.md#envelope). */
const KEPT = ['domain_id', 'minutes', 'per_page'];

/** Values of the paging parameters that an endpoint has. */
interface PagingValues {
  readonly page: number;
  readonly per_page?: number | undefined;
  readonly simple_paginate?: boolean | undefined;
}

/** Page sizes of a list without `per_page`. */
export const fixed = (size: number): PageSizes => ({ fallback: size, most: size, plans: {} });

/** The page size that a parameter requests. Throws a 400 for more than the plan allows. */
export function sizeOf(name: string, wanted: number | undefined, plan: Plan, sizes: PageSizes): number {
  const most = sizes.plans[plan] ?? sizes.most;
  const size = wanted ?? Math.min(sizes.fallback, most);
  if (size > most)
    throw badRequest(name, `The ${name} must be an integer from 1 to ${most} on the ${plan} plan.`);
  return size;
}

/**
 * One page of a list as the text of the paged envelope. `record` writes an entry as JSON. With `repeat`, every page has
 * the records of that page, so the list never ends. Throws a 400 for a page size that the plan does not allow.
 */
export function listPage<T>(
  question: Question,
  values: PagingValues,
  sizes: PageSizes,
  list: readonly T[],
  record: (entry: T) => string = (entry) => JSON.stringify(entry),
  repeat?: number,
): string {
  const { access, faults } = question;
  const { page } = values;
  const perPage = sizeOf('per_page', values.per_page, access.plan, sizes);
  const fault = faultOf(faults, 'repeat-page');
  const repeated = repeat ?? (fault && (fault.page ?? 1));
  const start = ((repeated ?? page) - 1) * perPage;
  const records = list.slice(start, start + perPage).map(record);
  // Without totals, `links.next` alone says whether a page follows.
  const simpleByDefault = 'simple_paginate' in values && access.simplePaginateDefault === 1;
  const simple = values.simple_paginate ?? simpleByDefault;
  const more = repeated !== undefined || page * perPage < list.length;
  const lastPage = Math.max(1, Math.ceil(list.length / perPage));
  const from = records.length === 0 ? null : (page - 1) * perPage + 1;
  const linkTo = (target: number): string => linkOf(question, perPage, target);
  const links = {
    first: linkTo(1),
    last: simple ? null : linkTo(lastPage),
    prev: page === 1 ? null : linkTo(page - 1),
    next: more ? linkTo(page + 1) : null,
  };
  const meta = {
    current_page: page,
    from,
    ...(simple ? {} : { last_page: lastPage, links: numbered(page, lastPage, linkTo) }),
    path: `${LINK_BASE}${question.path}`,
    per_page: perPage,
    to: from === null ? null : from + records.length - 1,
    ...(simple ? {} : { total: list.length }),
  };
  return `{"data":[${records.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
}

function linkOf({ path, query }: Question, perPage: number, page: number): string {
  const kept = KEPT.filter((name) => query.has(name)).map((name) => `${name}=${query.get(name)}`);
  const parts = query.has('per_page') ? kept : [...kept, `per_page=${perPage}`];
  return `${LINK_BASE}${path}?${[...parts, `page=${page}`].join('&')}`;
}

/** Links by number for a pager: the pages around this one. */
function numbered(page: number, lastPage: number, linkTo: (page: number) => string): object[] {
  const low = Math.max(1, Math.min(page, lastPage) - 3);
  const pages = Array.from({ length: Math.min(lastPage, low + 6) - low + 1 }, (_, place) => low + place);
  const link = (target: number | null, label: string, active = false) => ({
    url: target === null ? null : linkTo(target),
    label,
    active,
  });
  return [
    link(page > 1 ? page - 1 : null, '&laquo; Previous'),
    ...pages.map((number) => link(number, String(number), number === page)),
    link(page < lastPage ? page + 1 : null, 'Next &raquo;'),
  ];
}
