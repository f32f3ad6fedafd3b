import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, it } from 'vitest';
import { describeAsIceberg } from '../../src/mirror/tables.js';
import { temporaryFolder } from '../pipelines/support.js';
import { contentOf, memoryStore } from './memory-store.js';
import { lakeOf, makeSnapshot, pushTo } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

it('keeps the key of a table whose file returns to its content of two snapshots ago', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const nights = [];
  for (const [id, lot] of [
    ['20261118T020000Z-00000a', 1],
    ['20261119T020000Z-00000a', 2],
    ['20261120T020000Z-00000a', 1],
  ] as const) {
    const file = join(folder.path, 'lake', 'snapshots', id, 'open', 'data_0.parquet');
    mkdirSync(join(file, '..'), { recursive: true });
    await connection.run(`copy (select ${lot}::bigint as lot_id) to '${file}' (field_ids {lot_id: 7})`);
    const open = {
      ...{ columns: [{ name: 'lot_id', type: 'BIGINT' }], key: ['lot_id'], partitioned: false, rows: 1 },
      ...{ bytes: 1, files: [{ path: 'open/data_0.parquet', rows: 1, ...contentOf(readFileSync(file)) }] },
    };
    nights.push(makeSnapshot(folder.path, id, {}, { tables: { open } }));
  }
  const store = memoryStore();
  for (const i of nights.keys())
    await pushTo(store, lakeOf(nights.slice(0, i + 1)), describeAsIceberg(connection, store, []));
  const metadata = [...store.objects].filter(([name]) => /\/v3\.metadata\.json$/.test(name));
  expect(metadata).toHaveLength(1);
  const { schemas, 'current-schema-id': current } = JSON.parse(String(metadata[0]?.[1].body));
  expect(schemas[current]).toHaveProperty('identifier-field-ids');
});
