import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { makeFolder, remove } from '../../base/config/owned.js';
import { poolOf, settled } from '../../base/duck/pool.js';
import { identifier, literal, rows, scalar } from '../../base/duck/session.js';
import { fieldsOf, giveIds, hashOf, recordIn } from '../lake/field-ids.js';
import { copyOptions } from '../lake/parquet.js';
import { type Partition, partitionFolder } from '../lake/partition.js';
import type { Column } from '../lake/schema.js';
import { emptyOf, isSmall, type MergeContext, type StoredTable } from './relations.js';

/** Options of COPY for the files of a table, except an empty one. */
export function parquetOf(schema: StoredTable, context: Pick<MergeContext, 'snapshot' | 'recorded'>): string {
  const inFile = new Set(columnsInFile(schema).map(({ name }) => name));
  const fields = fieldsOfTable(schema, context).filter(({ name }) => inFile.has(name));
  return copyOptions(schema.table.name, context.snapshot, fields);
}

/** The columns of a table with their ids. */
const fieldsOfTable = ({ table, columns }: StoredTable, { recorded }: Pick<MergeContext, 'recorded'>) =>
  giveIds(columns, recordIn(recorded, table.name), table.partition !== undefined).columns;

/** Whether the files of a table in the last snapshot have its columns in their types, with their ids. */
export function isSameShape(schema: StoredTable, context: Pick<MergeContext, 'base' | 'recorded'>): boolean {
  const stored = context.base?.manifest.tables[schema.table.name];
  if (stored === undefined) return false;
  return JSON.stringify(fieldsOf(stored)) === JSON.stringify(fieldsOfTable(schema, context));
}

/** Columns that the files of a table hold; partition columns are in the path. */
export const columnsInFile = ({ table, columns }: StoredTable): readonly Column[] =>
  table.partition === undefined ? columns : columns.filter(({ name }) => name !== 'domain_id');

/** SQL of the rows that meet a condition. `ofIds` is the part of the condition about their ids, for tables joined to them. */
export type RowsSql = (condition: string, ofIds: string) => string;

/** Rows of a wide table in one row group: `details` of source 12 has 8 KB a row, which a reader holds as one page. */
export const WIDE_ROW_GROUP = 4096;

/** Files of a wide table that are written at once. */
const PARALLEL_FILES = 2;

/**
 * Writes rows as the sorted files of a table. Each file of a large partition of a wide table holds one range of ids.
 * @param sql gives the rows, with `_domain` and `_month` if the table is partitioned. For a wide table that is not small
 *   it is run once for each file, with a condition on the rows of that file, and the part of it about their ids
 * @param partitions the partitions of a wide table that are written; all by default
 * @returns number of rows that were written
 */
export async function writeRows(
  context: MergeContext,
  schema: StoredTable,
  sql: RowsSql,
  partitions?: readonly Partition[],
): Promise<number> {
  const { table } = schema;
  const { connection } = context;
  const folder = join(context.target, table.name);
  makeFolder(folder);
  const sort = table.sort.map(identifier).join(', ');
  const parquet = `${parquetOf(schema, context)}${table.wide === undefined ? '' : `, row_group_size ${WIDE_ROW_GROUP}`}`;
  const columns = schema.columns.map((column) => identifier(column.name)).join(', ');
  if (table.partition === undefined) {
    const target = join(folder, 'data_0.parquet');
    const written = await scalar(
      connection,
      `copy (select ${columns} from (${sql('true', 'true')}) order by ${sort}) to ${literal(target)} (${parquet})`,
    );
    if (written === 0) remove(target);
    return written;
  }
  const isPart = table.wide !== undefined && partitions !== undefined;
  const all = sql(isPart ? partitions.map(inPartition).join(' or ') || 'false' : 'true', 'true');
  if (table.wide !== undefined) {
    const files = await wideFiles(context, table, all);
    const isInParts = files.some(({ ofIds }) => ofIds !== 'true');
    if (isInParts || !isSmall(context, table.name)) return writeWide(context, schema, sql, files, parquet);
  }
  return scalar(
    connection,
    `copy (select ${columns}, _month as month from (${all}) order by domain_id, month, ${sort})
     to ${literal(folder)} (${parquet}, partition_by (domain_id, month), overwrite_or_ignore true)`,
  );
}

/** SQL that says whether a row with `_domain` and `_month` is in a partition. */
const inPartition = ({ domain, month }: Partition): string =>
  `(_domain = ${literal(domain)} and _month = ${literal(month)})`;

/** Writes the rows of a wide table file by file, some at once. */
async function writeWide(
  context: MergeContext,
  schema: StoredTable,
  sql: RowsSql,
  files: readonly WideFile[],
  parquet: string,
): Promise<number> {
  const { table } = schema;
  const inFile = columnsInFile(schema).map(({ name }) => identifier(name));
  const connections: DuckDBConnection[] = [];
  while (connections.length < PARALLEL_FILES) connections.push(await context.connect());
  const write = async (connection: DuckDBConnection, { path, condition, ofIds }: WideFile) => {
    makeFolder(dirname(path));
    return scalar(
      connection,
      `copy (select ${inFile.join(', ')} from (${sql(condition, ofIds)}) order by ${table.sort.map(identifier).join(', ')})
       to ${literal(path)} (${parquet})`,
    );
  };
  try {
    const use = poolOf(connections, context.alone);
    const written = await settled(files.map((file) => use((connection) => write(connection, file))));
    return written.reduce((sum, count) => sum + count, 0);
  } finally {
    for (const connection of connections) connection.closeSync();
  }
}

/** A file of a wide table: the condition on its rows, and the part of it about their ids. */
interface WideFile {
  readonly path: string;
  readonly condition: string;
  readonly ofIds: string;
}

/** Splits partitions into files by the first column of the sort order. */
async function wideFiles(context: MergeContext, { name, sort, wide }: StoredTable['table'], all: string) {
  const id = identifier(sort[0] ?? '');
  const found = await rows(
    context.connection,
    `select _domain, _month, file, cast(min(id) as varchar) as low,
       cast(lead(min(id)) over (partition by _domain, _month order by file) as varchar) as high
     from (select _domain, _month, ${id} as id,
             (row_number() over (partition by _domain, _month order by ${id}) - 1) // ${wide} as file from (${all}))
     group by _domain, _month, file order by _domain, _month, file`,
  );
  return found.map(({ _domain, _month, file, low, high }): WideFile => {
    const partition = { domain: String(_domain), month: String(_month) };
    const from = file === 0 ? [] : [`${id} >= ${low}`];
    const to = high === null ? [] : [`${id} < ${high}`];
    const ofIds = [...from, ...to].join(' and ') || 'true';
    const path = join(context.target, name, partitionFolder(partition), `data_${file}.parquet`);
    return { path, condition: `(${inPartition(partition)} and ${ofIds})`, ofIds };
  });
}

/** Writes a file without rows, so that a table that has none can still be read. */
export async function writeEmpty(context: MergeContext, schema: StoredTable): Promise<void> {
  const { name, partition } = schema.table;
  const folder = join(context.target, name);
  makeFolder(folder);
  const month = { name: 'month', type: 'VARCHAR', field_id: hashOf('month') };
  const fields = [...fieldsOfTable(schema, context), ...(partition === undefined ? [] : [month])];
  await context.connection.run(
    `copy (${emptyOf(fields)}) to ${literal(join(folder, 'empty.parquet'))} (${copyOptions(name, context.snapshot, fields)})`,
  );
}
