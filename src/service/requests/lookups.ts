import { idsOfSource1 } from './check.js';
import { requestOf } from './endpoint.js';
import { flag, integer, segment } from './kinds.js';
import { pricesHistory } from './paging-parameters.js';
import { optional, required } from './parameter.js';
import { source, sourceId } from './sources.js';

/** `/cars/{car_id}`: a vehicle with its reports, for about a month after it was archived. */
export const carRequest = requestOf({
  path: '/cars/{car_id}',
  what: 'One vehicle with its reports, for about a month after it was archived.',
  parameters: {
    car_id: required(integer({}, 'give the id of a vehicle, a whole number'), 'Id of the vehicle.'),
    ...pricesHistory,
  },
});

/** `/listing/{domain_id}/{listing_id}`: the vehicle of a listing with the reports of exactly that listing. */
export const listingRequest = requestOf({
  path: '/listing/{domain_id}/{listing_id}',
  what: 'The vehicle of a listing with the reports of exactly that listing, also while archived.',
  parameters: {
    domain_id: required(sourceId, 'Source of the listing.'),
    listing_id: required(segment, 'Number of the listing on its source.'),
    ...pricesHistory,
  },
});

/** `/search-vin/{vin}`: the vehicle of a VIN. */
export const searchVinRequest = requestOf({
  path: '/search-vin/{vin}',
  what: 'The vehicle of a VIN.',
  parameters: { vin: required(segment, 'VIN, whole.'), ...pricesHistory },
});

/** `/search-lot/{lot}[/{domain}]`: the vehicle that holds a lot, on one source or on all of the key. */
export const searchLotRequest = requestOf({
  path: '/search-lot/{lot}[/{domain}]',
  what: 'The vehicle that holds a lot.',
  parameters: {
    lot: required(segment, 'Number of the lot on its source.'),
    domain: optional(source, 'Source to look on, by name or id; without it, all sources of the key.'),
    search_by_id: optional(flag, "True takes lot for source 1's own id instead of the lot number."),
    ...pricesHistory,
  },
  checks: [idsOfSource1],
});
