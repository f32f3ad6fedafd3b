import { pageSizes } from '../server/plan.js';
import type { World } from '../world.js';
import { endpoint } from './endpoint.js';
import { listPage, simplePaginate, sized } from './paging.js';
import { idList, integer } from './parameter.js';
import { minutesParameter, sinceOf } from './window.js';

/** `/archived-lots`: flat records of lots; `domain_id` is ignored (field-notes.md). */
export const archivedLots = endpoint({
  path: '/archived-lots',
  what: 'Lots archived within the last month, as flat records.',
  parameters: {
    minutes: minutesParameter('only lots archived within the last minutes'),
    ...sized(pageSizes.archivedLots),
    ...simplePaginate,
  },
  answer: (question, values) => {
    const { world } = question;
    const ids = world.archivedLotIds(sinceOf(values.minutes, world.clock));
    return listPage(question, values, pageSizes.archivedLots, ids, (id) =>
      JSON.stringify(world.archivedLot(id)),
    );
  },
});

type Statistic = ReturnType<World['statistics']>[number];

/** `/statistics`: the service's own averages. */
export const statistics = endpoint({
  path: '/statistics',
  what: 'Average prices by generation, model year and source, calculated on Mondays.',
  parameters: {
    manufacturer_id: idList('only these manufacturers'),
    model_id: integer('only this model'),
    generation_id: integer('only this generation'),
    engine_id: integer('only this engine'),
    year: integer('only this model year'),
    ...sized(pageSizes.statistics),
    ...simplePaginate,
  },
  answer: (question, values) => {
    const checks: ((row: Statistic) => boolean)[] = [
      (row) => values.manufacturer_id?.includes(row.manufacturer.id) ?? true,
      (row) => values.model_id === undefined || row.car_model.id === values.model_id,
      (row) => values.generation_id === undefined || row.generation.id === values.generation_id,
      (row) => values.engine_id === undefined || row.engine?.id === values.engine_id,
      (row) => values.year === undefined || row.year === values.year,
    ];
    const rows = question.world.statistics().filter((row) => checks.every((check) => check(row)));
    return listPage(question, values, pageSizes.statistics, rows);
  },
});
