import type { z } from 'zod';
import { type EnumerationName, enumerations } from './contract/enumerations.js';
import document from './filters.json' with { type: 'json' };
import { MOST_MINUTES, type PageSizes, pageSizes, SCROLL_MINUTES } from './limits.js';
import {
  code,
  flag,
  idList,
  integer,
  looseFlag,
  moment,
  nameOf,
  oneOf,
  optional,
  type Parameter,
  type Parameters,
  required,
  segment,
  severalOf,
  text,
  withDefault,
  word,
} from './parameter.js';

const ONE_SOURCE =
  'give one source; for several send a request for each, or leave it out for all sources of the key';
const sourceId = oneOf(enumerations.domain, ONE_SOURCE);

const pageOnly = {
  page: withDefault(
    integer({ low: 1 }, 'pages are counted from 1; a page past the end is empty'),
    'number of the page',
    1,
  ),
};

const sized = ({ fallback, most, plans: { demo = most, small = most } }: PageSizes) => ({
  ...pageOnly,
  per_page: optional(
    integer({ low: 1, high: most }, 'ask for more pages instead, or leave per_page out'),
    `records a page; default ${fallback}; at most ${demo} on Demo, ${small} on Small`,
  ),
});

const simplePaginate = {
  simple_paginate: optional(flag, '1 leaves totals out; the default is set for the key'),
};

const minutes = (what: string) =>
  optional(
    integer({ low: 1, high: MOST_MINUTES }, 'for a longer time read the whole list, without minutes'),
    what,
  );

const pricesHistory = {
  prices_history: withDefault(flag, '1 adds the auctions of each lot as prices', false),
};

const kinds = { integer: integer(), flag, looseFlag, text, code, moment, idList };

/** A filter parameter in `filters.json`; `of` names the enumeration of an id. */
interface Filter {
  readonly kind: keyof typeof kinds | 'oneOf' | 'severalOf';
  readonly of?: EnumerationName;
  readonly what: string;
}

const filterParameter = ({ kind, of = 'domain', what }: Filter) => {
  if (kind === 'severalOf') return optional(severalOf(enumerations[of]), what);
  return optional<z.ZodType>(kind === 'oneOf' ? oneOf(enumerations[of]) : kinds[kind], what);
};

const parametersOf = <N extends string>(table: Readonly<Record<N, object>>) =>
  // TypeScript reads the words of a JSON document as plain strings, and Object.fromEntries loses the names.
  Object.fromEntries(
    Object.entries(table as Readonly<Record<string, Filter>>).map(([name, filter]) => [
      name,
      filterParameter(filter),
    ]),
  ) as Readonly<Record<N, Parameter<z.ZodOptional<z.ZodType>>>>;

/**
 * The filters on vehicles and on `/statistics` by their parameters: `test` is the sandbox's predicate for the values at
 * one of the paths `at`, in which `lots` stands for one lot.
 */
export const filters = {
  vehicles: { ...document.cars, ...document.search },
  statistics: document.statistics,
} as const;

/** Parameters that select the vehicles of `/cars` and `/search` (service.md#filters). */
const selection = {
  domain_id: optional(
    sourceId,
    'only vehicles with a lot on this source; without it, all sources of the key',
  ),
  minutes: minutes('only vehicles updated within the last minutes'),
  ...parametersOf(document.cars),
};

/** Filters that only `/search` and `/search/count` have (service.md#endpoints). */
const searchOnly = parametersOf(document.search);

const sorted = {
  sortDirection: optional(word(['asc', 'desc']), 'order of the vehicle ids; default asc'),
};

/** A scroll walks a list that stands still; `page` and `per_page` do not go with it (service.md#scroll). */
const scrolling = {
  limit: optional(
    integer({ low: 1, high: pageSizes.scroll.most }, 'ask for smaller parts; the scroll has more of them'),
    'starts a scroll: records an answer; default 1000, at most 50 on Demo and Small',
  ),
  scroll_time: optional(
    integer({ low: 1, high: SCROLL_MINUTES.most }, 'ask for the next part of the scroll sooner instead'),
    `starts a scroll: minutes that it waits for the next request; default ${SCROLL_MINUTES.fallback}`,
  ),
  scroll_id: optional(
    { ...text, form: 'a scroll_id that was given' },
    'goes on with a scroll; filters are those of its start',
  ),
};

const catalogPart = word(['cars', 'motorcycles', 'all']);
const idIn = (list: string) => integer({}, `give one id of ${list}, a whole number`);

/** An endpoint of the service with its description and parameters. */
export interface Endpoint<P extends Parameters = Parameters> {
  /** Path below the base URL with its parameters in braces; a part in brackets may be left out. */
  readonly path: string;
  /** Description of its answer, as a sentence. */
  readonly what: string;
  readonly parameters: P;
}

const endpoint = <P extends Parameters>(path: string, what: string, parameters: P): Endpoint<P> => ({
  path,
  what,
  parameters,
});

/**
 * Every endpoint of the service with its parameters. The requests of the client, the parsing and the help of the
 * sandbox, and docs/change/endpoints.md are derived from it.
 */
export const endpoints = {
  cars: endpoint('/cars', 'Vehicles in the feed with their reports, by pages or as a scroll.', {
    ...selection,
    ...sorted,
    ...pricesHistory,
    ...sized(pageSizes.cars),
    ...simplePaginate,
    ...scrolling,
  }),
  car: endpoint(
    '/cars/{car_id}',
    'One vehicle as {"data": Vehicle}, for about a month after it was archived; reports of active listings only.',
    { car_id: required(idIn('/cars'), 'id of the vehicle'), ...pricesHistory },
  ),
  listing: endpoint(
    '/listing/{domain_id}/{listing_id}',
    'The vehicle of a listing as {"data": Vehicle}, with the reports of exactly that listing, also while archived.',
    {
      domain_id: required(sourceId, 'source of the listing'),
      listing_id: required(segment, 'number of the lot on its source'),
      ...pricesHistory,
    },
  ),
  // The parameters of `/search` are not shown in full (service.md#endpoints): those of `/cars` and the filters that are
  // named.
  search: endpoint('/search', 'Vehicles in the feed without their reports; the first 10,000 results only.', {
    ...selection,
    ...searchOnly,
    ...sorted,
    ...pricesHistory,
    ...sized(pageSizes.cars),
    ...simplePaginate,
  }),
  searchCount: endpoint(
    '/search/count',
    'How many vehicles /search has for the same filters, as {"count": n}.',
    { ...selection, ...searchOnly },
  ),
  searchVin: endpoint(
    '/search-vin/{vin}',
    'The vehicle of a VIN as {"data": Vehicle}; of several the newest, active ones first.',
    { vin: required(segment, 'VIN, in any case'), ...pricesHistory },
  ),
  searchLot: endpoint(
    '/search-lot/{lot}[/{domain}]',
    'The vehicle that holds a lot as {"data": Vehicle}, also while the lot is archived.',
    {
      lot: required(segment, 'number of the lot on its source'),
      domain: optional(nameOf(enumerations.domain, ONE_SOURCE), 'source to look on'),
      search_by_id: withDefault(flag, '1 takes lot for the external_id that source 1 gave it', false),
      ...pricesHistory,
    },
  ),
  /** It ignores a source (service.md#endpoints). */
  archivedLots: endpoint('/archived-lots', 'Lots archived within the last month, as flat records.', {
    minutes: minutes('only lots archived within the last minutes'),
    ...sized(pageSizes.archivedLots),
    ...simplePaginate,
  }),
  statistics: endpoint(
    '/statistics',
    'Average prices by generation, model year and source, calculated on Mondays.',
    { ...parametersOf(document.statistics), ...sized(pageSizes.statistics), ...simplePaginate },
  ),
  manufacturers: endpoint(
    '/manufacturers[/{type}]',
    'Manufacturers with the number of their vehicles in the feed, 1000 a page.',
    { type: withDefault(catalogPart, 'part of the catalogue', 'cars'), ...pageOnly },
  ),
  models: endpoint('/models/{manufacturer_id}[/{type}]', 'Models of a manufacturer, 500 a page.', {
    manufacturer_id: required(idIn('/manufacturers'), 'id of the manufacturer'),
    type: withDefault(catalogPart, 'part of the catalogue', 'cars'),
    ...pageOnly,
  }),
  /** It has no `all` (service.md#endpoints). */
  generations: endpoint(
    '/generations/{model_id}[/{type}]',
    'Generations of a model, 500 a page; to_year is null for one in production.',
    {
      model_id: required(idIn('/models'), 'id of the model'),
      type: withDefault(word(['cars', 'motorcycles']), 'part of the catalogue', 'cars'),
      ...pageOnly,
    },
  ),
  damages: endpoint('/usa/damages', 'Damages, 1000 a page; many are codes that mean nothing.', pageOnly),
  states: endpoint(
    '/usa/states',
    'States of the United States (member code) or provinces of Canada (member state_code).',
    { country: withDefault(word(['us', 'ca']), 'country', 'us'), ...pageOnly },
  ),
  cities: endpoint('/usa/cities/{state_id}', 'Cities of a state; ignores page and always names a next one.', {
    state_id: required(idIn('/usa/states'), 'id of the state'),
    ...pageOnly,
  }),
  titles: endpoint('/usa/titles', 'Title documents; ignores page and always names a next one.', pageOnly),
  koreaDuplicates: endpoint(
    '/korea-duplicates',
    'Pairs of lot numbers of source 12 that stand for one offer, in the order in which they were found.',
    {
      minutes: minutes('only pairs found within the last minutes'),
      lot: optional(integer(), 'only pairs with this lot number, as original or as duplicate'),
      ...sized(pageSizes.duplicates),
    },
  ),
  koreaOptions: endpoint(
    '/korea-options',
    'The 62 default options of source 12 as a bare array; details.options.standard holds their codes.',
    {},
  ),
} as const;

/** Names of the parameters that stand in a path such as `/models/{manufacturer_id}[/{type}]`. */
export const namesInPath = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '');
