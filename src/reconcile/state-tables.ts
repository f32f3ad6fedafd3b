import { identifier, literal } from '../duck/session.js';
import { globRelation } from '../lake/files.js';
import { partitionColumns } from '../lake/partition.js';
import { REJECTED } from '../lake/schema.js';
import type { Evidence, MergeContext } from './context.js';
import { sightings } from './sightings.js';
import {
  baseRelation,
  currentRows,
  isStaged,
  rejectedLots,
  rejectedVehicles,
  schemaOf,
  stagedFiles,
  stagedRelation,
  timestamp,
  UNCHANGED,
} from './staged.js';

/** Lots that the archive feed of this run names, with the last time each was archived. */
const FEED = '_archive_feed';

/** Lots of the last state that this run shows to be gone. */
const ABSENT_LOTS = '_absent_lots';

/**
 * Prepares what lots and vehicles are compared with: lots named by the archive feed, and lots that are absent.
 * Only a complete full pass shows absence, and only for sources that it asked for, that the key had all the while and
 * that it got records of: of a lot whose vehicle came without it, or whose vehicle did not come; a vehicle whose record
 * was rejected counts as present. A feed without any lot lacks the lots of every source, so that the guard sees it.
 */
export async function prepareState(context: MergeContext): Promise<void> {
  const { connection, evidence } = context;
  const feed = isStaged(context, 'archived_lots')
    ? `select lot_id, max(archived_at) as archived_at from ${stagedFiles(context, 'archived_lots')} group by lot_id`
    : 'select cast(null as bigint) as lot_id, cast(null as timestamptz) as archived_at where false';
  await connection.run(`create or replace table ${FEED} as ${feed}`);

  const lots = schemaOf(context, 'lots');
  const active = `select lot_id, vehicle_id, domain_id, changed_at from ${baseRelation(context, lots)} where not coalesce(archived, false)`;
  const hasCome = isStaged(context, 'vehicles') || context.unchanged.length > 0;
  if (!hasCome || !evidence.carsComplete) {
    await connection.run(`create or replace table ${ABSENT_LOTS} as
      select lot_id, domain_id, cast(null as varchar) as reason from (${active}) where false`);
    return;
  }
  const delivered = currentRows(context, '_delivered_vehicles', NO_DELIVERED);
  const lotRows = currentRows(context, 'lots', NO_LOTS);
  await connection.run(`
    create or replace table ${ABSENT_LOTS} as
    with active as (${active}),
    delivered as (select vehicle_id, bool_or(lots) as lots from ${delivered} group by vehicle_id),
    staged as (select distinct lot_id from ${lotRows}),
    sources as (
      select domain_id from ${lotRows} where domain_id is not null
      union select domain_id from active where vehicle_id in (select vehicle_id from ${UNCHANGED})
    ),
    rejected as (${rejectedVehicles(context)}),
    present as (select lot_id from staged union all ${rejectedLots(context)})
    select o.lot_id, o.domain_id,
      case when d.vehicle_id is not null then 'vehicle' else 'feed' end as reason
    from active as o
    left join delivered as d on d.vehicle_id = o.vehicle_id
    where o.lot_id not in (select lot_id from present)
      and o.vehicle_id not in (select vehicle_id from ${UNCHANGED})
      and (o.domain_id in (select domain_id from sources) or not exists (select 1 from sources)) and ${isSpokenFor(evidence, 'o.domain_id')}
      and (
        coalesce(d.lots, false)
        or (
          d.vehicle_id is null
          and o.vehicle_id not in (select vehicle_id from rejected)
          and ${isProven(context, 'o.vehicle_id')}
        )
      )`);
}

/** SQL that says whether the pass speaks for a source, as far as what it asked for and what the key has tell. */
function isSpokenFor({ sources, hidden }: Evidence, domain: string): string {
  const asked = sources === undefined ? [] : [`${domain} in (${sources.join(', ')})`];
  const shown = hidden.length === 0 ? [] : [`${domain} not in (${hidden.join(', ')})`];
  return [...asked, ...shown, 'true'].join(' and ');
}

/** How many active lots of each source a run would archive for absence. */
export interface Shrink {
  readonly domainId: number | null;
  readonly absent: number;
  readonly active: number;
}

/** The share of each source's active lots that would be archived for absence. */
export async function measureShrink(context: MergeContext): Promise<Shrink[]> {
  const lots = schemaOf(context, 'lots');
  const result = await context.connection.runAndReadAll(`
    select domain_id, count(*) filter (where lot_id in (select lot_id from ${ABSENT_LOTS})), count(*)
    from ${baseRelation(context, lots)} where not coalesce(archived, false) group by domain_id order by domain_id`);
  return result.getRows().map((row) => ({
    domainId: row[0] === null ? null : Number(row[0]),
    absent: Number(row[1]),
    active: Number(row[2]),
  }));
}

/**
 * The lots as they are after this run, where this run says anything about them: delivered lots, absent lots and lots
 * that the archive feed names. What the feed says of archiving (`archived`, or `archived_at` alone) stands until the feed
 * says otherwise; a lot that was archived for another reason is active again when a pass lists it.
 */
export async function effectiveLots(context: MergeContext): Promise<string> {
  const { evidence } = context;
  const schema = schemaOf(context, 'lots');
  const content = [...schema.content, REJECTED].map((column) => identifier(column.name));
  const seen = timestamp(evidence.seenAt);
  const old = baseRelation(context, schema);
  const parts: string[] = [];
  if (isStaged(context, 'lots')) {
    const staged = await stagedRelation(context, schema);
    // A run that ended since this pass began may have read of it already.
    const named = evidence.isResumed
      ? "greatest(f.archived_at, case when o.archived_by = 'archive-feed' then o.archived_at end)"
      : 'f.archived_at';
    const stands = evidence.fromFeed ? "(o.archived and o.archived_by = 'feed')" : 'o.archived';
    parts.push(`
      select ${content.map((name) => `n.${name}`).join(', ')},
        by_feed or by_archive as archived,
        case when by_feed then coalesce(n._archived_at, o_archived_at, ${seen}) when by_archive then f_archived_at end as archived_at,
        case when by_feed then case when n._archived then 'feed' else coalesce(o_archived_by, 'feed') end when by_archive then 'archive-feed' end as archived_by,
        case when by_feed or by_archive then coalesce(o_last_seen_at, ${seen}) end as last_seen_at, n._domain, n._month
      from (
        select n.*,
          coalesce(n._archived, ${stands}, false) as by_feed,
          coalesce(${named} > ${seen}, false) as by_archive,
          case when ${stands} then o.archived_at end as o_archived_at,
          case when ${stands} then o.archived_by end as o_archived_by,
          case when o.archived then o.last_seen_at end as o_last_seen_at,
          ${named} as f_archived_at
        from ${staged} as n
        left join (select lot_id, archived, archived_by, archived_at, last_seen_at from ${old}) as o on o.lot_id = n.lot_id
        left join ${FEED} as f on f.lot_id = n.lot_id
      ) as n`);
  }
  if (context.base !== undefined) {
    const notStaged = isStaged(context, 'lots')
      ? `o.lot_id not in (select lot_id from ${currentRows(context, 'lots', NO_LOTS)})`
      : 'true';
    // Found by their ids first: their rows are wide.
    parts.push(`
      select ${content.map((name) => `o.${name}`).join(', ')},
        true as archived,
        case when e.is_named then e.named_at else ${seen} end as archived_at,
        case when e.is_named then 'archive-feed' else 'absence' end as archived_by,
        e.seen_at as last_seen_at${partitionColumns(schema.table, 'o')}
      from ${old} as o
      join (
        select o.lot_id, s.seen_at, f.archived_at as named_at, coalesce(f.archived_at > s.seen_at, false) as is_named
        from (select lot_id from ${old} where not coalesce(archived, false)) as o
        left join ${sightings(context)} as s on s.lot_id = o.lot_id
        left join ${FEED} as f on f.lot_id = o.lot_id
        left join ${ABSENT_LOTS} as a on a.lot_id = o.lot_id
        where ${notStaged} and (a.lot_id is not null or f.archived_at > s.seen_at)
      ) as e on e.lot_id = o.lot_id`);
  }
  return `(${parts.join('\nunion all\n')})`;
}

/**
 * The vehicles as they are after this run, where this run says anything about them. A vehicle that did not come is
 * archived with the last of its lots. Where no lot was archived in this run, the feed may still list the vehicle: only
 * its absence from a complete full pass, outside the unproven ranges, archives it. One without lots is archived only by
 * its absence from a complete full pass over all sources, and a lookup leaves it as it was. Needs the lots of the new
 * snapshot.
 */
export async function effectiveVehicles(context: MergeContext): Promise<string> {
  const { evidence } = context;
  const schema = schemaOf(context, 'vehicles');
  const content = [...schema.content, REJECTED].map((column) => identifier(column.name));
  const seen = timestamp(evidence.seenAt);
  const parts: string[] = [];
  const isDelivered = isStaged(context, 'vehicles');
  const lots = lotsByVehicle(context);
  if (isDelivered) {
    const isArchived = evidence.fromFeed ? 'false' : 'coalesce(l.all_archived, o.archived, false)';
    const state = ['archived_at', 'archived_by', 'last_seen_at'].map((column) => {
      const known = evidence.fromFeed ? `l.${column}` : `coalesce(l.${column}, o.${column})`;
      return `case when ${isArchived} then ${known} end as ${column}`;
    });
    const was = `left join ${baseRelation(context, schema)} as o on o.vehicle_id = n.vehicle_id`;
    parts.push(`
      select ${content.map((name) => `n.${name}`).join(', ')}, ${isArchived} as archived, ${state.join(', ')}
      from ${await stagedRelation(context, schema)} as n
      left join ${lots} as l on l.vehicle_id = n.vehicle_id
      ${evidence.fromFeed ? '' : was}`);
  }
  if (context.base !== undefined) {
    const unchanged = `select vehicle_id from ${UNCHANGED}`;
    const delivered = isDelivered
      ? `${unchanged} union all select vehicle_id from ${stagedFiles(context, 'vehicles')}`
      : unchanged;
    const isLacked = evidence.carsComplete ? isProven(context, 'o.vehicle_id') : 'false';
    parts.push(`
      select ${content.map((name) => `o.${name}`).join(', ')}, true as archived,
        coalesce(l.archived_at, ${seen}) as archived_at, coalesce(l.archived_by, 'absence') as archived_by,
        coalesce(l.last_seen_at, s.seen_at) as last_seen_at
      from ${baseRelation(context, schema)} as o
      left join (from ${sightings(context)} where lot_id is null) as s on s.vehicle_id = o.vehicle_id
      left join ${lots} as l on l.vehicle_id = o.vehicle_id
      where not coalesce(o.archived, false) and o.vehicle_id not in (${delivered})
        and o.vehicle_id not in (${rejectedVehicles(context)})
        and (
          (l.all_archived and l.is_news)
          or (${isLacked} and (l.all_archived or (l.vehicle_id is null and ${evidence.sources === undefined})))
        )`);
  }
  return `(${parts.join('\nunion all\n')})`;
}

const NO_LOTS = 'cast(null as bigint) as lot_id, cast(null as bigint) as domain_id';
const NO_DELIVERED = 'cast(null as bigint) as vehicle_id, false as lots';

/** SQL that says whether the pass proves anything about a vehicle. */
function isProven(context: MergeContext, id: string): string {
  const ranges = context.evidence.unproven.map(([low, high]) => `{low: ${low}, high: ${high}}`);
  if (ranges.length === 0) return 'true';
  return `not exists (select 1 from (select unnest([${ranges.join(', ')}], max_depth := 2)) as r where ${id} > r.low and ${id} < r.high)`;
}

/** What the lots of the new snapshot say of their vehicles. */
function lotsByVehicle(context: MergeContext): string {
  return `(
    select vehicle_id, bool_and(coalesce(archived, false)) as all_archived, max(archived_at) as archived_at,
      bool_or(run_id = ${literal(context.evidence.runId)}) as is_news,
      max_by(archived_by, archived_at) as archived_by, max(last_seen_at) as last_seen_at
    from ${globRelation(context.target, 'lots', true)} group by vehicle_id
  )`;
}
