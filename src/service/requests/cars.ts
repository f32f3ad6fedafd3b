import { oneStatusForm, pageSizeOfPlan } from './check.js';
import { requestOf } from './endpoint.js';
import { integer, text } from './kinds.js';
import { pricesHistory, simplePaginate, sized } from './paging-parameters.js';
import { optional, required } from './parameter.js';
import { pageSizes } from './plan.js';
import { selection, sorted } from './selection.js';

/** `/cars`: a page of the feed. Throws RequestLimitError for a parameter beyond its limits. */
export const carsRequest = requestOf({
  path: '/cars',
  what: 'Vehicles in the feed with their reports, by pages.',
  parameters: { ...selection, ...sorted, ...pricesHistory, ...sized(pageSizes.cars), ...simplePaginate },
  checks: [oneStatusForm, pageSizeOfPlan(pageSizes.cars)],
});

/** Longest time that a scroll waits for its next request, in minutes (field-notes.md). */
export const MOST_SCROLL_MINUTES = 15;

const scrollMinutes = integer(
  { low: 1, high: MOST_SCROLL_MINUTES },
  'a scroll is kept for 10 minutes by default; ask for its next part sooner instead',
);

/**
 * `/cars` as a scroll: the first part of a list that stands still (field-notes.md). `limit` is required, since it is
 * what starts a scroll; `page` and `per_page` do not go with it.
 */
export const carsScrollRequest = requestOf({
  path: '/cars',
  what: 'The first part of a scroll through the feed.',
  parameters: {
    ...selection,
    ...sorted,
    ...pricesHistory,
    limit: required(
      integer({ low: 1, high: pageSizes.scroll.most }, 'ask for smaller parts; the scroll has more of them'),
      'Records an answer.',
    ),
    scroll_time: optional(scrollMinutes, 'Minutes that the scroll waits for its next request; default 10.'),
  },
  checks: [oneStatusForm, pageSizeOfPlan(pageSizes.scroll, 'limit')],
});

/** The next part of a scroll; its filters are those of its start. */
export const carsScrollNextRequest = requestOf({
  path: '/cars',
  what: 'The next part of a scroll through the feed.',
  parameters: {
    scroll_id: required(text, 'The scroll_id of the part before.'),
    scroll_time: optional(scrollMinutes, 'Minutes that the scroll waits for its next request.'),
  },
});
