import type { z } from 'zod';
import { archivedLotSchema } from './contract/archived-lot.js';
import {
  citySchema,
  damageSchema,
  defaultOptionSchema,
  duplicateSchema,
  generationSchema,
  manufacturerSchema,
  modelSchema,
  stateSchema,
  statisticSchema,
  titleRecordSchema,
} from './contract/reference.js';
import { vehicleSchema } from './contract/vehicle.js';
import { pageSizes } from './limits.js';
import { requests } from './requests.js';

/** A stream of records that lotlake lands: what one record looks like and how its lists are paged. */
export interface Stream {
  readonly name: StreamName;
  /** Path below the base URL; where a stream has several lists, of what they have in common. */
  readonly path: string;
  readonly schema: z.core.$ZodType;
  /** Makes the request of a page, from parameters by the service's names. */
  readonly request: Pick<(typeof requests)[keyof typeof requests], 'from'>;
  /** Member that names a record. */
  readonly idField: string;
  /** Largest page the service gives (service.md, limits); undefined where a list takes no page size. */
  readonly maxPerPage: number | undefined;
  /** A service that answers 404 here is reported and the stream skipped. */
  readonly optional: boolean;
  /** The list is sorted by id, ascending. */
  readonly ascending: boolean;
}

/** Names of the streams; they name the folders of landing. */
export const streamNames = [
  'cars',
  'archived_lots',
  'statistics',
  'manufacturers',
  'models',
  'generations',
  'damages',
  'states',
  'cities',
  'titles',
  'duplicates',
  'default_options',
] as const;

/** Name of a stream. */
export type StreamName = (typeof streamNames)[number];

const reference = (
  name: StreamName,
  path: string,
  schema: z.core.$ZodType,
  request: Stream['request'],
): Stream => ({
  name,
  path,
  schema,
  request,
  idField: 'id',
  maxPerPage: undefined,
  optional: true,
  ascending: false,
});

/** Every stream of the service. */
export const streams: Readonly<Record<StreamName, Stream>> = {
  cars: {
    name: 'cars',
    path: '/cars',
    schema: vehicleSchema,
    request: requests.cars,
    idField: 'id',
    maxPerPage: pageSizes.cars.most,
    optional: false,
    ascending: true,
  },
  archived_lots: {
    name: 'archived_lots',
    path: '/archived-lots',
    schema: archivedLotSchema,
    request: requests.archivedLots,
    idField: 'lot_id',
    maxPerPage: pageSizes.archivedLots.most,
    optional: true,
    ascending: false,
  },
  statistics: {
    name: 'statistics',
    path: '/statistics',
    schema: statisticSchema,
    request: requests.statistics,
    idField: 'id',
    maxPerPage: pageSizes.statistics.most,
    optional: true,
    ascending: false,
  },
  manufacturers: reference('manufacturers', '/manufacturers', manufacturerSchema, requests.manufacturers),
  models: reference('models', '/models', modelSchema, requests.models),
  generations: reference('generations', '/generations', generationSchema, requests.generations),
  damages: reference('damages', '/usa/damages', damageSchema, requests.damages),
  states: reference('states', '/usa/states', stateSchema, requests.states),
  cities: reference('cities', '/usa/cities', citySchema, requests.cities),
  titles: reference('titles', '/usa/titles', titleRecordSchema, requests.titles),
  duplicates: {
    ...reference('duplicates', '/korea-duplicates', duplicateSchema, requests.koreaDuplicates),
    idField: 'duplicate_id',
    maxPerPage: pageSizes.duplicates.most,
  },
  default_options: reference('default_options', '/korea-options', defaultOptionSchema, requests.koreaOptions),
};
