import type { DuckDBConnection } from '@duckdb/node-api';
import { rows } from '../duck/session.js';
import { label, type Maybe, maybe, source } from './format.js';
import { dateOf } from './read-market.js';

/** Lots of a source at the end of a day. */
export interface InventoryDay {
  readonly source: string;
  readonly day: Date;
  readonly active: number;
  readonly arrived: Maybe;
  readonly archived: number;
  readonly returned: number;
  readonly relisted: number;
}

/** Lots by day and source, the last 90 days. */
export async function readInventory(connection: DuckDBConnection): Promise<readonly InventoryDay[]> {
  const found = await rows(
    connection,
    `select * from inventory_daily
     where day > (select max(day) from inventory_daily) - interval 90 day
     order by domain_id, day`,
  );
  return found.map((row) => ({
    source: source(row.domain_name),
    day: dateOf(row.day),
    active: Number(row.active_lots),
    arrived: maybe(row.new_lots),
    archived: Number(row.archived_lots),
    returned: Number(row.returned_lots),
    relisted: Number(row.relisted_lots),
  }));
}

/** How long the lots of a model stand until they are sold. */
export interface Waiting {
  readonly name: string;
  readonly lots: number;
  readonly timed: number;
  readonly low: Maybe;
  readonly median: Maybe;
  readonly high: Maybe;
  readonly open: number;
  readonly openMedian: Maybe;
}

/** The models and sources with most timed sales. */
export async function readWaiting(connection: DuckDBConnection): Promise<readonly Waiting[]> {
  const found = await rows(
    connection,
    `select * from time_to_sale
     where days_median is not null
     order by timed_lots desc, domain_id, manufacturer_id, model_id
     limit 12`,
  );
  return found.map((row) => ({
    name: `${label(row.manufacturer_name, 24)} ${label(row.model_name, 24)}, ${source(row.domain_name)}`,
    lots: Number(row.lots_sold),
    timed: Number(row.timed_lots),
    low: maybe(row.days_p25),
    median: maybe(row.days_median),
    high: maybe(row.days_p75),
    open: Number(row.open_lots),
    openMedian: maybe(row.open_days_median),
  }));
}

/** What becomes of lots at one attempt. */
export interface Attempt {
  readonly source: string;
  readonly attempt: number;
  readonly reached: number;
  readonly sold: number;
  /** Sales that did not hold, because the vehicle was offered again as another lot. */
  readonly offeredAgain: number;
  readonly share: Maybe;
  readonly compared: number;
  readonly ratioToFirst: Maybe;
}

/** The first six attempts at each source. */
export async function readAttempts(connection: DuckDBConnection): Promise<readonly Attempt[]> {
  const found = await rows(
    connection,
    'select * from relisting where attempt <= 6 order by attempt, domain_id',
  );
  return found.map((row) => ({
    source: source(row.domain_name),
    attempt: Number(row.attempt),
    reached: Number(row.lots_reached),
    sold: Number(row.lots_sold),
    offeredAgain: Number(row.offered_again_lots),
    share: maybe(row.sold_share),
    compared: Number(row.compared_lots),
    ratioToFirst: maybe(row.price_ratio_to_first_median),
  }));
}
