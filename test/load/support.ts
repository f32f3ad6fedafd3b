import { DuckDBInstance } from '@duckdb/node-api';
import { describeTable, type TableSchema } from '../../src/lake/schema.js';
import { lakeTables } from '../../src/lake/tables.js';
import { createEmptyBatch } from '../../src/load/batch.js';
import { contractOf } from '../../src/service/contract/node.js';
import { type StreamName, streams } from '../../src/service/streams.js';

const known = new Map<StreamName, Promise<TableSchema[]>>();

/** The tables that are cut from the records of a stream. */
export function schemasOf(name: StreamName): Promise<TableSchema[]> {
  const schemas = known.get(name) ?? describeTables(name);
  known.set(name, schemas);
  return schemas;
}

async function describeTables(name: StreamName): Promise<TableSchema[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await createEmptyBatch(connection, name, contractOf(streams[name].schema));
    const schemas: TableSchema[] = [];
    for (const table of lakeTables().filter(({ stream }) => stream === name))
      schemas.push(await describeTable(connection, table));
    return schemas;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
