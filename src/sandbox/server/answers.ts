import { unescape as unescaped } from 'node:querystring';
import { enumerations } from '../../core/service/contract/enumerations.js';
import { endpoints } from '../../core/service/endpoints.js';
import { pageSizes, SCROLL_MINUTES, SEARCH_WINDOW } from '../../core/service/limits.js';
import {
  citiesOf,
  damageRows,
  generationRecords,
  manufacturerRecords,
  modelRecords,
  states,
  titleRows,
} from '../catalog.js';
import optionRows from '../data/options.json' with { type: 'json' };
import { type RecordForm, vehicleJson } from '../record/vehicle.js';
import { duplicatesOf, findExternalId, findLot, findVehicle, findVin } from '../vehicle-lookup.js';
import { type Life, lifeOfId } from '../world/life.js';
import { faultOf } from './faults.js';
import { conditionsOf, domainOf, selectedIds, sinceOf } from './filters.js';
import { fixed, LINK_BASE, listPage, sizeOf } from './list-page.js';
import { type EndpointName, type Question, readParameters, type Values } from './question.js';
import { badRequest, notFound } from './refusal.js';

/** The answer of each endpoint: the JSON text of the body. It may throw a Refusal. */
type Answers = { readonly [N in EndpointName]: (question: Question, values: Values<N>) => string };

/** The source of the duplicates and the default options; a key that lacks it is refused. */
const KOREA = 12;

const answers: Answers = {
  cars: (question, values) => {
    const { limit, scroll_time, scroll_id } = values;
    const starts = limit !== undefined || scroll_time !== undefined;
    if (starts || scroll_id !== undefined) refusePages(question);
    if (scroll_id !== undefined) return continueScroll(question, scroll_id, scroll_time);
    const ids = selectedIds(question, values);
    const record = vehicleWriter(question, { shape: 'feed', withPrices: values.prices_history });
    if (!starts) return listPage(question, values, pageSizes.cars, ids, record);
    return question.scrolls.start({
      link: `${LINK_BASE}${question.path}`,
      ids,
      record,
      limit: sizeOf('limit', limit, question.access.plan, pageSizes.scroll),
      minutes: scroll_time ?? SCROLL_MINUTES.fallback,
    });
  },
  car: (question, { car_id, prices_history: withPrices }) => {
    const life = findVehicle(question.world, car_id, question.access.domains);
    return answerWith(question, life, 'vehicle', { shape: 'detail', withPrices });
  },
  listing: (question, { domain_id, listing_id, prices_history: withPrices }) => {
    const found = findLot(question.world, listing_id, [domainOf(domain_id, question)]);
    return answerWith(question, found?.life, 'listing', { shape: 'detail', withPrices, listing: found?.lot });
  },
  search: (question, values) => {
    const perPage = sizeOf('per_page', values.per_page, question.access.plan, pageSizes.cars);
    if (values.page * perPage > SEARCH_WINDOW) {
      throw badRequest('page', `The page must lie within the first ${SEARCH_WINDOW} results.`);
    }
    const record = vehicleWriter(question, { shape: 'compact', withPrices: values.prices_history });
    return listPage(question, values, pageSizes.cars, selectedIds(question, values), record);
  },
  searchCount: (question, values) => JSON.stringify({ count: selectedIds(question, values).length }),
  searchVin: (question, { vin, prices_history: withPrices }) => {
    const life = findVin(question.world, vin, question.access.domains);
    return answerWith(question, life, 'vehicle', { shape: 'feed', withPrices });
  },
  searchLot: (question, { lot, domain, search_by_id, prices_history: withPrices }) => {
    const { world, access } = question;
    const named = Object.entries(enumerations.domain).find(([, name]) => name === domain);
    const domains = named === undefined ? access.domains : [domainOf(Number(named[0]), question)];
    if (search_by_id && named !== undefined && !domains.includes(1))
      throw badRequest('search_by_id', 'The search_by_id is for iaai_com only.');
    const byId = domains.includes(1) ? findExternalId(world, lot) : undefined;
    const found = search_by_id ? byId : findLot(world, lot, domains);
    return answerWith(question, found?.life, 'lot', { shape: 'feed', withPrices });
  },
  archivedLots: (question, values) => {
    const ids = question.world.archivedLotIds(sinceOf(values.minutes, question));
    return listPage(question, values, pageSizes.archivedLots, ids, (id) =>
      JSON.stringify(question.world.archivedLot(id)),
    );
  },
  statistics: (question, values) => {
    const conditions = conditionsOf('statistics', values, question.world.now);
    const meets = (row: object): boolean => conditions.every((passes) => passes(row));
    return listPage(question, values, pageSizes.statistics, question.world.statistics().filter(meets));
  },
  manufacturers: (question, values) =>
    listPage(question, values, fixed(1000), manufacturerRecords(question.world, values.type)),
  models: (question, values) =>
    listPage(question, values, fixed(500), modelRecords(question.world, values.manufacturer_id, values.type)),
  generations: (question, values) =>
    listPage(question, values, fixed(500), generationRecords(question.world, values.model_id, values.type)),
  damages: (question, values) => listPage(question, values, fixed(1000), damageRows),
  // The member of the code is `code` or `state_code` (service.md#other-lists).
  states: (question, values) => {
    const rows = states[values.country].map(({ id, name, code }) =>
      values.country === 'us' ? { id, name, code } : { id, name, state_code: code },
    );
    return listPage(question, values, fixed(1000), rows);
  },
  cities: (question, values) => endlessPage(question, values.page, citiesOf(values.state_id)),
  titles: (question, values) => endlessPage(question, values.page, titleRows),
  koreaDuplicates: (question, values) => {
    domainOf(KOREA, question);
    const since = sinceOf(values.minutes, question);
    const found = duplicatesOf(question.world).filter(
      ({ original, duplicate, addedAt }) =>
        addedAt >= since && (values.lot === undefined || [original, duplicate].includes(values.lot)),
    );
    return listPage(question, values, pageSizes.duplicates, found, ({ original, duplicate }) =>
      JSON.stringify({ original_id: original, duplicate_id: duplicate }),
    );
  },
  koreaOptions: (question) => {
    domainOf(KOREA, question);
    return JSON.stringify(optionRows);
  },
};

/** A list that ignores `page`: every page holds all of it and names another one (service.md#paging). */
const endlessPage = (question: Question, page: number, list: readonly object[]): string =>
  listPage(question, { page }, fixed(1000), list, JSON.stringify, 1);

/** Writes the records of a list of vehicles by their ids. */
const vehicleWriter =
  ({ world }: Question, form: RecordForm) =>
  (id: number) => {
    const life = lifeOfId(world, id);
    return life === undefined ? '' : vehicleJson(world, life, form);
  };

/** `{data: Vehicle}`; throws a 404 if no vehicle was found. */
function answerWith({ world }: Question, life: Life | undefined, what: string, form: RecordForm): string {
  if (life === undefined) throw notFound(what);
  return `{"data":${vehicleJson(world, life, form)}}`;
}

function continueScroll(
  { scrolls, faults }: Question,
  scrollId: string,
  minutes: number | undefined,
): string {
  if (faultOf(faults, 'expired-scroll')) scrolls.forget(scrollId);
  return scrolls.next(scrollId, minutes);
}

function refusePages({ query }: Question): void {
  const name = ['page', 'per_page'].find((parameter) => query.has(parameter));
  if (name !== undefined) throw badRequest(name, `The ${name} must not be combined with a scroll.`);
}

/** `/a/{b}[/{c}]` as an expression with named groups. */
function patternOf(path: string): RegExp {
  const text = path
    .replaceAll('[', '(?:')
    .replaceAll(']', ')?')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${text}/?$`);
}

const patterns = (Object.keys(endpoints) as EndpointName[]).map((name) => ({
  name,
  pattern: patternOf(endpoints[name].path),
}));

/**
 * The endpoint of a path below the base URL and the values in the path; undefined if no endpoint has the path. A value
 * that is not well encoded is decoded as far as possible.
 */
export function matchOf(path: string) {
  for (const { name, pattern } of patterns) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const values = Object.entries(found.groups ?? {}).filter(([, text]) => text !== undefined);
    return { name, path: new Map(values.map(([key, text]) => [key, unescaped(text)])) };
  }
  return undefined;
}

/**
 * The answer to a question, as the text of its body. Throws a Refusal, such as a 404 for a path without an endpoint.
 */
export function answerTo(question: Question): string {
  const match = matchOf(question.path);
  if (match === undefined) throw notFound('route');
  return answerFrom(match.name, match.path, question);
}

const answerFrom = <N extends EndpointName>(
  name: N,
  path: ReadonlyMap<string, string>,
  question: Question,
): string => answers[name](question, readParameters(name, question.query, path));
