import { openTemporarySession } from '../../src/base/duck/session.js';
import { readSchemas } from '../../src/core/lake/rows/schemas.js';
import type { TableSchema } from '../../src/core/lake/schema.js';
import type { StreamName } from '../../src/core/service/streams.js';

/** The tables that are made from the records of a stream. */
export async function schemasOf(name: StreamName): Promise<TableSchema[]> {
  const { session, close } = await openTemporarySession({ memory: '500MB' });
  const schemas = await readSchemas(session).finally(close);
  return [...schemas.values()].filter(({ table }) => table.stream === name);
}
