import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { literal, scalar } from '../duck/session.js';
import { filesRelation, globRelation } from '../lake/files.js';
import type { MergeContext } from './context.js';
import {
  baseRelation,
  CLAIMS,
  currentRows,
  REPEATED,
  rejectedLots,
  rejectedVehicles,
  schemaOf,
  timestamp,
  UNCHANGED,
} from './staged.js';
import { parquetOf } from './write.js';

/** The sightings as they are after this run. */
export const sightings = ({ target }: MergeContext): string => globRelation(target, 'sightings', false);

/**
 * Writes when the record of each vehicle and of each lot was last delivered and loaded, this run included. A record that
 * came unchanged counts as seen, with the lots that came with it the last time. One that was rejected, or whose source
 * was refused to the key, or that no page held, does not. It is a small table of its own, so that no row of a lot
 * changes because it was seen; vehicles and lots are a file each, and so half of it is worked on at a time.
 */
export async function writeSightings(context: MergeContext): Promise<void> {
  const folder = join(context.target, 'sightings');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { connection } = context;
  const copy = (number: number, rows: string): Promise<unknown> =>
    connection.run(
      `copy (${rows} order by vehicle_id, lot_id) to ${literal(join(folder, `data_${number}.parquet`))} (${parquetOf('sightings', context)})`,
    );
  await copy(0, vehicleSightings(context));
  await copy(1, lotSightings(context));
}

/** View on the sightings of the last state. */
const KNOWN = '_known_sightings';

/**
 * Notes the lots that a vehicle listed in this run while another one did so, or had it before: the lot is the one's that
 * came last, unchanged or not, and on one page the one's with the greater id.
 * @returns how many such lots there are
 */
export async function findContestedLots(context: MergeContext): Promise<number> {
  const { connection } = context;
  const staged = currentRows(context, 'lots', NO_LOTS);
  await connection.run(`
    create or replace table ${CLAIMS} as
    with contested as (
      select lot_id from ${staged} group by lot_id having min(vehicle_id) <> max(vehicle_id)
      union
      select s.lot_id from ${staged} as s join ${KNOWN} as k on k.lot_id = s.lot_id and k.vehicle_id <> s.vehicle_id
    ),
    known as (
      select lot_id, vehicle_id, seen_at from ${KNOWN} where lot_id in (select lot_id from contested)
    ),
    owners as (
      select vehicle_id, seen_at from ${KNOWN} where lot_id is null and vehicle_id in (select vehicle_id from known)
    ),
    claims as (
      select lot_id, vehicle_id, _seq from ${staged} where lot_id in (select lot_id from contested)
      union all
      -- the record that came unchanged lists the lot if it did so when it was loaded
      select k.lot_id, k.vehicle_id, coalesce(u._seq, -1)
      from known as k
      left join owners as o on o.vehicle_id = k.vehicle_id and o.seen_at = k.seen_at
      left join ${UNCHANGED} as u on u.vehicle_id = o.vehicle_id
    ),
    last_claims as (
      select lot_id, vehicle_id, max(_seq) as _seq from claims group by lot_id, vehicle_id
    )
    select lot_id, vehicle_id,
      row_number() over (partition by lot_id order by _seq desc, vehicle_id desc) > 1 as is_lost
    from last_claims`);
  return scalar(connection, `select count(*) from ${CLAIMS}`);
}

/** Stands for a receipt after every page of this run. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Notes the vehicles that another run has seen after the pass of this one began: a pass that was left and gone on with
 * may hold older records of them than the lake. They count as come unchanged, after all that was staged of them.
 * @returns how many there are
 */
export async function findOvertakenVehicles(context: MergeContext): Promise<number> {
  const { connection, evidence } = context;
  await connection.run(`create or replace view ${KNOWN} as from ${knownSightings(context)}`);
  // Nobody else works while a pass that began in this run goes on: a later sighting is that of a clock that was wrong.
  if (!evidence.isResumed) return 0;
  const newer = `select vehicle_id from ${KNOWN} where lot_id is null and seen_at > ${timestamp(evidence.seenAt)}`;
  const overtaken = await scalar(connection, `select count(*) from (${newer})`);
  if (overtaken === 0) return 0;
  for (const table of [UNCHANGED, REPEATED])
    await connection.run(`
      create or replace table ${table} as
      select vehicle_id, _seq from ${table} where vehicle_id not in (${newer})
      union all select vehicle_id, ${AFTER_ALL} from (${newer})`);
  return overtaken;
}

const NO_LOTS = 'cast(null as bigint) as vehicle_id, cast(null as bigint) as lot_id, 0 as _seq';

function vehicleSightings(context: MergeContext): string {
  const staged = currentRows(context, 'vehicles', 'cast(null as bigint) as vehicle_id');
  return `
    with came as (select vehicle_id from ${staged} union select vehicle_id from ${UNCHANGED})
    select coalesce(c.vehicle_id, k.vehicle_id) as vehicle_id, cast(null as bigint) as lot_id,
      ${lastSeen(context, 'c.vehicle_id is not null', `k.vehicle_id in (${rejectedVehicles(context)})`)}
    from (from ${KNOWN} where lot_id is null) as k
    full join came as c on c.vehicle_id = k.vehicle_id`;
}

function lotSightings(context: MergeContext): string {
  const isRejected = `k.vehicle_id in (${rejectedVehicles(context)}) or k.lot_id in (${rejectedLots(context)})`;
  return `
    with came as (
      select lot_id, max(vehicle_id) as vehicle_id from ${currentRows(context, 'lots', NO_LOTS)} group by lot_id
    ),
    came_unchanged as (
      select u.vehicle_id, k.seen_at
      from ${UNCHANGED} as u join ${KNOWN} as k on k.vehicle_id = u.vehicle_id and k.lot_id is null
    )
    select coalesce(c.vehicle_id, k.vehicle_id) as vehicle_id, coalesce(c.lot_id, k.lot_id) as lot_id,
      ${lastSeen(context, 'c.lot_id is not null or u.vehicle_id is not null', isRejected)}
    from (from ${KNOWN} where lot_id is not null) as k
    full join came as c on c.lot_id = k.lot_id
    left join came_unchanged as u on u.vehicle_id = k.vehicle_id and u.seen_at = k.seen_at`;
}

/** Columns of a sighting `k` that is known, or of one that is new. */
function lastSeen({ evidence }: MergeContext, isSeen: string, isRejected: string): string {
  const seenAt = timestamp(evidence.seenAt);
  const isNews = evidence.isResumed ? `(${isSeen}) and coalesce(k.seen_at <= ${seenAt}, true)` : isSeen;
  return `
      case when ${isNews} then ${seenAt} else k.seen_at end as seen_at,
      case when ${isNews} then ${literal(evidence.kind)} else k.seen_by end as seen_by,
      case when ${isSeen} then null when ${isRejected} then ${seenAt} else k.rejected_at end as rejected_at,
      case when ${isSeen} then ${literal(evidence.runId)} else k.run_id end as run_id`;
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
