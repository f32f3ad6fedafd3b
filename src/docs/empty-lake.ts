import { identifier, type Session } from '../duck/session.js';
import type { ManifestTable } from '../lake/manifest.js';
import { type Column, columnsOf } from '../lake/schema.js';
import { lakeTables, ownTables } from '../lake/tables.js';
import { readSchemas } from '../load/batch.js';
import { readModels } from '../model/model-files.js';
import { runModels } from '../model/run-models.js';
import { withDatabase } from '../query/open-lake.js';
import type { Contents } from './dictionary.js';

/** Creates every lake table, empty, with its real columns. */
export async function createEmptyTables(session: Session): Promise<void> {
  const create = async (name: string, columns: readonly Column[]): Promise<void> => {
    const list = columns.map((column) => `${identifier(column.name)} ${column.type}`).join(', ');
    await session.connection.run(`create table ${identifier(name)} (${list})`);
  };
  for (const [name, { columns }] of await readSchemas(session)) await create(name, columns);
  for (const table of ownTables) await create(table.name, table.columns);
}

/** Columns and types of every table and mart as a run publishes them, found without a snapshot. */
export function describeEmptyLake(): Promise<Contents> {
  return withDatabase({ memory: '500MB' }, undefined, async ({ session, temp }) => {
    await createEmptyTables(session);
    await runModels(session.connection, { target: temp, parquet: () => 'format parquet' });
    const described: Record<string, Pick<ManifestTable, 'columns' | 'rows'>> = {};
    for (const { name } of [...lakeTables(), ...ownTables, ...readModels()])
      described[name] = { columns: await columnsOf(session.connection, `from ${identifier(name)}`), rows: 0 };
    return { tables: described, marts: described };
  });
}
