import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesRelation } from '../lake/files.js';
import type { LakeFile } from '../lake/manifest.js';
import { partitionColumns } from '../lake/partition.js';
import type { Column, TableSchema } from '../lake/schema.js';
import { identifier, literal, scalar } from '../lake/session.js';
import type { LakeTable } from '../lake/tables.js';
import type { MergeContext } from './context.js';

/** Vehicles that came more than once in this run, with the order of their last receipt. */
const REPEATED = '_repeated_vehicles';

/** Whether this run staged rows for a table. */
export function isStaged(context: MergeContext, table: string): boolean {
  const folder = join(context.stage, table);
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** The staged rows of a table as they were received; a wide table has `_domain` and `_month` beside them. */
export function stagedFiles(context: MergeContext, table: string): string {
  const isWide = context.schemas.get(table)?.table.wide ?? false;
  const glob = literal(join(context.stage, table, isWide ? '**' : '', '*.parquet'));
  return `read_parquet(${glob}, hive_partitioning = ${isWide}${isWide ? ', hive_types_autocast = false' : ''})`;
}

/** Notes which vehicles came more than once, so that only what came last counts, children included. */
export async function findRepeatedVehicles(context: MergeContext): Promise<number> {
  const source = isStaged(context, 'vehicles')
    ? stagedFiles(context, 'vehicles')
    : '(select cast(null as bigint) as vehicle_id, 0 as _seq where false)';
  await context.connection.run(`
    create or replace table ${REPEATED} as
    select vehicle_id, max(_seq) as _seq from ${source} group by vehicle_id having count(*) > 1`);
  return scalar(context.connection, `select count(*) from ${REPEATED}`);
}

/**
 * The staged rows of a table without those that came with an earlier version of their vehicle; `columns` typed and
 * empty where nothing was staged.
 */
export function currentRows(context: MergeContext, table: string, columns: string): string {
  if (!isStaged(context, table)) return `(select ${columns} where false)`;
  return `(select s.* from ${stagedFiles(context, table)} as s left join ${REPEATED} as r on r.vehicle_id = s.vehicle_id
    where r._seq is null or s._seq = r._seq)`;
}

/**
 * A relation with the staged rows of a table, one a key: the row received last wins, and rows that came with an
 * earlier version of their vehicle are left out.
 */
export async function stagedRelation(context: MergeContext, table: LakeTable): Promise<string> {
  const files = stagedFiles(context, table.name);
  const source = table.wide ? files : `(select s.*${partitionColumns(table, 's')} from ${files} as s)`;
  const key = table.key.map(identifier).join(', ');
  const columns = await context.connection.runAndReadAll(`describe select * from ${source}`);
  const hasVehicle = columns.getRows().some((row) => row[0] === 'vehicle_id');
  const current =
    hasVehicle && table.stream === 'cars'
      ? `(select s.* from ${source} as s left join ${REPEATED} as r on r.vehicle_id = s.vehicle_id
          where r._seq is null or s._seq = r._seq)`
      : source;
  const repeated = await scalar(
    context.connection,
    `select count(*) from (select ${key} from ${current} group by all having count(*) > 1)`,
  );
  if (repeated === 0) return current;
  const order = [
    '_seq desc',
    ...(columns.getRows().some((row) => row[0] === 'position') ? ['position desc'] : []),
  ];
  return `(select * exclude (_rank) from (
    select *, row_number() over (partition by ${key} order by ${order.join(', ')}) as _rank from ${current}
  ) where _rank = 1)`;
}

/**
 * The rows of a table in the last state, with its own columns and, where it is partitioned, `_domain` and `_month`;
 * columns that it did not have yet are null.
 * @param files the files to read; all of them by default
 */
export function baseRelation(
  context: MergeContext,
  schema: TableSchema,
  files?: readonly LakeFile[],
): string {
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
