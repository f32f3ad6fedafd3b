import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { makeFolder, writeNew } from '../../base/config/owned.js';
import { identifier, literal, rows, sameKey, scalar } from '../../base/duck/session.js';
import type { BaseState } from '../lake/base.js';
import { filesRelation, writtenRelation } from '../lake/files.js';
import { partitionColumns } from '../lake/partition.js';
import { type Column, REJECTED, type TableSchema } from '../lake/schema.js';
import { isStaged, REJECT_COLUMNS, rejectsRelation, stagedFiles } from '../load/staged.js';
import { baseRelation, emptyOf, isInMemory, type MergeContext, PARTITION, READ_OFTEN } from './relations.js';

/** Schemas of the relations that the rules read. `run` holds what the run knows and what its rules find out. */
const SCHEMAS = ['base', 'stage', 'counted', 'next', 'run'] as const;

/** Tables that rules read even if no row of them was staged. */
export const OF_RULES: ReadonlySet<string> = new Set(['lots', 'vehicles', 'archived_lots']);

/** Columns of the staged relations that say which lists came with each vehicle and lot; see `sql/members`. */
export const MEMBERS = {
  vehicle_members:
    'vehicle_id bigint, lots boolean, listings boolean, inspections boolean, vehicle_history_reports boolean, reports boolean, _seq integer',
  lot_members: 'lot_id bigint, vehicle_id bigint, prices boolean, images boolean, _seq integer',
} as const;

/** Columns of the staged rows of a table. */
export function stagedColumns({ table, staged }: Pick<TableSchema, 'table' | 'staged'>): readonly Column[] {
  return table.wide === undefined ? staged : [...staged, ...PARTITION];
}

/** Binds what the rules read: the last snapshot as `base`, the staged rows as `stage`, and what the run knows as `run`. */
export async function bindState(context: MergeContext): Promise<void> {
  const { connection, schemas, stage } = context;
  await createSchemas(connection);
  for (const schema of schemas.values()) {
    const { name } = schema.table;
    if (!OF_RULES.has(name) && !isStaged(stage, name)) continue;
    const kind = isInMemory(context, name) ? 'table' : 'view';
    await connection.run(`create ${kind} base.${name} as from ${baseRelation(context, schema)}`);
    const staged = isStaged(stage, name)
      ? `from ${stagedFiles(stage, name)}`
      : emptyOf(stagedColumns(schema));
    await connection.run(`create view stage.${name} as ${staged}`);
  }
  for (const [name, columns] of Object.entries(MEMBERS))
    await connection.run(
      isStaged(stage, name)
        ? `create view stage.${name} as from ${stagedFiles(stage, name)}`
        : `create table stage.${name} (${columns})`,
    );
  await connection.run(`create view base.sightings as from ${knownSightings(context)}`);
  await bindRun(context);
}

/** Drops the schemas of the rules and creates them again. */
export async function createSchemas(connection: DuckDBConnection): Promise<void> {
  for (const name of SCHEMAS)
    await connection.run(`drop schema if exists ${name} cascade; create schema ${name}`);
}

/** Columns of the relations of `run` that are bound here. Rules compute the others. */
export const RUN_RELATIONS = {
  facts:
    'run_id varchar, seen_at timestamptz, kind varchar, is_resumed boolean, is_from_feed boolean, proves_absence boolean, asks_all_sources boolean, shrink_guard double, is_carried boolean',
  sources: 'domain_id bigint',
  hidden_sources: 'domain_id bigint',
  unproven: 'low bigint, high bigint',
  complete_streams: 'stream varchar',
  pages: 'seq bigint, list varchar',
  unchanged_records: 'vehicle_id bigint, seq bigint',
} as const;

/** Binds what the passes of the run prove. A pass without records proves nothing: no feed is empty. */
async function bindRun({ connection, stage, passes, ...run }: MergeContext): Promise<void> {
  makeFolder(stage);
  const records = passes.map(({ record }) => record);
  const cars = records.find(({ stream }) => stream === 'cars');
  const kind = cars?.kind ?? 'full';
  const sources = cars?.sources ?? null;
  const isWalked = sources === null ? cars?.complete === true : sources.length > 0;
  const completeStreams = records.filter((pass) => pass.kind === 'full' && pass.complete && pass.records > 0);
  // Lookups ask for single vehicles, and their last answer counts.
  const lists = passes.filter(({ record: { stream, kind } }) => stream === 'cars' && kind !== 'lookup');
  const facts = {
    run_id: run.runId,
    seen_at: run.seenAt,
    kind,
    is_resumed: run.seenAt < run.startedAt,
    is_from_feed: kind !== 'lookup',
    proves_absence: kind === 'full' && (cars?.records ?? 0) > 0 && isWalked,
    asks_all_sources: sources === null,
    shrink_guard: run.shrinkGuard,
    is_carried: false,
  };
  const bind = async (
    name: keyof typeof RUN_RELATIONS,
    rows: readonly Readonly<Record<string, unknown>>[],
  ) => {
    await connection.run(`create table run.${name} (${RUN_RELATIONS[name]})`);
    const columns = Object.keys(rows[0] ?? {});
    const tuples = rows.map((row) => `(${columns.map((column) => literal(String(row[column]))).join(', ')})`);
    if (tuples.length > 0)
      await connection.run(`insert into run.${name} (${columns.join(', ')}) values ${tuples.join(', ')}`);
  };
  await bind('facts', [facts]);
  await bind(
    'sources',
    (sources ?? []).map((domain_id) => ({ domain_id })),
  );
  await bind(
    'hidden_sources',
    (cars?.hidden ?? []).map((domain_id) => ({ domain_id })),
  );
  await bind(
    'unproven',
    (cars?.unproven ?? []).map(([low, high]) => ({ low, high })),
  );
  await bind(
    'complete_streams',
    completeStreams.map(({ stream }) => ({ stream })),
  );
  await bind(
    'pages',
    lists.flatMap((pass) => [...pass.lists].map(([seq, list]) => ({ seq, list }))),
  );
  // A file, because a statement with millions of values is too long.
  const file = join(stage, 'unchanged.csv');
  const unchanged = passes.flatMap(({ unchangedIds }) => [...unchangedIds]);
  const blocks = unchanged.map(([seq, ids]) => ids.map((id) => `${id},${seq}\n`).join(''));
  writeNew(file, blocks.join(''));
  await connection.run(
    `create view run.unchanged_records as from read_csv(${literal(file)}, auto_detect = false, hive_partitioning = false, columns = {vehicle_id: 'BIGINT', seq: 'BIGINT'})`,
  );
  const rejects = isStaged(stage, 'rejects')
    ? `from ${rejectsRelation(stage, run.mostRecordBytes)}`
    : emptyOf(REJECT_COLUMNS);
  await connection.run(`create view run.rejects as ${rejects}`);
}

/**
 * Binds `counted`: the staged rows that count, without outdated receipts and lots that another vehicle keeps, with the
 * last good value in place of each rejected one. Lots and vehicles have one row per key, the last received.
 * @param schemas the tables that have a relation in `base` and in `stage`
 */
export async function bindCounted(
  connection: DuckDBConnection,
  schemas: readonly TableSchema[],
): Promise<void> {
  const mayLack = await scalar(connection, 'select count(*) from run.rejects where table_name is not null');
  const counting = (name: string, columns: readonly string[]): string => {
    const outdated = 'anti join run.outdated_receipts as r on r.vehicle_id = s.vehicle_id and r.seq = s._seq';
    const lost =
      'anti join (from run.lot_claims where is_lost) as c on c.lot_id = s.lot_id and c.vehicle_id = s.vehicle_id';
    return `(select s.* from stage.${name} as s ${columns.includes('vehicle_id') ? outdated : ''} ${columns.includes('lot_id') ? lost : ''})`;
  };
  for (const [name, columns] of Object.entries(MEMBERS))
    await connection.run(
      `create or replace view counted.${name} as from ${counting(name, columns.split(/[\s,]+/))}`,
    );
  for (const schema of schemas) {
    const { table } = schema;
    const columns = schema.content.map(({ name }) => name);
    const source = table.stream === 'cars' ? counting(table.name, columns) : `stage.${table.name}`;
    const placed =
      table.partition === undefined || table.wide !== undefined
        ? source
        : `(select s.*${partitionColumns(table, 's')} from ${source} as s)`;
    const lacking = mayLack > 0 ? await findLacking(connection, schema) : [];
    const filled = withLastGood(schema, placed, lacking);
    const rows = READ_OFTEN.has(table.name) ? await oncePerKey(connection, schema, filled) : filled;
    await connection.run(`create or replace view counted.${table.name} as from ${rows}`);
  }
}

/** Columns of a staged table whose values were rejected; none if the base has no rows. */
async function findLacking(connection: DuckDBConnection, { table }: TableSchema): Promise<string[]> {
  const found = await rows(
    connection,
    `select distinct r.name from stage.${table.name} as s, unnest(s.${REJECTED.name}) as r(name)
     where s.${REJECTED.name} is not null and exists (select 1 from base.${table.name})`,
  );
  return found.map(({ name }) => String(name)).sort();
}

/**
 * Staged rows with the last good value in place of each rejected one, if the base has the row: a rejected value is not a
 * change. A row with an unreadable month stays in its partition.
 */
function withLastGood({ table, content }: TableSchema, source: string, lacking: readonly string[]): string {
  if (lacking.length === 0) return source;
  const isLacking = (column: string): string => `list_contains(n.${REJECTED.name}, ${literal(column)})`;
  const columns = content.map(({ name }) => name).filter((name) => lacking.includes(name));
  const keep = (column: string): string => {
    const name = identifier(column);
    return `case when o.first_seen_at is not null and ${isLacking(column)} then o.${name} else n.${name} end as ${name}`;
  };
  const replaced = columns.length === 0 ? '' : `replace (${columns.map(keep).join(', ')})`;
  const isPartitioned = table.partition !== undefined;
  const lastMonth = `case when ${isLacking('month')} then o._month end as _last_month`;
  const filled = `select n.* ${replaced}${isPartitioned ? `, ${lastMonth}` : ''} from ${source} as n
    left join base.${table.name} as o on ${sameKey(table.key, 'o', 'n')} where n.${REJECTED.name} is not null`;
  const placed = isPartitioned
    ? `select * exclude (_last_month) replace (coalesce(_last_month, _month) as _month) from (
        select n.* exclude (_domain, _month)${partitionColumns(table, 'n')} from (${filled}) as n)`
    : filled;
  return `(select * from ${source} where ${REJECTED.name} is null union all by name ${placed})`;
}

/** Staged rows with one row for each key, the last received; the relation itself if no key repeats. */
export async function oncePerKey(
  connection: DuckDBConnection,
  { table, content }: TableSchema,
  relation: string,
): Promise<string> {
  const key = table.key.map(identifier).join(', ');
  const repeated = await scalar(
    connection,
    `select count(*) from (select ${key} from ${relation} group by all having count(*) > 1)`,
  );
  if (repeated === 0) return relation;
  const hasPosition = content.some((column) => column.name === 'position');
  return `(select * from ${relation}
    qualify row_number() over (partition by ${key} order by _seq desc${hasPosition ? ', position desc' : ''}) = 1)`;
}

/** Binds a table of the snapshot that is being written, once it is complete. */
export async function bindNext({ connection, schemas, target }: MergeContext, table: string): Promise<void> {
  const isPartitioned = schemas.get(table)?.table.partition !== undefined;
  const written = writtenRelation(target, table, isPartitioned);
  await connection.run(`create or replace view next.${table} as from ${written}`);
}

/** Columns of `base.price_estimates`: those of the mart that are kept, and when its snapshot was made. */
export const ESTIMATES =
  'lot_id bigint, domain_id bigint, is_offered boolean, price double, market varchar, currency varchar, estimate double, low_80 double, low_50 double, high_50 double, high_80 double, given_at timestamptz';

/** Binds the estimates of the last snapshot. Returns false if it has none, or older ones with other columns. */
export async function bindEstimates(
  { connection }: Pick<MergeContext, 'connection'>,
  { folder, manifest }: BaseState,
): Promise<boolean> {
  const mart = manifest.marts.price_estimates;
  const names = ESTIMATES.split(', ').map((column) => column.split(' ')[0] ?? '');
  const taken = names.filter((name) => name !== 'given_at');
  if (!taken.every((name) => mart?.columns.some((column) => column.name === name))) return false;
  await connection.run(
    `create or replace view base.price_estimates as
     select ${taken.join(', ')}, cast(${literal(manifest.created_at)} as timestamptz) as given_at
     from ${filesRelation(folder, mart?.files ?? [], false)}`,
  );
  return true;
}

/** The sightings of the last snapshot. An older lake has none: then `last_seen_at` counts, else the last change. */
function knownSightings(context: MergeContext): string {
  const stored = context.base?.manifest.tables.sightings;
  if (context.base !== undefined && stored !== undefined)
    return filesRelation(context.base.folder, stored.files, false);
  const from = (table: 'lots' | 'vehicles', lotId: string): string => `
    select vehicle_id, ${lotId} as lot_id, coalesce(last_seen_at, changed_at) as seen_at,
      cast(null as varchar) as seen_by, cast(null as timestamptz) as rejected_at, run_id
    from base.${table}`;
  return `(${from('lots', 'lot_id')} union all ${from('vehicles', 'null')})`;
}
