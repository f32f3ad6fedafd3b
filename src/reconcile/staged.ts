import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal, rows, scalar } from '../duck/session.js';
import { filesRelation } from '../lake/files.js';
import type { LakeFile } from '../lake/manifest.js';
import { partitionColumns } from '../lake/partition.js';
import { type Column, REJECTED, type TableSchema } from '../lake/schema.js';
import { rejectsRelation } from '../load/loader.js';
import type { MergeContext } from './context.js';

/** Staged vehicles that came more than once in this run, with the order of their last receipt. */
export const REPEATED = '_repeated_vehicles';

/** Vehicles that came as the last state has them, and in no other version after that. */
export const UNCHANGED = '_unchanged_vehicles';

/** Lots that more than one vehicle listed, with the vehicles that did and whether another one did so later. */
export const CLAIMS = '_claims';

/** Name of the table that holds the last state of a lake table. */
export const heldName = (table: string): string => `_base_${table}`;

/** Whether this run staged rows for a table. */
export function isStaged(context: MergeContext, table: string): boolean {
  const folder = join(context.stage, table);
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** The staged rows of a table as they were received; a wide table has `_domain` and `_month` beside them. */
export function stagedFiles(context: Pick<MergeContext, 'stage'>, table: string): string {
  const folder = join(context.stage, table);
  // A small batch of a wide table is one file, a large one is staged by partition.
  const entries = readdirSync(folder, { withFileTypes: true });
  const whole = `read_parquet(${literal(join(folder, '*.parquet'))}, hive_partitioning = false)`;
  if (!entries.some((entry) => entry.isDirectory())) return whole;
  const parts = `read_parquet(${literal(join(folder, '*', '*', '*.parquet'))}, hive_partitioning = true, hive_types_autocast = false)`;
  return entries.some((entry) => entry.isFile())
    ? `(select * from ${parts} union all by name select * from ${whole})`
    : parts;
}

/**
 * Notes which vehicles came more than once, so that only what came last counts, children included: of one that came as
 * the last state has it after it came otherwise, no staged row counts. Each source's list speaks for itself, since it may
 * show a vehicle with the lots of that source alone.
 */
export async function findRepeatedVehicles(context: MergeContext): Promise<number> {
  const { connection, stage, unchanged, lists } = context;
  const source = isStaged(context, 'vehicles')
    ? stagedFiles(context, 'vehicles')
    : '(select cast(null as bigint) as vehicle_id, 0 as _seq where false)';
  mkdirSync(stage, { recursive: true });
  const names = [...new Set(lists.values())];
  const pages = csvOf(
    stage,
    'pages',
    ['_seq', 'list'],
    [...lists].map(([seq, name]) => `${seq},${names.indexOf(name)}\n`),
  );
  const same = csvOf(
    stage,
    'unchanged',
    ['vehicle_id', '_seq'],
    unchanged.map(([seq, ids]) => ids.map((id) => `${id},${seq}\n`).join('')),
  );
  await connection.run(`
    create or replace temp table _receipts as
    select vehicle_id, list, max(staged) as staged, count(staged) as times, max(unchanged) as unchanged
    from (
      select vehicle_id, _seq, _seq as staged, cast(null as bigint) as unchanged from ${source}
      union all
      select vehicle_id, _seq, null, _seq from ${same}
    )
    left join ${pages} using (_seq)
    group by vehicle_id, list`);
  await connection.run(`
    create or replace table ${UNCHANGED} as
    select vehicle_id, max(unchanged) as _seq from _receipts
    where unchanged > coalesce(staged, -1) group by vehicle_id`);
  await connection.run(`
    create or replace table ${REPEATED} as
    select vehicle_id, greatest(staged, unchanged) as _seq from _receipts
    where staged is not null
      and vehicle_id in (select vehicle_id from _receipts where times > 1 or unchanged > staged)`);
  await connection.run('drop table _receipts');
  return scalar(connection, `select count(*) from ${REPEATED}`);
}

/** A relation over numbers; `blocks` of lines, such as those of a page, so that no line is held by itself. */
function csvOf(folder: string, name: string, columns: readonly string[], blocks: readonly string[]): string {
  const file = join(folder, `${name}.csv`);
  writeFileSync(file, blocks.join(''));
  const types = columns.map((column) => `${column}: 'BIGINT'`).join(', ');
  return `read_csv(${literal(file)}, auto_detect = false, columns = {${types}})`;
}

/** Finds the columns whose values were rejected in this run, by table. A table without a last state has no good values. */
export async function findLacking(context: MergeContext): Promise<ReadonlyMap<string, readonly string[]>> {
  const { connection, stage, base } = context;
  const lacking = new Map<string, readonly string[]>();
  const values = `from ${rejectsRelation(stage)} where table_name is not null`;
  if (base === undefined || (await scalar(connection, `select count(*) ${values}`)) === 0) return lacking;
  for (const name of context.schemas.keys()) {
    if ((base.manifest.tables[name]?.rows ?? 0) === 0 || !isStaged(context, name)) continue;
    const found = await rows(
      connection,
      `select distinct unnest(${REJECTED.name}) as name from ${stagedFiles(context, name)} where ${REJECTED.name} is not null`,
    );
    if (found.length > 0) lacking.set(name, found.map((row) => String(row.name)).sort());
  }
  return lacking;
}

/**
 * Staged rows with the last good value in place of each that was rejected, where their key is known; what is rejected
 * is then no change. A row whose month cannot be read stays in the month that it is in.
 */
function withLastGood(context: MergeContext, schema: TableSchema, source: string): string {
  const { table, content } = schema;
  const lacking = context.lacking?.get(table.name);
  if (lacking === undefined) return source;
  const isLacking = (column: string): string => `list_contains(n.${REJECTED.name}, ${literal(column)})`;
  const columns = content.map(({ name }) => name).filter((name) => lacking.includes(name));
  const keep = (column: string): string => {
    const name = identifier(column);
    return `case when o.first_seen_at is not null and ${isLacking(column)} then o.${name} else n.${name} end as ${name}`;
  };
  const match = table.key.map((key) => `o.${identifier(key)} is not distinct from n.${identifier(key)}`);
  const replaced = columns.length === 0 ? '' : `replace (${columns.map(keep).join(', ')})`;
  const isPartitioned = table.partition !== undefined;
  const lastMonth = `case when ${isLacking('month')} then o._month end as _last_month`;
  const filled = `select n.* ${replaced}${isPartitioned ? `, ${lastMonth}` : ''} from ${source} as n
    left join ${baseRelation(context, schema)} as o on ${match.join(' and ')} where n.${REJECTED.name} is not null`;
  const placed = isPartitioned
    ? `select * exclude (_last_month) replace (coalesce(_last_month, _month) as _month) from (
        select n.* exclude (_domain, _month)${partitionColumns(table, 'n')} from (${filled}) as n)`
    : filled;
  return `(select * from ${source} where ${REJECTED.name} is null union all by name ${placed})`;
}

/**
 * The staged rows of a table without those that came with an earlier version of their vehicle; `columns` typed and
 * empty where nothing was staged.
 */
export function currentRows(context: MergeContext, table: string, columns: string): string {
  if (!isStaged(context, table)) return `(select ${columns} where false)`;
  return lastReceipts(context, stagedFiles(context, table), table.endsWith('lots'));
}

/**
 * Rows of vehicles, without those that came with an earlier version of their vehicle, and without those of lots that
 * another vehicle listed later.
 */
function lastReceipts(context: MergeContext, source: string, isOfLots: boolean): string {
  const hasLost = isOfLots && (context.contestedLots ?? 0) > 0;
  if (context.repeatedVehicles === 0 && !hasLost) return source;
  const lost = hasLost
    ? `and not exists (select 1 from ${CLAIMS} as c where c.lot_id = s.lot_id and c.vehicle_id = s.vehicle_id and c.is_lost)`
    : '';
  return `(select s.* from ${source} as s left join ${REPEATED} as r on r.vehicle_id = s.vehicle_id
    where (r._seq is null or s._seq = r._seq) ${lost})`;
}

/** The staged rows of a table without those that came with an earlier version of their vehicle. */
export function currentRelation(context: MergeContext, schema: TableSchema): string {
  const { table, content } = schema;
  const files = stagedFiles(context, table.name);
  const source =
    table.wide !== undefined ? files : `(select s.*${partitionColumns(table, 's')} from ${files} as s)`;
  const has = (name: string): boolean => content.some((column) => column.name === name);
  const isOfVehicles = table.stream === 'cars' && has('vehicle_id');
  return withLastGood(context, schema, isOfVehicles ? lastReceipts(context, source, has('lot_id')) : source);
}

/** Of rows with the same key, in a relation of {@link currentRelation}, the one that was received last. */
export function lastOfEach({ table, content }: TableSchema, current: string): string {
  const key = table.key.map(identifier).join(', ');
  const order = content.some((column) => column.name === 'position')
    ? '_seq desc, position desc'
    : '_seq desc';
  return `(select * exclude (_rank) from (
    select *, row_number() over (partition by ${key} order by ${order}) as _rank from ${current}
  ) where _rank = 1)`;
}

/**
 * A relation with the staged rows of a table, one a key: the row received last wins, and rows that came with an
 * earlier version of their vehicle are left out.
 */
export async function stagedRelation(context: MergeContext, schema: TableSchema): Promise<string> {
  const current = currentRelation(context, schema);
  const key = schema.table.key.map(identifier).join(', ');
  const repeated = await scalar(
    context.connection,
    `select count(*) from (select ${key} from ${current} group by all having count(*) > 1)`,
  );
  return repeated === 0 ? current : lastOfEach(schema, current);
}

/**
 * The rows of a table in the last state, with its own columns and, where it is partitioned, `_domain` and `_month`;
 * columns that it did not have yet are null.
 * @param files the files to read; all of them by default, and of a table that is held in memory
 */
export function baseRelation(
  context: MergeContext,
  schema: TableSchema,
  files?: readonly LakeFile[],
): string {
  if (context.held?.has(schema.table.name) === true) return heldName(schema.table.name);
  const stored = context.base?.manifest.tables[schema.table.name];
  const used = (files ?? stored?.files ?? []).filter((file) => file.rows > 0);
  const isPartitioned = schema.table.partition !== undefined;
  if (context.base === undefined || stored === undefined || used.length === 0) {
    const partition = isPartitioned
      ? ', cast(null as varchar) as _domain, cast(null as varchar) as _month'
      : '';
    return `(select ${schema.columns.map(nullColumn).join(', ')}${partition} where false)`;
  }
  const known = new Set(stored.columns.map((column) => column.name));
  const columns = schema.columns.map((column) =>
    known.has(column.name)
      ? `cast(${identifier(column.name)} as ${column.type}) as ${identifier(column.name)}`
      : nullColumn(column),
  );
  const partition = isPartitioned
    ? `, coalesce(cast(domain_id as varchar), 'none') as _domain, month as _month`
    : '';
  return `(select ${columns.join(', ')}${partition} from ${filesRelation(context.base.folder, used, stored.partitioned)})`;
}

const nullColumn = (column: Column): string => `cast(null as ${column.type}) as ${identifier(column.name)}`;

/** Vehicles whose records were rejected in this run: they count as present. */
export function rejectedVehicles(context: MergeContext): string {
  return `select try_cast(record_id as bigint) as vehicle_id from ${rejectsRelation(context.stage)}
    where stream = 'cars' and table_name is null and try_cast(record_id as bigint) is not null`;
}

/** Lots of those records, as far as they can be read: one may have stood with another vehicle before. */
export function rejectedLots(context: MergeContext): string {
  return `select lot_id from (
    select try_cast(unnest(json_extract_string(case when json_valid(raw) then raw end, '$.lots[*].id')) as bigint) as lot_id
    from ${rejectsRelation(context.stage)} where stream = 'cars' and table_name is null
  ) where lot_id is not null`;
}

export function schemaOf(context: MergeContext, table: string): TableSchema {
  const schema = context.schemas.get(table);
  if (schema === undefined) throw new TypeError(`no schema of ${table}`);
  return schema;
}

/** An instant as an SQL literal. */
export function timestamp(iso: string): string {
  return `cast(${literal(iso)} as timestamptz)`;
}
