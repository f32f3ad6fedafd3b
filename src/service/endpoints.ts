import { enumerations } from './contract/enumerations.js';
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

/** A whole number, and a switch, that may be left out. */
const number = (what: string) => optional(integer(), what);
const toggle = (what: string) => optional(flag, what);

/** What decides which vehicles `/cars` and `/search` give (service.md, `/cars`). */
const selection = {
  domain_id: optional(
    sourceId,
    'only vehicles with a lot on this source; without it, all sources of the key',
  ),
  minutes: minutes('only vehicles updated within the last minutes'),
  manufacturer_id: optional(idList, 'only these manufacturers'),
  model_id: number('only this model'),
  generation_id: number('only this generation'),
  from_year: number('first model year'),
  to_year: number('last model year'),
  year: number('only this model year'),
  vehicle_type: optional(oneOf(enumerations.vehicle_type), 'only this vehicle type'),
  vin: optional(text, 'VIN, in any case; `_` at its end asks for a prefix, at its start for a suffix'),
  name: optional(text, 'part of the title, in any case'),
  cylinders: number('only engines with this many cylinders'),
  engine_name: optional(text, "part of the engine's name, in any case"),
  body_type: optional(oneOf(enumerations.body_type), 'only this body type'),
  color: optional(oneOf(enumerations.color), 'only this colour'),
  transmission: optional(oneOf(enumerations.transmission), 'only this transmission'),
  drive_wheel: optional(oneOf(enumerations.drive_wheel), 'only this drive'),
  fuel_type: optional(oneOf(enumerations.fuel), 'only this fuel'),
  search_query: optional(text, 'VIN or lot number'),
  status: optional(oneOf(enumerations.lot_status), 'only lots of this status'),
  'status[]': optional(
    severalOf(enumerations.lot_status),
    'only lots of these statuses, repeated for each; not together with status',
  ),
  document_title: optional(text, 'part of the title document, in any case'),
  condition: optional(oneOf(enumerations.condition), 'only lots in this condition'),
  country: optional(code, 'country where the lot stands, such as US, CA or KR'),
  state_code: optional(code, 'state where the lot stands, such as CA or FL'),
  damage: optional(text, 'part of the main or second damage, in any case'),
  buy_now: toggle('1 keeps to lots with a Buy Now price'),
  odometer_from_km: number('odometer in km, at least'),
  odometer_to_km: number('odometer in km, at most'),
  odometer_from_mi: number('odometer in miles, at least'),
  odometer_to_mi: number('odometer in miles, at most'),
  buy_now_price_from: number('Buy Now price, at least'),
  buy_now_price_to: number('Buy Now price, at most'),
  bid_price_from: number('current bid, at least'),
  bid_price_to: number('current bid, at most'),
  without_sale_date: toggle('1 keeps to lots without an auction date'),
  sale_date_in_days: number('auction later than this many days ago; sale_date_from takes priority'),
  sale_date_from: optional(moment, 'auction later than this, UTC'),
  sale_date_to: optional(moment, 'auction earlier than this, UTC'),
  exclude_expired_auctions: toggle('1 keeps to lots without an auction date or with one to come'),
  next_hours_auction: number('auction within this many hours from now'),
};

/** Filters that only `/search` and `/search/count` have (service.md; reports.md, rule 2). */
const searchOnly = {
  seats: number('exactly this many seats'),
  has_inspections: optional(looseFlag, 'whether an active listing has an inspection report'),
  has_history_reports: optional(looseFlag, 'whether an active listing has a history report'),
  'listings[].has_history_reports': optional(
    looseFlag,
    'whether there is a listing with, or without, a history report',
  ),
  'listings[].is_manufacturer_certified': optional(
    looseFlag,
    'whether there is a listing that is, or is not, certified by the maker',
  ),
};

const sorted = {
  sortDirection: optional(word(['asc', 'desc']), 'order of the vehicle ids; default asc'),
};

/** A scroll walks a list that stands still; `page` and `per_page` do not go with it (field-notes.md). */
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

/** An endpoint of the service: what it gives and what it can be asked for. */
export interface Endpoint<P extends Parameters = Parameters> {
  /** Path below the base URL with its parameters in braces; a part in brackets may be left out. */
  readonly path: string;
  /** What it gives, as a sentence. */
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
 * sandbox, and the test of docs/endpoints.md go by it.
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
  // The parameters of `/search` are not shown in full (service.md): those of `/cars` and the filters that are named.
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
  /** It ignores a source (field-notes.md). */
  archivedLots: endpoint('/archived-lots', 'Lots archived within the last month, as flat records.', {
    minutes: minutes('only lots archived within the last minutes'),
    ...sized(pageSizes.archivedLots),
    ...simplePaginate,
  }),
  statistics: endpoint(
    '/statistics',
    'Average prices by generation, model year and source, calculated on Mondays.',
    {
      manufacturer_id: optional(idList, 'only these manufacturers'),
      model_id: number('only this model'),
      generation_id: number('only this generation'),
      engine_id: number('only this engine'),
      year: number('only this model year'),
      ...sized(pageSizes.statistics),
      ...simplePaginate,
    },
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
  /** It has no `all` (service.md, enumerations). */
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
      lot: number('only pairs with this lot number, as original or as duplicate'),
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
