import { identifier, rows, type Session } from '../duck/session.js';
import { ownTables } from '../lake/own-tables.js';
import { type Column, describeTable } from '../lake/schema.js';
import { lakeTables } from '../lake/tables.js';
import { createEmptyBatch } from '../load/batch.js';
import { runModels } from '../model/run-models.js';
import { withDatabase } from '../query/open-lake.js';
import { contractOf } from '../service/contract/node.js';
import { streams } from '../service/streams.js';
import type { Contents } from './dictionary.js';

/** Creates every lake table, empty, with its real columns; gives the columns by table. */
export async function createEmptyTables(session: Session): Promise<Record<string, readonly Column[]>> {
  const describing = await session.connect();
  const created: Record<string, readonly Column[]> = {};
  const create = async (name: string, columns: readonly Column[]): Promise<void> => {
    const list = columns.map((column) => `${identifier(column.name)} ${column.type}`).join(', ');
    await session.connection.run(`create table ${identifier(name)} (${list})`);
    created[name] = columns;
  };
  for (const stream of Object.values(streams)) {
    await createEmptyBatch(describing, stream.name, contractOf(stream.schema));
    for (const table of lakeTables().filter((each) => each.stream === stream.name))
      await create(table.name, (await describeTable(describing, table)).columns);
  }
  for (const table of ownTables) await create(table.name, table.columns);
  describing.closeSync();
  return created;
}

/** Columns and types of every table and mart as a run publishes them, found without a snapshot. */
export function describeEmptyLake(): Promise<Contents> {
  return withDatabase({ memory: '500MB' }, undefined, async ({ session, temp }) => {
    const { connection } = session;
    const tables = await createEmptyTables(session);
    const models = await runModels(connection, { target: temp, parquet: () => 'format parquet' });
    const marts: Record<string, readonly Column[]> = {};
    for (const { name } of models) {
      const described = await rows(connection, `describe ${identifier(name)}`);
      marts[name] = described.map((column) => ({
        name: String(column.column_name),
        type: String(column.column_type),
      }));
    }
    return { tables: withoutRows(tables), marts: withoutRows(marts) };
  });
}

function withoutRows(columns: Readonly<Record<string, readonly Column[]>>): Contents['tables'] {
  return Object.fromEntries(
    Object.entries(columns).map(([name, list]) => [name, { columns: [...list], rows: 0 }]),
  );
}
