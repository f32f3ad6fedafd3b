import { dirname, join } from 'node:path';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, remove } from '../../base/config/owned.js';
import { identifier, literal, literals, rows, scalar } from '../../base/duck/session.js';
import { partitionOf } from '../lake/files.js';
import { linkFile } from '../lake/linked-files.js';
import type { LakeFile } from '../lake/manifest.js';
import { monthOf } from '../lake/partition.js';
import {
  baseRelation,
  castColumns,
  emptyOf,
  type MergeContext,
  type StoredTable,
  systemTable,
} from './relations.js';
import { applyRules } from './rules.js';
import { columnsInFile, isSameShape, parquetOf, writeEmpty } from './write.js';

/** One row of `closings`. */
export interface ClosingRow {
  readonly vehicle_id: number;
  readonly asked_at: string;
  readonly asked: number;
  readonly outcome: 'found' | 'gone' | 'refused' | 'unreadable' | 'other_vehicle';
  readonly run_id: string;
}

/**
 * Writes the rejects of a run as a file, and links the files of earlier runs whose passes landing still holds.
 * @param landed ids of the passes that landing holds
 */
export async function writeRejects(context: MergeContext, landed: ReadonlySet<string>): Promise<void> {
  const { connection, base, target, runId } = context;
  // A page that was read again may reject a value twice. The last receipt counts.
  const fresh = `(
    select distinct on (stream, pass_id, list, page, position, path) *, ${literal(runId)} as run_id
    from run.rejects order by seq desc
  )`;
  const schema = systemTable('rejects');
  const { columns, table } = schema;
  // Files of an older lotlake, with other columns, are written again.
  if (base?.manifest.tables.rejects !== undefined && !isSameShape(schema, context))
    return mergeOwn(context, 'rejects', fresh);
  const folder = join(target, 'rejects');
  makeFolder(folder);
  let linked = 0;
  for (const { path } of earlierFiles(context, 'rejects')) {
    const from = join(base?.folder ?? '', path);
    const passes = await rows(
      connection,
      `select distinct pass_id from read_parquet(${literal(from)}, hive_partitioning = false)`,
    );
    if (!passes.some(({ pass_id }) => landed.has(String(pass_id)))) continue;
    linkFile(from, join(target, path));
    linked++;
  }
  const file = join(folder, `${runId}.parquet`);
  const written = await scalar(
    connection,
    `copy (select ${castColumns(columns)} from ${fresh} order by ${table.key.map(identifier).join(', ')})
     to ${literal(file)} (${parquetOf(schema, context)})`,
  );
  // One file stays, so that a table without rows can be read.
  if (written === 0 && linked > 0) remove(file);
}

/**
 * Adds what a rule finds in this run to the table of its name, and links the files of earlier runs. The table is partitioned
 * by source and month. Needs the relations that the rule reads.
 * @param applies whether the rule can find anything
 * @returns number of new rows
 */
export async function appendToSystemTable(
  context: MergeContext,
  name: 'lot_changes' | 'given_estimates',
  applies: boolean,
): Promise<number> {
  const { connection, target, runId } = context;
  const schema = systemTable(name);
  const { table } = schema;
  const folder = join(target, name);
  makeFolder(folder);
  const earlier = earlierFiles(context, name);
  for (const partition of new Set(earlier.map(partitionOf))) {
    const files = earlier.filter((file) => partitionOf(file) === partition).map(({ path }) => path);
    await keepFiles(context, schema, partition, files);
  }
  if (applies) await applyRules(connection, name);
  const copy = `
    copy (select *, ${monthOf(table.partition?.month ?? '')} as month from run.${name} order by domain_id, month, ${table.key.map(identifier)})
    to ${literal(folder)} (${parquetOf(schema, context)}, partition_by (domain_id, month), overwrite_or_ignore true,
      filename_pattern ${literal(`${runId}-{i}`)})`;
  const count = applies ? await scalar(connection, copy) : 0;
  if (count + earlier.length === 0) await writeEmpty(context, schema);
  return count;
}

/**
 * Links the files of a partition, one for each run that found rows. Once the month is over, they are joined into one:
 * otherwise a lake of some years would have thousands of small files. They are joined, too, if an older lotlake wrote other
 * columns.
 */
async function keepFiles(
  context: MergeContext,
  schema: StoredTable,
  partition: string,
  files: readonly string[],
): Promise<void> {
  const { connection, base, target, runId, startedAt } = context;
  const { name, key } = schema.table;
  const from = files.map((path) => join(base?.folder ?? '', path));
  const isOver = partition < `${dirname(partition)}/month=${startedAt.slice(0, 7)}`;
  if (isSameShape(schema, context) && (!isOver || files.length === 1)) {
    for (const [i, path] of files.entries()) linkFile(from[i] ?? '', join(target, path));
    return;
  }
  const columns = columnsInFile(schema);
  const folder = join(target, name, partition);
  makeFolder(folder);
  await connection.run(
    `copy (
       select ${castColumns(columns)} from (
         from read_parquet(${literals(from)}, hive_partitioning = false, union_by_name = true)
         union all by name ${emptyOf(columns)}
       ) order by ${key.map(identifier)}
     ) to ${literal(join(folder, `${runId}-joined.parquet`))} (${parquetOf(schema, context)})`,
  );
}

/** The files of a table in the last snapshot that hold rows. */
const earlierFiles = ({ base }: MergeContext, table: string): readonly LakeFile[] =>
  base?.manifest.tables[table]?.files.filter(({ rows }) => rows > 0) ?? [];

/**
 * Writes a small table of lotlake's own: the rows of the last snapshot and the new rows. A new row replaces the old one of
 * its key. Members of a row that are not columns of the table are left out. Throws RECONCILE_FAILED if a row lacks a column.
 */
export function writeSystemTable(
  context: MergeContext,
  name: string,
  fresh: readonly object[],
): Promise<void> {
  const { columns } = systemTable(name);
  const lacking = columns.find((column) => fresh.some((row) => !(column.name in row)));
  // DuckDB would read a missing member as null.
  if (lacking !== undefined)
    throw new LotlakeError('RECONCILE_FAILED', `a row of ${name} lacks its column ${lacking.name}`);
  const types = columns.map((c) => [c.name, c.type.endsWith('[]') ? ['VARCHAR'] : c.type]);
  const structure = JSON.stringify([Object.fromEntries(types)]);
  const read = `from_json(${literal(JSON.stringify(fresh, wellFormed))}, ${literal(structure)})`;
  return mergeOwn(context, name, `(select unnest(${read}, max_depth := 2))`);
}

/** Replaces half a surrogate pair, which a message may quote from the feed and DuckDB refuses in JSON. */
const wellFormed = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? Buffer.from(value).toString() : value;

/** Writes a table of lotlake's own as one file. */
async function mergeOwn(context: MergeContext, name: string, fresh: string): Promise<void> {
  const schema = systemTable(name);
  const key = schema.table.key.map(identifier).join(', ');
  const folder = join(context.target, name);
  makeFolder(folder);
  await context.connection.run(`
    copy (
      with fresh as (select ${castColumns(schema.columns)} from ${fresh})
      select * from fresh
      union all by name
      select * from ${baseRelation(context, schema)} where (${key}) not in (select (${key}) from fresh)
      order by ${key}
    ) to ${literal(join(folder, 'data_0.parquet'))} (${parquetOf(schema, context)})`);
}
