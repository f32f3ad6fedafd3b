import { optionRows } from '../data/options.js';
import { duplicatesOf } from '../lookup/duplicates.js';
import { pageSizes } from '../server/plan.js';
import { domainOf } from './domain.js';
import { endpoint } from './endpoint.js';
import { listPage, sized } from './paging.js';
import { integer } from './parameter.js';
import { minutesParameter, sinceOf } from './window.js';

/** The source whose lists these are; a key that lacks it is refused. */
const SOURCE = 12;

/** `/korea-duplicates`. */
export const koreaDuplicates = endpoint({
  path: '/korea-duplicates',
  what: 'Pairs of lot numbers of source 12 that stand for one offer, in the order in which they were found.',
  parameters: {
    minutes: minutesParameter('only pairs found within the last minutes'),
    lot: integer('only pairs with this lot number, as original or as duplicate'),
    ...sized(pageSizes.duplicates),
  },
  answer: (question, values) => {
    domainOf(SOURCE, question.access);
    const since = sinceOf(values.minutes, question.world.clock)?.getTime() ?? 0;
    const found = duplicatesOf(question.world).filter(
      ({ original, duplicate, addedAt }) =>
        addedAt >= since && (values.lot === undefined || [original, duplicate].includes(values.lot)),
    );
    return listPage(question, values, pageSizes.duplicates, found, ({ original, duplicate }) =>
      JSON.stringify({ original_id: original, duplicate_id: duplicate }),
    );
  },
});

/** `/korea-options`. */
export const koreaOptions = endpoint({
  path: '/korea-options',
  what: 'The 62 default options of source 12 as a bare array; details.options.standard holds their codes.',
  parameters: {},
  answer: ({ access }) => {
    domainOf(SOURCE, access);
    return JSON.stringify(optionRows);
  },
});
