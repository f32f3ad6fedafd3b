import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { makeFolder } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { identifier, literal, literals, type Session, scalar } from '../../base/duck/session.js';
import { partitionColumns } from '../lake/partition.js';
import { describeTable, type TableSchema } from '../lake/schema.js';
import { flattenFunctions, type LakeTable, lakeTables } from '../lake/tables.js';
import type { LandedPage } from '../land/page.js';
import { type Stream, type StreamName, streams } from '../service/streams.js';
import { columnTypes, type LearnedPaths } from './types.js';
import { BATCH, type BatchView, planViews } from './views.js';

/** A file of newline-delimited records, with the order of receipt and the list of their page. */
export type BatchFile = Pick<LandedPage, 'seq' | 'list'> & { readonly path: string };

/** A table that is staged: a SELECT from the views of a batch. */
export type StagedTable = Pick<LakeTable, 'name' | 'sql' | 'wide' | 'partition'>;

/** Tables that tell reconcile which lists came with each vehicle and lot; staged with the lake tables of `cars`. */
const MEMBER_TABLES: readonly StagedTable[] = ['vehicle_members', 'lot_members'].map((name) => ({
  name,
  sql: packageFile(`sql/members/${name}.sql`),
}));

/** Every table that is staged for a stream. */
const stagedTables = (stream: StreamName): readonly StagedTable[] => [
  ...lakeTables().filter((table) => table.stream === stream),
  ...(stream === 'cars' ? MEMBER_TABLES : []),
];

/**
 * A receipt, `_seq`, numbers the records in the order in which they came: the receipt of the page, then, in the lower bits, the
 * place of the record among those of its batch.
 */
export const RECEIPT_BITS = 32;

/** Records to be loaded together. */
export interface Batch {
  readonly stream: Stream;
  readonly learned: LearnedPaths;
  readonly files: readonly BatchFile[];
  /** Bytes of the largest record, which sets the size of the reader's buffers. */
  readonly largestRecord: number;
  readonly stage: string;
  readonly name: string;
  /** Whether the batch is too small to be staged by partition. */
  readonly isSmall: boolean;
  /** Whether some records were checked one by one: they may list rejected columns, and hold null in place of a row. */
  readonly isMended: boolean;
}

/**
 * Types a batch of records and stages each table of its stream as `<stage>/<table>/<batch>.parquet`, with `_seq`; a wide
 * table of a large batch by partition. Returns the number of records.
 */
export async function loadBatch(connection: DuckDBConnection, options: Batch): Promise<number> {
  const views = planViews(options.stream, options.learned, options.isMended);
  await createBatch(connection, options);
  try {
    await createViews(connection, views);
    const copies = stagedTables(options.stream.name).map((table) => copySql(options, table));
    await connection.run(copies.join(';\n'));
    return await scalar(connection, `select count(*) from ${BATCH}`);
  } finally {
    // Otherwise the batch and its unnested lists use memory until the next batch of this connection replaces them.
    const kept = views.filter(({ materialized }) => materialized).map(({ name }) => name);
    const drops = [BATCH, ...kept].map((name) => `drop table if exists ${identifier(name)} cascade`);
    await connection.run(drops.join(';\n'));
  }
}

/** The SELECT of a table; for a wide table with the partition of each row. */
export function selectSql(table: StagedTable): string {
  return table.wide !== undefined
    ? `select t.*${partitionColumns(table, 't')} from (${table.sql}) as t`
    : table.sql;
}

async function createBatch(connection: DuckDBConnection, options: Batch): Promise<void> {
  const { files } = options;
  const columns = columnTypes(options.stream.contract, options.learned, options.isMended)
    .map(([name, type]) => `${identifier(name)}: ${literal(type)}`)
    .join(', ');
  const paths = literals(files.map((file) => file.path));
  const order = `map(${paths}, [${files.map((file) => file.seq).join(', ')}])`;
  const lists = `map(${paths}, ${literals(files.map((file) => file.list))})`;
  await connection.run(`
    create or replace temp table ${BATCH} as
    select * exclude (_file), (${order}[_file]::bigint << ${RECEIPT_BITS}) + row_number() over () as _seq, ${lists}[_file] as _list
    from read_json(${paths}, format = 'newline_delimited', hive_partitioning = false, filename = '_file',
      maximum_object_size = ${Math.max(options.isSmall ? 1 << 18 : 4 << 20, options.largestRecord * 2)}, columns = {${columns}})`);
}

let cached: ReadonlyMap<string, TableSchema> | undefined;

/** The columns of every lake table, which follow from the code alone: computed once a process. */
export async function readSchemas({ connect }: Pick<Session, 'connect'>) {
  if (cached !== undefined) return cached;
  const schemas = new Map<string, TableSchema>();
  const connection = await connect();
  for (const stream of Object.values(streams)) {
    await createEmptyBatch(connection, stream);
    for (const table of lakeTables().filter((each) => each.stream === stream.name))
      schemas.set(table.name, await describeTable(connection, table));
  }
  connection.closeSync();
  cached = schemas;
  return cached;
}

/** An empty batch, so that the columns of every table can be described without a record. */
async function createEmptyBatch(connection: DuckDBConnection, stream: Stream): Promise<void> {
  const columns = columnTypes(stream.contract, [], false)
    .map(([name, type]) => `${identifier(name)} ${type}`)
    .join(', ');
  await connection.run(`create or replace temp table ${BATCH} (${columns}, _seq bigint, _list varchar)`);
  await createViews(connection, planViews(stream, [], false));
}

async function createViews(connection: DuckDBConnection, views: readonly BatchView[]): Promise<void> {
  const statements = views.map(
    ({ name, sql, materialized }) =>
      `create or replace temp ${materialized ? 'table' : 'view'} ${identifier(name)} as ${sql}`,
  );
  await connection.run(`${flattenFunctions}\n${statements.join(';\n')}`);
}

function copySql({ stage, name, isSmall }: Batch, table: StagedTable): string {
  const folder = join(stage, table.name);
  const isPartitioned = table.wide !== undefined && !isSmall;
  makeFolder(folder);
  const target = isPartitioned ? folder : join(folder, `${name}.parquet`);
  const partition = isPartitioned
    ? `, partition_by (_domain, _month), overwrite_or_ignore true, filename_pattern ${literal(`${name}-{i}`)}`
    : '';
  return `copy (${selectSql(table)}) to ${literal(target)} (format parquet, compression snappy${partition})`;
}
