import { requestOf } from './endpoint.js';
import { integer, word } from './kinds.js';
import { pageOnly } from './paging-parameters.js';
import { optional, required } from './parameter.js';

/** `/usa/damages`. */
export const damagesRequest = requestOf({
  path: '/usa/damages',
  what: 'Damages by id.',
  parameters: pageOnly,
});

/** `/usa/states`. */
export const statesRequest = requestOf({
  path: '/usa/states',
  what: 'States of the United States or provinces of Canada.',
  parameters: { country: optional(word(['us', 'ca']), 'Country; default us.'), ...pageOnly },
});

/** `/usa/cities/{state_id}`. */
export const citiesRequest = requestOf({
  path: '/usa/cities/{state_id}',
  what: 'Cities of a state.',
  parameters: {
    state_id: required(integer({}, 'give one id of /usa/states, a whole number'), 'Id of the state.'),
    ...pageOnly,
  },
});

/** `/usa/titles`. */
export const titlesRequest = requestOf({
  path: '/usa/titles',
  what: 'Title documents by id.',
  parameters: pageOnly,
});
