import { identifier, type Session, type TemporarySession } from '../../base/duck/session.js';
import { readSchemas } from '../../core/lake/rows/schemas.js';
import { type Column, columnsOf } from '../../core/lake/schema.js';
import { lakeTables, systemTables } from '../../core/lake/tables.js';
import type { Contents } from '../../core/model/dictionary.js';
import { type Model, readModels } from '../../core/model/model-files.js';
import { runModels } from '../../core/model/run-models.js';

/** Creates every lake table, empty, with its real columns. */
export async function createEmptyTables(session: Session): Promise<void> {
  const schemas = await readSchemas(session);
  const cut = [...schemas].map(([name, { columns }]) => ({ name, columns }));
  for (const { name, columns } of [...cut, ...systemTables]) {
    const list = columns.map((column) => `${identifier(column.name)} ${column.type}`).join(', ');
    await session.connection.run(`create table ${identifier(name)} (${list})`);
  }
}

/** Columns and types of every table and mart as a run publishes them, found in a new database without a snapshot. */
export async function describeEmptyLake({ session, temp }: TemporarySession): Promise<Contents> {
  await createEmptyTables(session);
  await runModels(session.connection, { target: temp });
  const published = readModels().filter(({ exists }) => exists !== 'none');
  const describe = async (named: readonly { readonly name: string }[]) => {
    const described: Record<string, { columns: readonly Column[]; rows: number }> = {};
    for (const { name } of named)
      described[name] = { columns: await columnsOf(session.connection, `from ${identifier(name)}`), rows: 0 };
    return described;
  };
  const isView = ({ exists }: Model): boolean => exists === 'view';
  return {
    tables: await describe([...lakeTables(), ...systemTables]),
    marts: await describe(published.filter((model) => !isView(model))),
    views: await describe(published.filter(isView)),
  };
}
