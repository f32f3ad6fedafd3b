import { flag, integer } from './kinds.js';
import { optional } from './parameter.js';
import type { PageSizes } from './plan.js';

/** `page`, which every list has. */
export const pageOnly = {
  page: optional(
    integer({ low: 1 }, 'pages are counted from 1; a page past the end is empty'),
    'Number of the page; default 1.',
  ),
} as const;

/** `page` and `per_page` of a list. */
export const sized = ({ fallback, most, plans }: PageSizes) =>
  ({
    ...pageOnly,
    per_page: optional(
      integer(
        { low: 1, high: most },
        `ask for more pages instead, or leave per_page out${smallerPlans(plans)}`,
      ),
      `Records a page; default ${fallback}${smallerPlans(plans)}.`,
    ),
  }) as const;

const smallerPlans = (plans: PageSizes['plans']): string =>
  Object.entries(plans)
    .map(([plan, most]) => `; at most ${most} on the ${plan} plan`)
    .join('');

/** `simple_paginate`, whose default belongs to the key (service.md, `/cars`). */
export const simplePaginate = {
  simple_paginate: optional(flag, 'True leaves totals out; the default is set for the key, so give it.'),
} as const;

/** Longest window of a `minutes` parameter (service.md, limits). */
export const MOST_MINUTES = 4320;

/** `minutes`: keeps to what happened lately. */
export const minutes = (what: string) =>
  optional(
    integer({ low: 1, high: MOST_MINUTES }, 'for a longer time read the whole list, without minutes'),
    what,
  );

/** `prices_history`, which every endpoint with vehicles has. */
export const pricesHistory = {
  prices_history: optional(flag, "True adds each lot's auctions as prices; default false."),
} as const;
