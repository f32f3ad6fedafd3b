import { damageRows, titleRows } from '../data/reference-rows.js';
import { citiesOf, states } from '../data/states.js';
import { pageSizes } from '../server/plan.js';
import { endpoint } from './endpoint.js';
import { endlessPage, listPage, pageOnly } from './paging.js';
import { integer, required, withDefault, word } from './parameter.js';

/** `/usa/damages`. */
export const damageList = endpoint({
  path: '/usa/damages',
  what: 'Damages, 1000 a page; many are codes that mean nothing.',
  parameters: pageOnly,
  answer: (question, values) => listPage(question, values, pageSizes.reference, damageRows),
});

/** `/usa/states`: the code stands in `code` or in `state_code` (field-notes.md). */
export const stateList = endpoint({
  path: '/usa/states',
  what: 'States of the United States (member code) or provinces of Canada (member state_code).',
  parameters: { country: withDefault(word('country', ['us', 'ca']), 'us'), ...pageOnly },
  answer: (question, values) => {
    const rows = states[values.country].map(({ id, name, code }) =>
      values.country === 'us' ? { id, name, code } : { id, name, state_code: code },
    );
    return listPage(question, values, pageSizes.reference, rows);
  },
});

/** `/usa/cities/{state_id}`. */
export const cityList = endpoint({
  path: '/usa/cities/{state_id}',
  what: 'Cities of a state; ignores page and always names a next one.',
  parameters: { state_id: required(integer('id of the state'), 0), ...pageOnly },
  answer: (question, values) => endlessPage(question, values, pageSizes.reference, citiesOf(values.state_id)),
});

/** `/usa/titles`. */
export const titleList = endpoint({
  path: '/usa/titles',
  what: 'Title documents; ignores page and always names a next one.',
  parameters: pageOnly,
  answer: (question, values) => endlessPage(question, values, pageSizes.reference, titleRows),
});
