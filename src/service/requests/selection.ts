import { word } from './kinds.js';
import { lotParameters, rangeParameters, saleParameters } from './lot-parameters.js';
import { minutes } from './paging-parameters.js';
import { optional } from './parameter.js';
import { sourceId } from './sources.js';
import { vehicleParameters } from './vehicle-parameters.js';

/** Parameters that decide which vehicles `/cars` and `/search` give (service.md, `/cars`). */
export const selection = {
  domain_id: optional(
    sourceId,
    'Only vehicles with a lot on this source; without it, all sources of the key.',
  ),
  minutes: minutes('Only vehicles updated within the last minutes.'),
  ...vehicleParameters,
  ...lotParameters,
  ...rangeParameters,
  ...saleParameters,
} as const;

/** Order of a list of vehicles. */
export const sorted = {
  sortDirection: optional(word(['asc', 'desc']), 'Order of the vehicle ids; default asc.'),
} as const;
