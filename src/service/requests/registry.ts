import { archivedLotsRequest, statisticsRequest } from './archive-and-statistics.js';
import { carsRequest, carsScrollNextRequest, carsScrollRequest } from './cars.js';
import { generationsRequest, manufacturersRequest, modelsRequest } from './catalog.js';
import { koreaDuplicatesRequest, koreaOptionsRequest } from './korea.js';
import { carRequest, listingRequest, searchLotRequest, searchVinRequest } from './lookups.js';
import { citiesRequest, damagesRequest, statesRequest, titlesRequest } from './reference.js';
import { searchCountRequest, searchRequest } from './search.js';

/** Every request that can be made; documentation and tests go by it. */
export const requests = {
  cars: carsRequest,
  carsScroll: carsScrollRequest,
  carsScrollNext: carsScrollNextRequest,
  car: carRequest,
  listing: listingRequest,
  search: searchRequest,
  searchCount: searchCountRequest,
  searchVin: searchVinRequest,
  searchLot: searchLotRequest,
  archivedLots: archivedLotsRequest,
  statistics: statisticsRequest,
  manufacturers: manufacturersRequest,
  models: modelsRequest,
  generations: generationsRequest,
  damages: damagesRequest,
  states: statesRequest,
  cities: citiesRequest,
  titles: titlesRequest,
  koreaDuplicates: koreaDuplicatesRequest,
  koreaOptions: koreaOptionsRequest,
} as const;
