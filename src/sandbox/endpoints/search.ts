import { compactJson } from '../lookup/find.js';
import { pageRequest } from '../server/envelope.js';
import { pageSizes, SEARCH_WINDOW } from '../server/plan.js';
import { badRequest } from '../server/refusal.js';
import { pricesHistory } from './cars.js';
import { endpoint } from './endpoint.js';
import { searchFilters } from './filters/search-filters.js';
import { listPage, simplePaginate, sized } from './paging.js';
import { selectedIds, selection, sorted } from './selection.js';

/** `/search`: filtered vehicles without reports, within a window. */
export const search = endpoint({
  path: '/search',
  what: 'Vehicles in the feed without their reports; the first 10,000 results only.',
  parameters: {
    ...selection,
    ...searchFilters,
    ...sorted,
    ...pricesHistory,
    ...sized(pageSizes.cars),
    ...simplePaginate,
  },
  answer: (question, values) => {
    const { page, perPage } = pageRequest(question, values, pageSizes.cars);
    if (page * perPage > SEARCH_WINDOW) {
      throw badRequest('page', `The page must lie within the first ${SEARCH_WINDOW} results.`);
    }
    return listPage(question, values, pageSizes.cars, selectedIds(question, values), (id) =>
      compactJson(question.world, id, values.prices_history),
    );
  },
});

/** `/search/count`: how many vehicles `/search` would give. */
export const searchCount = endpoint({
  path: '/search/count',
  what: 'How many vehicles /search has for the same filters, as {"count": n}.',
  parameters: { ...selection, ...searchFilters },
  answer: (question, values) => JSON.stringify({ count: selectedIds(question, values).length }),
});
