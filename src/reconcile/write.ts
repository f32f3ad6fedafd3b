import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit from 'p-limit';
import { type Partition, partitionFolder } from '../lake/partition.js';
import type { TableSchema } from '../lake/schema.js';
import { identifier, literal, scalar } from '../lake/session.js';
import type { MergeContext } from './context.js';
import { isSmall } from './hold.js';

/**
 * Parquet settings of every published file: what Spark, pandas, polars and older readers open. Level 1 takes a quarter
 * less time to write than the default, and makes the files of images smaller and the others 1 to 4 % larger.
 */
export const PARQUET = 'format parquet, compression zstd, compression_level 1, parquet_version v1';

/** Rows of a wide table in one row group: some 100 MB while it is written. */
const WIDE_ROW_GROUP = 16384;

/** Partitions of a wide table that are written at once. */
const PARALLEL_PARTITIONS = 2;

/**
 * Writes rows as the sorted files of a table.
 * @param sql gives the rows, with `_domain` and `_month` where the table is partitioned; for a wide table that is not
 *   small it is run once for each partition, with a condition that holds for that partition's rows
 * @param partitions the partitions of a wide table that the rows are in
 * @returns number of rows that were written
 */
export async function writeRows(
  context: MergeContext,
  schema: TableSchema,
  sql: (condition: string) => string,
  partitions: readonly Partition[],
): Promise<number> {
  const { table } = schema;
  const folder = join(context.target, table.name);
  mkdirSync(folder, { recursive: true });
  const sort = table.sort.map(identifier).join(', ');
  const columns = schema.columns.map((column) => identifier(column.name));
  if (table.partition === undefined) {
    const target = join(folder, 'data_0.parquet');
    const written = await scalar(
      context.connection,
      `copy (select ${columns.join(', ')} from (${sql('true')}) order by ${sort}) to ${literal(target)} (${PARQUET})`,
    );
    if (written === 0) rmSync(target);
    return written;
  }
  if (table.wide && !isSmall(context, table.name)) {
    const inFile = columns.filter((column) => column !== '"domain_id"').join(', ');
    let written = 0;
    await eachPartition(context, partitions, async (connection, partition) => {
      const own = join(folder, partitionFolder(partition));
      mkdirSync(own, { recursive: true });
      const count = await scalar(
        connection,
        `copy (select ${inFile} from (${sql(inPartition(partition))}) order by ${sort})
         to ${literal(join(own, 'data_0.parquet'))} (${PARQUET}, row_group_size ${WIDE_ROW_GROUP})`,
      );
      written += count;
    });
    return written;
  }
  const condition = table.wide ? partitions.map(inPartition).join(' or ') : 'true';
  return scalar(
    context.connection,
    `copy (select ${columns.join(', ')}, _month as month from (${sql(condition || 'false')}) order by domain_id, month, ${sort})
       to ${literal(folder)} (${PARQUET}, partition_by (domain_id, month), overwrite_or_ignore true)`,
  );
}

const inPartition = ({ domain, month }: Partition): string =>
  `(_domain = ${literal(domain)} and _month = ${literal(month)})`;

async function eachPartition(
  context: MergeContext,
  partitions: readonly Partition[],
  work: (connection: DuckDBConnection, partition: Partition) => Promise<void>,
): Promise<void> {
  const idle: DuckDBConnection[] = [];
  const limit = pLimit(PARALLEL_PARTITIONS);
  let failure: unknown;
  const run = async (partition: Partition): Promise<void> => {
    if (failure !== undefined) return;
    try {
      const connection = idle.pop() ?? (await context.connect());
      await work(connection, partition).finally(() => idle.push(connection));
    } catch (error) {
      failure ??= error;
    }
  };
  // After a failure, too, every statement under way is waited for: a database is not closed while one runs.
  await Promise.all(partitions.map((partition) => limit(() => run(partition))));
  for (const connection of idle) connection.closeSync();
  if (failure !== undefined) throw failure;
}

/** Writes a file without rows, so that a table that has none can still be read. */
export async function writeEmpty(context: MergeContext, schema: TableSchema): Promise<void> {
  const folder = join(context.target, schema.table.name);
  mkdirSync(folder, { recursive: true });
  const columns = schema.columns.map((c) => `cast(null as ${c.type}) as ${identifier(c.name)}`);
  if (schema.table.partition !== undefined) columns.push('cast(null as varchar) as month');
  await context.connection.run(
    `copy (select ${columns.join(', ')} where false) to ${literal(join(folder, 'empty.parquet'))} (${PARQUET})`,
  );
}
