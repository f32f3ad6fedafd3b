import { pageSizeOfPlan } from './check.js';
import { requestOf } from './endpoint.js';
import { idList, integer } from './kinds.js';
import { minutes, simplePaginate, sized } from './paging-parameters.js';
import { optional } from './parameter.js';
import { pageSizes } from './plan.js';

/** `/archived-lots`; it takes no source (field-notes.md). */
export const archivedLotsRequest = requestOf({
  path: '/archived-lots',
  what: 'Lots archived lately, as flat records.',
  parameters: {
    minutes: minutes('Only lots archived within the last minutes.'),
    ...sized(pageSizes.archivedLots),
    ...simplePaginate,
  },
  checks: [pageSizeOfPlan(pageSizes.archivedLots)],
});

/** `/statistics`. */
export const statisticsRequest = requestOf({
  path: '/statistics',
  what: 'Average prices by manufacturer, model, generation, year, type and source.',
  parameters: {
    manufacturer_id: optional(idList, 'Only these manufacturers: one id or a list of ids.'),
    model_id: optional(integer(), 'Only this model.'),
    generation_id: optional(integer(), 'Only this generation.'),
    engine_id: optional(integer(), 'Only this engine.'),
    year: optional(integer(), 'Only this model year.'),
    ...sized(pageSizes.statistics),
    ...simplePaginate,
  },
  checks: [pageSizeOfPlan(pageSizes.statistics)],
});
