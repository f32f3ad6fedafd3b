import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { makeFolder, writeNew } from '../../base/config/owned.js';
import { identifier, literal, rows, sameKey, scalar } from '../../base/duck/session.js';
import type { BaseState } from '../lake/base.js';
import { filesRelation, writtenRelation } from '../lake/files.js';
import { partitionColumns } from '../lake/partition.js';
import { type Column, REJECTED, type TableSchema } from '../lake/schema.js';
import { isStaged, RECEIPT_BITS, REJECT_COLUMNS, rejectsRelation, stagedFiles } from '../lake/staged.js';
import {
  baseRelation,
  emptyOf,
  isInMemory,
  type MergeContext,
  PARTITION,
  READ_OFTEN,
  systemTable,
} from './relations.js';

/** Schemas of the relations that the rules read. `run` holds what the run knows and what its rules find out. */
const SCHEMAS = ['base', 'stage', 'counted', 'next', 'run'] as const;

/** Tables that rules read even if no row of them was staged. */
export const OF_RULES: ReadonlySet<string> = new Set(['lots', 'vehicles', 'archived_lots']);

/** Columns of the staged relations that say which lists came with each vehicle and lot; see `sql/members`. */
export const MEMBERS = {
  vehicle_members:
    'vehicle_id bigint, lots boolean, listings boolean, inspections boolean, vehicle_history_reports boolean, participants boolean, source_claims boolean, inspection_blocks boolean, checked_items boolean, measurements boolean, diagnostic_errors boolean, checks boolean, events boolean, details boolean, media boolean, limitations boolean, _seq bigint',
  lot_members: 'lot_id bigint, vehicle_id bigint, prices boolean, images boolean, _seq bigint',
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
    'run_id varchar, seen_at timestamptz, ended_at timestamptz, kind varchar, is_resumed boolean, is_from_feed boolean, proves_absence boolean, asks_all_sources boolean, shrink_guard double, is_carried boolean',
  sources: 'domain_id bigint',
  hidden_sources: 'domain_id bigint',
  unproven: 'low bigint, high bigint',
  complete_streams: 'stream varchar',
  unchanged_records: 'vehicle_id bigint, seq bigint',
  repeated_rows: 'table_name varchar, rows bigint',
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
  const ends = records.flatMap(({ ended_at }) => ended_at ?? []);
  const facts = {
    run_id: run.runId,
    seen_at: run.seenAt,
    ended_at: [...ends, run.startedAt].sort().at(-1),
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
  await bind('repeated_rows', []);
  // A file, because a statement with millions of values is too long.
  const file = join(stage, 'unchanged.csv');
  const unchanged = passes.flatMap(({ unchangedIds }) => [...unchangedIds]);
  const blocks = unchanged.map(([seq, ids]) => ids.map((id) => `${id},${seq}\n`).join(''));
  writeNew(file, blocks.join(''));
  await connection.run(
    `create view run.unchanged_records as select vehicle_id, seq << ${RECEIPT_BITS} as seq from read_csv(${literal(file)}, auto_detect = false, hive_partitioning = false, columns = {vehicle_id: 'BIGINT', seq: 'BIGINT'})`,
  );
  const rejects = isStaged(stage, 'rejects')
    ? `from ${rejectsRelation(stage, run.mostRecordBytes)}`
    : emptyOf(REJECT_COLUMNS);
  await connection.run(`create view run.rejects as ${rejects}`);
}

/**
 * Binds `counted`: the staged rows that count, with the last good value in place of each rejected one. All copies of a vehicle
 * count, but those of an overtaken one. A lot counts in the vehicle that keeps it. Lots and vehicles have one row per key.
 * @param schemas the tables that have a relation in `base` and in `stage`
 */
export async function bindCounted(
  connection: DuckDBConnection,
  schemas: readonly TableSchema[],
): Promise<void> {
  const mayLack = await scalar(connection, 'select count(*) from run.rejects where table_name is not null');
  const returned = await scalar(connection, 'select count(*) from run.returned_vehicles');
  const counting = (name: string, columns: readonly string[]): string => {
    const overtaken = 'anti join run.overtaken_vehicles as o on o.vehicle_id = s.vehicle_id';
    const lost =
      'anti join (from run.lot_claims where is_lost) as c on c.lot_id = s.lot_id and c.vehicle_id = s.vehicle_id';
    return `(select s.* from stage.${name} as s ${columns.includes('vehicle_id') ? overtaken : ''} ${columns.includes('lot_id') ? lost : ''})`;
  };
  for (const [name, columns] of Object.entries(MEMBERS))
    await connection.run(
      `create or replace view counted.${name} as from ${counting(name, columns.split(/[\s,]+/))}`,
    );
  for (const schema of schemas) {
    const { table } = schema;
    const columns = schema.content.map(({ name }) => name);
    const isOfCars = table.stream === 'cars';
    const came = isOfCars ? counting(table.name, columns) : `stage.${table.name}`;
    const source = isOfCars && returned > 0 ? await withoutOlder(connection, schema, came) : came;
    const placed =
      table.partition === undefined || table.wide !== undefined
        ? source
        : `(select s.*${partitionColumns(table, 's')} from ${source} as s)`;
    const lacking = mayLack > 0 ? await findLacking(connection, schema) : [];
    const filled = withLastGood(schema, placed, lacking);
    const rows = READ_OFTEN.has(table.name) ? await oncePerKey(connection, schema, filled) : filled;
    await connection.run(`create or replace view counted.${table.name} as from ${rows}`);
  }
  // A vehicle whose later copy no longer lists the lot gave it away.
  await connection.run(
    "insert into run.repeated_rows select 'lots', count(*) from run.lot_claims where is_lost and is_listed",
  );
}

/**
 * The columns of a key that tell what a row belongs to, without those that number it in its list. Rows with a number come
 * together: a mixture of two lists is none.
 */
const groupOf = ({ key, parents }: TableSchema['table']): readonly string[] =>
  key.filter((name) => name !== 'position' && parents[name]?.some((path) => path.endsWith('[]')) !== true);

/**
 * SQL of when a row was last updated, as its record says; null for a table whose records do not say it. A time after the last
 * request of the run is no time.
 */
async function updatedAt(
  connection: DuckDBConnection,
  { table, content }: TableSchema,
): Promise<(alias: string) => string> {
  if (table.name !== 'lots' || !content.some(({ name }) => name === 'updated_at')) return () => 'null';
  const [facts] = await rows(connection, 'select cast(ended_at as varchar) as ended_at from run.facts');
  const ended = `cast(${literal(String(facts?.ended_at))} as timestamptz)`;
  return (alias) => `if(${alias}.updated_at > ${ended}, null, ${alias}.updated_at)`;
}

/**
 * Staged rows without those of vehicles that also came as the last snapshot has them, if that copy has the row and is newer,
 * or came last.
 */
async function withoutOlder(
  connection: DuckDBConnection,
  schema: TableSchema,
  source: string,
): Promise<string> {
  const { table, state } = schema;
  if (!schema.content.some(({ name }) => name === 'vehicle_id')) return source;
  const group = groupOf(table);
  const updated = await updatedAt(connection, schema);
  const isThere = state.some(({ name }) => name === 'gone_at')
    ? 'b.gone_at is null'
    : state.some(({ name }) => name === 'archived_by')
      ? "(b.archived is not true or b.archived_by = 'feed')"
      : 'true';
  const known = `select ${group.map((name) => `b.${identifier(name)}`).join(', ')}, v.seq as _seq, ${updated('b')} as _updated_at
    from base.${table.name} as b join run.returned_vehicles as v on v.vehicle_id = b.vehicle_id where ${isThere}`;
  const never = "'-infinity'::timestamptz";
  const rank = (at: string, seq: string): string => `(coalesce(${at}, ${never}), ${seq})`;
  return `(select s.* from ${source} as s anti join (${known}) as k
    on ${sameKey(group, 'k', 's')} and ${rank('k._updated_at', 'k._seq')} > ${rank(updated('s'), 's._seq')})`;
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

/**
 * Staged rows with one row for each key; the relation itself if no key repeats. Of several, the one that was updated last
 * counts, else the one received last, in one record the last of its list. Rows that are numbered in a list come together
 * from the record received last. `run.repeated_rows` gets the number of rows that are lost, which are neither the same as
 * the one that counts nor an earlier copy of their vehicle.
 */
export async function oncePerKey(
  connection: DuckDBConnection,
  schema: TableSchema,
  relation: string,
): Promise<string> {
  const { table, content } = schema;
  const group = groupOf(table);
  const [key, groupKey] = [table.key, group].map((names) => names.map(identifier).join(', '));
  const repeated = `run.repeated_${table.name}`;
  await connection.run(`delete from run.repeated_rows where table_name = ${literal(table.name)}`);
  const found = await scalar(
    connection,
    `create or replace table ${repeated} as
     select distinct ${groupKey} from (select ${key} from ${relation} group by all having count(*) > 1)`,
  );
  if (found === 0) return relation;
  const names = content.map(({ name }) => name);
  const ofOne = sameKey(group, 'k', 'r');
  const values = `hash(${names.filter((name) => name !== 'position').map((name) => `r.${identifier(name)}`)})`;
  const isOther =
    table.stream === 'cars' && names.includes('vehicle_id')
      ? 'having count(*) > count(distinct r._seq) or count(distinct r.vehicle_id) > 1'
      : '';
  const some = `${relation} as r semi join ${repeated} as k on ${ofOne}`;
  await connection.run(
    `insert into run.repeated_rows select ${literal(table.name)}, coalesce(sum(variants - 1), 0)
     from (select count(distinct ${values}) as variants from ${some} group by ${key} ${isOther})`,
  );
  const updated = await updatedAt(connection, schema);
  const position = names.includes('position') ? ', r.position desc' : '';
  const order = `${updated('r')} desc nulls last, r._seq desc${position}, ${values}`;
  const together =
    group.length < table.key.length ? `r._seq = max(r._seq) over (partition by ${groupKey}) and ` : '';
  const partition = together === '' ? key : `${key}, r._seq`;
  return `(select r.* from ${relation} as r anti join ${repeated} as k on ${ofOne}
    union all
    select r.* from ${some}
    qualify ${together}row_number() over (partition by ${partition} order by ${order}) = 1)`;
}

/** Binds a table of the snapshot that is being written, once it is complete. */
export async function bindNext({ connection, schemas, target }: MergeContext, table: string): Promise<void> {
  const isPartitioned = schemas.get(table)?.table.partition !== undefined;
  const written = writtenRelation(target, table, isPartitioned);
  await connection.run(`create or replace view next.${table} as from ${written}`);
}

/** Columns of `base.price_estimates`: those of the mart that are kept, and when its snapshot was made. */
export const ESTIMATES =
  'lot_id bigint, domain_id bigint, is_offered boolean, price double, market varchar, currency varchar, estimate double, low_80 double, low_50 double, high_50 double, high_80 double, widened double, given_at timestamptz';

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

/** The sightings of the last snapshot; none if nothing was published. */
function knownSightings({ base }: MergeContext): string {
  const stored = base?.manifest.tables.sightings;
  if (base === undefined || stored === undefined) return `(${emptyOf(systemTable('sightings').columns)})`;
  return filesRelation(base.folder, stored.files, false);
}
