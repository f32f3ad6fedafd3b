import { requestOf } from './endpoint.js';
import { integer, word } from './kinds.js';
import { pageOnly } from './paging-parameters.js';
import { optional, required } from './parameter.js';

const PART = 'Part of the catalogue; default cars.';
const part = optional(word(['cars', 'motorcycles', 'all']), PART);

/** `/manufacturers[/{type}]`. */
export const manufacturersRequest = requestOf({
  path: '/manufacturers[/{type}]',
  what: 'Manufacturers with the number of their vehicles and models.',
  parameters: { type: part, ...pageOnly },
});

/** `/models/{manufacturer_id}[/{type}]`. */
export const modelsRequest = requestOf({
  path: '/models/{manufacturer_id}[/{type}]',
  what: 'Models of a manufacturer.',
  parameters: {
    manufacturer_id: required(
      integer({}, 'give one id of /manufacturers, a whole number'),
      'Id of the manufacturer.',
    ),
    type: part,
    ...pageOnly,
  },
});

/** `/generations/{model_id}[/{type}]`; there is no `all` (service.md, enumerations). */
export const generationsRequest = requestOf({
  path: '/generations/{model_id}[/{type}]',
  what: 'Generations of a model.',
  parameters: {
    model_id: required(integer({}, 'give one id of /models, a whole number'), 'Id of the model.'),
    type: optional(word(['cars', 'motorcycles']), PART),
    ...pageOnly,
  },
});
