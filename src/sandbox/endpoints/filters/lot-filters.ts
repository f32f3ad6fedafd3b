import { enumerations } from '../../../service/contract/enumerations.js';
import { enumerated, integerIn, type Parameter, single, text } from '../parameter.js';
import { type Filter, holds, lotFilter } from './condition.js';

const statusIds = Object.keys(enumerations.lot_status).map(Number);

const severalStatuses: Parameter<readonly number[] | undefined> = {
  form: `one of ${statusIds.join(', ')}`,
  what: 'only lots of these statuses, repeated for each; not together with status',
  absent: undefined,
  read: (texts) => {
    const ids = texts.map((part) => integerIn(part));
    return ids.every((id) => id !== null && statusIds.includes(id)) ? ids.filter((id) => id !== null) : null;
  },
};

const code = (what: string) =>
  single('a code of two letters', what, (value) => (/^[a-z]{2}$/i.test(value) ? value.toLowerCase() : null));

/** Filters on what a lot is (service.md, `/cars`). */
export const lotFilters = {
  search_query: lotFilter(
    text('VIN or lot number'),
    (lot, wanted, _, row) => lot.number === wanted || row.vin?.toUpperCase() === wanted.toUpperCase(),
  ),
  status: lotFilter(
    enumerated('only lots of this status', enumerations.lot_status),
    (lot, id) => lot.status === id,
  ),
  'status[]': lotFilter(severalStatuses, (lot, ids) => ids.includes(lot.status)),
  document_title: lotFilter(text('part of the title document, in any case'), (lot, part) =>
    holds(lot.title, part),
  ),
  condition: lotFilter(
    enumerated('only lots in this condition', enumerations.condition),
    (lot, id) => lot.condition === id,
  ),
  country: lotFilter(
    code('country where the lot stands, such as US, CA or KR'),
    (lot, iso) => lot.country.toLowerCase() === iso,
  ),
  state_code: lotFilter(
    code('state where the lot stands, such as CA or FL'),
    (lot, state) => lot.state === state,
  ),
  damage: lotFilter(text('part of the main or second damage, in any case'), (lot, part) =>
    lot.damages.some((damage) => holds(damage, part)),
  ),
} as const satisfies Record<string, Filter>;
