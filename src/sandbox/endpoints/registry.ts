import { archivedLots, statistics } from './archive-and-statistics.js';
import { cars } from './cars.js';
import { generations, manufacturers, models } from './catalog.js';
import type { Endpoint } from './endpoint.js';
import { koreaDuplicates, koreaOptions } from './korea.js';
import { car, listing, searchLot, searchVin } from './lookups.js';
import { cityList, damageList, stateList, titleList } from './reference.js';
import { search, searchCount } from './search.js';

/** Every endpoint that is served; the router, the validation, the help and docs/endpoints.md go by it. */
export const endpoints: readonly Endpoint[] = [
  cars,
  car,
  listing,
  search,
  searchCount,
  searchVin,
  searchLot,
  archivedLots,
  statistics,
  manufacturers,
  models,
  generations,
  damageList,
  stateList,
  cityList,
  titleList,
  koreaDuplicates,
  koreaOptions,
];
