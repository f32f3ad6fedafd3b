import type { z } from 'zod';
import { archivedLotSchema } from './contract/archived-lot.js';
import { statisticSchema } from './contract/statistic.js';
import { vehicleSchema } from './contract/vehicle.js';

/** A list of the service that lotlake lands: where it is and what one record looks like. */
export interface Stream {
  readonly name: StreamName;
  /** Path below the base URL. */
  readonly path: string;
  readonly schema: z.core.$ZodType;
  /** Member that names a record. */
  readonly idField: string;
  /** Largest page the service gives (service.md, limits). */
  readonly maxPerPage: number;
  /** A service that answers 404 here is reported and the stream skipped. */
  readonly optional: boolean;
  /** The list is sorted by id, ascending. */
  readonly ascending: boolean;
}

export type StreamName = 'cars' | 'archived_lots' | 'statistics';

/** The streams of the nightly job, in the order in which they are extracted. */
export const streams: Readonly<Record<StreamName, Stream>> = {
  cars: {
    name: 'cars',
    path: '/cars',
    schema: vehicleSchema,
    idField: 'id',
    maxPerPage: 1000,
    optional: false,
    ascending: true,
  },
  archived_lots: {
    name: 'archived_lots',
    path: '/archived-lots',
    schema: archivedLotSchema,
    idField: 'lot_id',
    maxPerPage: 1000,
    optional: true,
    ascending: false,
  },
  statistics: {
    name: 'statistics',
    path: '/statistics',
    schema: statisticSchema,
    idField: 'id',
    maxPerPage: 500,
    optional: true,
    ascending: false,
  },
};
