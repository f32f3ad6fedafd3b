import { pageSizeOfPlan } from './check.js';
import { requestOf } from './endpoint.js';
import { integer } from './kinds.js';
import { minutes, sized } from './paging-parameters.js';
import { optional } from './parameter.js';
import { pageSizes } from './plan.js';

/** `/korea-duplicates`. */
export const koreaDuplicatesRequest = requestOf({
  path: '/korea-duplicates',
  what: 'Pairs of lots of source 12 that stand for one offer.',
  parameters: {
    minutes: minutes('Only pairs added within the last minutes.'),
    lot: optional(integer(), 'Only pairs with this lot number, as original or as duplicate.'),
    ...sized(pageSizes.duplicates),
  },
  checks: [pageSizeOfPlan(pageSizes.duplicates)],
});

/** `/korea-options`: a bare array, with nothing to ask for. */
export const koreaOptionsRequest = requestOf({
  path: '/korea-options',
  what: 'The default options of source 12.',
  parameters: {},
});
