import type { DuckDBConnection } from '@duckdb/node-api';
import { packageFile } from '../../../base/config/package-root.js';
import { identifier, type Session } from '../../../base/duck/session.js';
import { type Stream, type StreamName, streams } from '../../service/streams.js';
import { partitionColumns } from '../partition.js';
import { describeTable, type TableSchema } from '../schema.js';
import { flattenFunctions, type LakeTable, lakeTables } from '../tables.js';
import { BATCH, type BatchView, planViews } from './batch-views.js';
import { columnTypes } from './types.js';

/** A table that is staged: a SELECT from the views of a batch. */
export type StagedTable = Pick<LakeTable, 'name' | 'sql' | 'wide' | 'partition'>;

/** Tables that tell reconcile which lists came with each vehicle and lot; staged with the lake tables of `cars`. */
const MEMBER_TABLES: readonly StagedTable[] = ['vehicle_members', 'lot_members'].map((name) => ({
  name,
  sql: packageFile(`sql/members/${name}.sql`),
}));

/** Every table that is staged for a stream. */
export const stagedTables = (stream: StreamName): readonly StagedTable[] => [
  ...lakeTables().filter((table) => table.stream === stream),
  ...(stream === 'cars' ? MEMBER_TABLES : []),
];

/** The SELECT of a table; for a wide table with the partition of each row. */
export function selectSql(table: StagedTable): string {
  return table.wide !== undefined
    ? `select t.*${partitionColumns(table, 't')} from (${table.sql}) as t`
    : table.sql;
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

export async function createViews(connection: DuckDBConnection, views: readonly BatchView[]): Promise<void> {
  const statements = views.map(
    ({ name, sql, materialized }) =>
      `create or replace temp ${materialized ? 'table' : 'view'} ${identifier(name)} as ${sql}`,
  );
  await connection.run(`${flattenFunctions}\n${statements.join(';\n')}`);
}
