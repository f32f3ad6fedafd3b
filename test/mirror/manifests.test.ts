import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, it } from 'vitest';
import { readPrevious } from '../../src/beyond/iceberg/commit-plan.js';
import { describeAsIceberg } from '../../src/beyond/mirror/mirror-tables.js';
import { vacuumMirror } from '../../src/beyond/mirror/vacuum-mirror.js';
import type { Manifest } from '../../src/core/lake/manifest.js';
import { temporaryFolder } from '../pipelines/support.js';
import { contentOf, memoryStore } from './memory-store.js';
import { lakeOf, makeSnapshot, pushTo } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

it('a vacuum keeps a manifest that a removed snapshot wrote and later ones still list', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const nights = [];
  for (const day of [18, 19, 20]) {
    const id = `202611${day}T020000Z-00000a`;
    const files = [];
    // The rows of 2025 stay, and those of 2026 change every night.
    for (const [month, lot] of [
      ['2025-03', 1],
      ['2026-11', day],
    ]) {
      const path = `lots/domain_id=3/month=${month}/data_0.parquet`;
      const file = join(folder.path, 'lake', 'snapshots', id, path);
      mkdirSync(join(file, '..'), { recursive: true });
      await connection.run(`copy (select ${lot}::bigint as lot_id) to '${file}' (field_ids {lot_id: 7})`);
      files.push({ path, rows: 1, ...contentOf(readFileSync(file)) });
    }
    const columns: Manifest['tables'][string]['columns'] = [
      { name: 'lot_id', type: 'BIGINT', field_id: 7 },
      { name: 'domain_id', type: 'BIGINT', field_id: 8 },
    ];
    const lots = { columns, key: ['lot_id'], partitioned: true, rows: 2, bytes: 1, files };
    nights.push(makeSnapshot(folder.path, id, {}, { tables: { lots } }));
  }
  const store = memoryStore();
  for (const i of nights.keys())
    await pushTo(store, lakeOf(nights.slice(0, i + 1)), describeAsIceberg(connection, store, []));
  const writes = [...store.objects.keys()].filter((name) => /\/2025q1-[^/]+\.avro$/.test(name));
  expect(writes).toHaveLength(1);

  store.now = new Date('2026-11-25T00:00:00Z');
  const keep = { keepSnapshots: 1, keepDays: 0 };
  await vacuumMirror({ store, keep, now: () => store.now, warn: () => undefined, isDryRun: false });
  const left = [...store.objects.keys()].filter((name) => /\/20\d\dq\d-[^/]+\.avro$/.test(name));
  const read = async (uri: string) => store.objects.get(uri.slice(`${store.place}/`.length))?.body;
  const metadata = await readPrevious(`${store.place}/tables/lots`, read);
  expect(metadata?.metadata.snapshots).toHaveLength(1);
  expect(left.sort()).toEqual(
    metadata?.manifests.map(({ listed }) => listed.manifest_path.slice(`${store.place}/`.length)).sort(),
  );
  expect(left).toHaveLength(2);
});
