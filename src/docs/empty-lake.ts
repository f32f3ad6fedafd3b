import { identifier, type Session } from '../duck/session.js';
import { type Column, describeTable } from '../lake/schema.js';
import { lakeTables, ownTables } from '../lake/tables.js';
import { createEmptyBatch } from '../load/batch.js';
import { runModels } from '../model/run-models.js';
import { readViews } from '../publish/warehouse.js';
import { withDatabase } from '../query/open-lake.js';
import { contractOf } from '../service/contract/node.js';
import { streams } from '../service/streams.js';
import type { Contents } from './dictionary.js';

/** Creates every lake table, empty, with its real columns. */
export async function createEmptyTables(session: Session): Promise<void> {
  const describing = await session.connect();
  const create = async (name: string, columns: readonly Column[]): Promise<void> => {
    const list = columns.map((column) => `${identifier(column.name)} ${column.type}`).join(', ');
    await session.connection.run(`create table ${identifier(name)} (${list})`);
  };
  for (const stream of Object.values(streams)) {
    await createEmptyBatch(describing, stream.name, contractOf(stream.schema));
    for (const table of lakeTables().filter((each) => each.stream === stream.name))
      await create(table.name, (await describeTable(describing, table)).columns);
  }
  for (const table of ownTables) await create(table.name, table.columns);
  describing.closeSync();
}

/** Columns and types of every table and mart as a run publishes them, found without a snapshot. */
export function describeEmptyLake(): Promise<Contents> {
  return withDatabase({ memory: '500MB' }, undefined, async ({ session, temp }) => {
    await createEmptyTables(session);
    await runModels(session.connection, { target: temp, parquet: () => 'format parquet' });
    const described = await readViews(session.connection);
    return { tables: described, marts: described };
  });
}
