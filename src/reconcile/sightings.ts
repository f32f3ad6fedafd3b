import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesRelation } from '../lake/files.js';
import { literal } from '../lake/session.js';
import type { MergeContext } from './context.js';
import {
  baseRelation,
  currentRows,
  rejectedLots,
  rejectedVehicles,
  schemaOf,
  timestamp,
  UNCHANGED,
} from './staged.js';
import { PARQUET } from './write.js';

/** Table with the rows of `sightings` as they are after this run. */
export const SIGHTINGS = '_sightings';

/**
 * Notes when the record of each vehicle and of each lot was last delivered and loaded, this run included. A record that
 * came unchanged counts as seen, with the lots that came with it the last time. One that was rejected, or whose source
 * was refused to the key, or that no page held, does not.
 */
export async function prepareSightings(context: MergeContext): Promise<void> {
  const { evidence } = context;
  const seenAt = timestamp(evidence.seenAt);
  const noLots = 'cast(null as bigint) as vehicle_id, cast(null as bigint) as lot_id, 0 as _seq';
  const noVehicles = 'cast(null as bigint) as vehicle_id, 0 as _seq';
  await context.connection.run(`
    create or replace table ${SIGHTINGS} as
    with known as (
      select *, case when lot_id is null then vehicle_id end as own_id from ${knownSightings(context)}
    ),
    delivered as (
      select vehicle_id, lot_id, _seq from ${currentRows(context, 'lots', noLots)}
      union all
      select vehicle_id, null, _seq from ${currentRows(context, 'vehicles', noVehicles)}
      union all
      select k.vehicle_id, k.lot_id, u._seq
      from known as k
      join ${UNCHANGED} as u on u.vehicle_id = k.vehicle_id
      join known as own on own.own_id = k.vehicle_id
      where k.seen_at = own.seen_at
    ),
    seen as (
      -- a lot that two vehicles list is the one's that came last
      select lot_id, case when lot_id is null then vehicle_id end as own_id, max_by(vehicle_id, _seq) as vehicle_id
      from delivered
      group by all
    )
    select
      coalesce(s.vehicle_id, k.vehicle_id) as vehicle_id,
      coalesce(s.lot_id, k.lot_id) as lot_id,
      case when s.vehicle_id is null then k.seen_at else ${seenAt} end as seen_at,
      case when s.vehicle_id is null then k.seen_by else ${literal(evidence.kind)} end as seen_by,
      case
        when s.vehicle_id is not null then null
        when k.vehicle_id in (${rejectedVehicles(context)}) or k.lot_id in (${rejectedLots(context)}) then ${seenAt}
        else k.rejected_at
      end as rejected_at,
      case when s.vehicle_id is null then k.run_id else ${literal(evidence.runId)} end as run_id
    from seen as s
    full join known as k on k.lot_id is not distinct from s.lot_id and k.own_id is not distinct from s.own_id`);
}

/** The sightings of the last state; a lake from before they were kept knows when a row last changed. */
function knownSightings(context: MergeContext): string {
  const stored = context.base?.manifest.tables.sightings;
  if (context.base !== undefined && stored !== undefined)
    return filesRelation(context.base.folder, stored.files, false);
  const from = (table: 'lots' | 'vehicles', lotId: string): string => `
    select vehicle_id, ${lotId} as lot_id, coalesce(last_seen_at, changed_at) as seen_at,
      cast(null as varchar) as seen_by, cast(null as timestamptz) as rejected_at, run_id
    from ${baseRelation(context, schemaOf(context, table))}`;
  return `(${from('lots', 'lot_id')} union all ${from('vehicles', 'null')})`;
}

/** Writes the sightings into the new snapshot: a small table, so that no row of a lot changes because it was seen. */
export async function writeSightings({ connection, target }: MergeContext): Promise<void> {
  const folder = join(target, 'sightings');
  mkdirSync(folder, { recursive: true });
  await connection.run(
    `copy (from ${SIGHTINGS} order by vehicle_id, lot_id nulls first) to ${literal(join(folder, 'data_0.parquet'))} (${PARQUET})`,
  );
  await connection.run(`drop table ${SIGHTINGS}`);
}
