import type { Question } from '../endpoints/endpoint.js';
import type { PageSizes, Plan } from './plan.js';
import { badRequest } from './refusal.js';

/** Links name another host than the one that is asked, without TLS (field-notes.md). */
export const LINK_BASE = 'http://service.example/api';
/** Parameters that links keep; the others are dropped (field-notes.md). */
const KEPT = ['domain_id', 'minutes', 'per_page'];

/** Which page of a list is wanted, and in which form. */
export interface PageRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly page: number;
  readonly perPage: number;
  /** Simple pagination: no totals, `links.next` alone says whether a page follows. */
  readonly simple: boolean;
}

/** Values of the paging parameters; an endpoint that lacks one leaves it out. */
export interface PagingValues {
  readonly page: number;
  readonly per_page?: number | undefined;
  readonly simple_paginate?: boolean | undefined;
}

/** The page that is wanted; throws a 400 for a page size that the plan does not allow. */
export function pageRequest(question: Question, values: PagingValues, sizes: PageSizes): PageRequest {
  const { path, query, access } = question;
  const simpleByDefault = 'simple_paginate' in values && access.simplePaginateDefault === 1;
  return {
    path,
    query,
    page: values.page,
    perPage: sizeOf('per_page', values.per_page, access.plan, sizes),
    simple: values.simple_paginate ?? simpleByDefault,
  };
}

/** The number of records that a parameter asks for; throws a 400 above what the plan allows. */
export function sizeOf(name: string, wanted: number | undefined, plan: Plan, sizes: PageSizes): number {
  const highest = sizes.highest[plan];
  const size = wanted ?? Math.min(sizes.fallback, highest);
  if (size > highest) {
    throw badRequest(name, `The ${name} must be an integer from 1 to ${highest} on the ${plan} plan.`);
  }
  return size;
}

/**
 * One page of a list as the text of the paged envelope. `record` gives the JSON of an entry; `repeat` names a page
 * whose records stand on every page, so that the list never ends.
 */
export function pageText<T>(
  list: readonly T[],
  request: PageRequest,
  record: (entry: T) => string,
  repeat?: number,
): string {
  const { page, perPage } = request;
  const start = ((repeat ?? page) - 1) * perPage;
  const records = list.slice(start, start + perPage).map(record);
  const more = repeat !== undefined || page * perPage < list.length;
  const { links, meta } = envelopeOf(request, list.length, records.length, more);
  return `{"data":[${records.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
}

function envelopeOf(request: PageRequest, total: number, shown: number, more: boolean) {
  const { page, perPage, simple, path } = request;
  const lastPage = Math.max(1, Math.ceil(total / perPage));
  const from = shown === 0 ? null : (page - 1) * perPage + 1;
  const links = {
    first: linkTo(request, 1),
    last: simple ? null : linkTo(request, lastPage),
    prev: page === 1 ? null : linkTo(request, page - 1),
    next: more ? linkTo(request, page + 1) : null,
  };
  const base = {
    path: `${LINK_BASE}${path}`,
    per_page: perPage,
    to: from === null ? null : from + shown - 1,
  };
  const meta = simple
    ? { current_page: page, from, ...base }
    : { current_page: page, from, last_page: lastPage, links: numbered(request, lastPage), ...base, total };
  return { links, meta };
}

function linkTo({ path, query, perPage }: PageRequest, page: number): string {
  const kept = KEPT.filter((name) => query.has(name)).map((name) => `${name}=${query.get(name)}`);
  const parts = query.has('per_page') ? kept : [...kept, `per_page=${perPage}`];
  return `${LINK_BASE}${path}?${[...parts, `page=${page}`].join('&')}`;
}

/** Links by number for a pager: the pages around this one. */
function numbered(request: PageRequest, lastPage: number): object[] {
  const { page } = request;
  const low = Math.max(1, Math.min(page, lastPage) - 3);
  const pages = Array.from({ length: Math.min(lastPage, low + 6) - low + 1 }, (_, place) => low + place);
  const link = (target: number | null, label: string, active = false) => ({
    url: target === null ? null : linkTo(request, target),
    label,
    active,
  });
  return [
    link(page > 1 ? page - 1 : null, '&laquo; Previous'),
    ...pages.map((number) => link(number, String(number), number === page)),
    link(page < lastPage ? page + 1 : null, 'Next &raquo;'),
  ];
}
