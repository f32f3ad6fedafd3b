import { oneStatusForm, pageSizeOfPlan, searchWindow } from './check.js';
import { requestOf } from './endpoint.js';
import { pricesHistory, simplePaginate, sized } from './paging-parameters.js';
import { pageSizes } from './plan.js';
import { selection, sorted } from './selection.js';
import { searchOnlyParameters } from './vehicle-parameters.js';

/**
 * `/search`: a page of filtered vehicles, within the first 10,000 results. Its parameters are not shown in full
 * (service.md): those of `/cars` and the filters that are named are taken.
 */
export const searchRequest = requestOf({
  path: '/search',
  what: 'Vehicles in the feed without their reports; the first 10,000 results only.',
  parameters: {
    ...selection,
    ...searchOnlyParameters,
    ...sorted,
    ...pricesHistory,
    ...sized(pageSizes.cars),
    ...simplePaginate,
  },
  checks: [oneStatusForm, pageSizeOfPlan(pageSizes.cars), searchWindow(pageSizes.cars)],
});

/** `/search/count`: takes the filters of `/search`. */
export const searchCountRequest = requestOf({
  path: '/search/count',
  what: 'How many vehicles /search has for the same filters.',
  parameters: { ...selection, ...searchOnlyParameters },
  checks: [oneStatusForm],
});
