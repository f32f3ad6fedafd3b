import { openTemporarySession } from '../../src/duck/session.js';
import type { TableSchema } from '../../src/lake/schema.js';
import { readSchemas } from '../../src/load/batch.js';
import type { StreamName } from '../../src/service/streams.js';

/** The tables that are made from the records of a stream. */
export async function schemasOf(name: StreamName): Promise<TableSchema[]> {
  const { session, close } = await openTemporarySession({ memory: '500MB' });
  const schemas = await readSchemas(session).finally(close);
  return [...schemas.values()].filter(({ table }) => table.stream === name);
}
