import type { PageSizes, Plan } from './plan.js';
import { flagOf, integerOf } from './query.js';

/** Links name another host than the one that is asked, without TLS (field-notes.md). */
const LINK_BASE = 'http://service.example/api';
/** Parameters that links keep; the others are dropped (field-notes.md). */
const KEPT = ['domain_id', 'minutes', 'per_page'];
const HIGHEST_PAGE = 1_000_000_000;

/** Which page of a list is wanted, and in which form. */
export interface PageRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly page: number;
  readonly perPage: number;
  /** Simple pagination: no totals, `links.next` alone says whether a page follows. */
  readonly simple: boolean;
}

/** Settings of a key that a page request depends on. */
export interface PagingDefaults {
  readonly plan: Plan;
  readonly simplePaginateDefault: 0 | 1;
}

/** Reads the paging parameters; throws a 400 for a page or page size that the plan does not allow. */
export function pageRequest(
  path: string,
  query: URLSearchParams,
  sizes: PageSizes,
  defaults: PagingDefaults,
): PageRequest {
  const highest = sizes.highest[defaults.plan];
  const fallback = Math.min(sizes.fallback, highest);
  return {
    path,
    query,
    page: integerOf(query, 'page', { low: 1, high: HIGHEST_PAGE, fallback: 1 }) ?? 1,
    perPage: integerOf(query, 'per_page', { low: 1, high: highest, fallback }) ?? fallback,
    simple: flagOf(query, 'simple_paginate', defaults.simplePaginateDefault === 1),
  };
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
