import type { z } from 'zod';
import { contractOf } from './contract/node.js';
import { schemas } from './contract/records.js';
import { pageSizes } from './limits.js';
import { requests } from './requests.js';

/** A stream of records that lotlake lands: what one record looks like and how its lists are paged. */
export type Stream = Readonly<ReturnType<typeof stream<StreamName>>>;

const stream = <N extends string>(
  name: N,
  schema: z.ZodObject,
  request: Pick<(typeof requests)[keyof typeof requests], 'from' | 'path'>,
  more: Partial<{ maxPerPage: number; optional: boolean; ascending: boolean }> = {},
) => ({
  name,
  /** Path below the base URL; if a stream has several lists, the part that they share. */
  path: request.path.replace(/\/?[[{].*$/, ''),
  schema,
  /** The schema as a tree. */
  contract: contractOf(schema),
  /** Makes the request of a page, from parameters by the service's names. */
  request,
  /** Largest page the service gives (service.md#limits); undefined if a list takes no page size. */
  maxPerPage: more.maxPerPage,
  /** If the service answers 404, the stream is skipped with a warning. */
  optional: more.optional ?? true,
  /** The list is sorted by id, ascending. */
  ascending: more.ascending ?? false,
});

const table = {
  cars: stream('cars', schemas.vehicle, requests.cars, {
    maxPerPage: pageSizes.cars.most,
    optional: false,
    ascending: true,
  }),
  archived_lots: stream('archived_lots', schemas.archived_lot, requests.archivedLots, {
    maxPerPage: pageSizes.archivedLots.most,
  }),
  statistics: stream('statistics', schemas.statistic, requests.statistics, {
    maxPerPage: pageSizes.statistics.most,
  }),
  manufacturers: stream('manufacturers', schemas.manufacturer, requests.manufacturers),
  models: stream('models', schemas.model, requests.models),
  generations: stream('generations', schemas.generation, requests.generations),
  damages: stream('damages', schemas.damage, requests.damages),
  states: stream('states', schemas.state, requests.states),
  cities: stream('cities', schemas.city, requests.cities),
  titles: stream('titles', schemas.title, requests.titles),
  duplicates: stream('duplicates', schemas.duplicate, requests.koreaDuplicates, {
    maxPerPage: pageSizes.duplicates.most,
  }),
  default_options: stream('default_options', schemas.default_option, requests.koreaOptions),
};

/** Name of a stream; it names a folder of landing. */
export type StreamName = keyof typeof table;

export const streamNames = Object.keys(table) as readonly StreamName[];

export const streams: Readonly<Record<StreamName, Stream>> = table;
