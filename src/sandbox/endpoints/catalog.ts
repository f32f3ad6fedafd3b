import { generationRecords, manufacturerRecords, modelRecords } from '../catalog/records.js';
import { pageSizes } from '../server/plan.js';
import { endpoint } from './endpoint.js';
import { listPage, pageOnly } from './paging.js';
import { integer, required, withDefault, word } from './parameter.js';

const PART = 'part of the catalogue';

/** `/manufacturers[/{type}]`. */
export const manufacturers = endpoint({
  path: '/manufacturers[/{type}]',
  what: 'Manufacturers with the number of their vehicles in the feed, 1000 a page.',
  parameters: { type: withDefault(word(PART, ['cars', 'motorcycles', 'all']), 'cars'), ...pageOnly },
  answer: (question, values) =>
    listPage(question, values, pageSizes.manufacturers, manufacturerRecords(question.world, values.type)),
});

/** `/models/{manufacturer_id}[/{type}]`. */
export const models = endpoint({
  path: '/models/{manufacturer_id}[/{type}]',
  what: 'Models of a manufacturer, 500 a page.',
  parameters: {
    manufacturer_id: required(integer('id of the manufacturer'), 0),
    type: withDefault(word(PART, ['cars', 'motorcycles', 'all']), 'cars'),
    ...pageOnly,
  },
  answer: (question, values) =>
    listPage(
      question,
      values,
      pageSizes.models,
      modelRecords(question.world, values.manufacturer_id, values.type),
    ),
});

/** `/generations/{model_id}[/{type}]`. */
export const generations = endpoint({
  path: '/generations/{model_id}[/{type}]',
  what: 'Generations of a model, 500 a page; to_year is null for one in production.',
  parameters: {
    model_id: required(integer('id of the model'), 0),
    type: withDefault(word(PART, ['cars', 'motorcycles']), 'cars'),
    ...pageOnly,
  },
  answer: (question, values) =>
    listPage(
      question,
      values,
      pageSizes.generations,
      generationRecords(question.world, values.model_id, values.type),
    ),
});
