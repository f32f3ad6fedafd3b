import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { DescribeTables } from '../../src/beyond/mirror/mirror-tables.js';
import {
  type LocalLake,
  type LocalSnapshot,
  type Pushing,
  push,
} from '../../src/beyond/mirror/push-snapshots.js';
import { type Manifest, writeManifest } from '../../src/core/lake/manifest.js';
import { contentOf, type MemoryStore } from './memory-store.js';

/** Writes a snapshot with files of one table. `texts` are their contents by path below the table. */
export function makeSnapshot(
  output: string,
  id: string,
  texts: Readonly<Record<string, string>>,
  more: Partial<Manifest> = {},
): LocalSnapshot {
  const folder = join(output, 'lake', 'snapshots', id);
  const files = Object.entries(texts).map(([path, text]) => {
    const place = join(folder, 'lots', path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    return { path: `lots/${path}`, rows: 1, ...contentOf(Buffer.from(text)) };
  });
  writeFileSync(join(folder, 'warehouse.duckdb'), `views of ${id}`);
  const table = { columns: [], key: [], partitioned: true, rows: files.length, bytes: 1, files };
  const manifest: Manifest = {
    ...{
      snapshot_id: id,
      schema_version: 4,
      lotlake_version: '0',
      origin: 'service',
      run_id: id,
      sequence: 0,
    },
    ...{ pipeline: 'nightly', created_at: `2026-11-${id.slice(6, 8)}T02:00:00.000Z`, last_pass_at: {} },
    ...{ pass_ids: [], fingerprints: null, tables: { lots: table }, marts: {}, views: {}, ...more },
  };
  writeManifest(folder, manifest);
  return { id, folder, manifest };
}

/** A lake of these snapshots. The last one is current. */
export const lakeOf = (kept: readonly LocalSnapshot[], earlier: readonly string[] = []): LocalLake => ({
  kept,
  published: new Set([...kept.map(({ id }) => id), ...earlier]),
});

/** Metadata of a table that names snapshots of the lake, in place of Iceberg's. */
const metadataOf = (ids: readonly string[]) => ({
  'current-snapshot-id': ids.length,
  snapshots: ids.map((id, i) => ({ 'snapshot-id': i + 1, summary: { 'lotlake.snapshot': id } })),
});

const nightsIn = (metadata: ReturnType<typeof metadataOf> | null): string[] =>
  metadata?.snapshots.map(({ summary }) => summary['lotlake.snapshot']) ?? [];

/** Describes a table by the ids of its snapshots, in place of Iceberg's schemas and manifests. */
const describeById: DescribeTables = async ({ manifest: { snapshot_id: id } }, _files, { heads }) => {
  const folder = 'tables/lots/metadata';
  const [, before = 'null'] = [...heads].find(([name]) => name.endsWith('.json')) ?? [];
  const kept = [...nightsIn(JSON.parse(before)), id];
  const name = `${folder}/m-${id}.avro`;
  return {
    named: [name],
    before: new Map([[name, Buffer.from(id)]]),
    heads: new Map([
      [`${folder}/version-hint.text`, `${kept.length}`],
      [`${folder}/v${kept.length}.metadata.json`, JSON.stringify(metadataOf(kept))],
    ]),
    contents: new Map([['lots', contentOf(Buffer.from(id)).sha256]]),
  };
};

export function pushTo(
  store: MemoryStore,
  lake: LocalLake,
  describeTables = describeById,
  more: Partial<Pushing> = {},
) {
  const now = (): Date => store.now;
  const warn = (): void => undefined;
  return push(lake, { store, describeTables, now, warn, ...more });
}

const json = (store: MemoryStore, name: string) =>
  JSON.parse(store.objects.get(name)?.body.toString() ?? 'null');

/** What a reader finds: the texts of the current snapshot by path. Fails if anything that it needs is missing. */
export function readWhole(store: MemoryStore): Record<string, string> | undefined {
  const current = json(store, 'current.json');
  readTables(store, current?.snapshots ?? []);
  if (current === null) return undefined;
  const record = store.objects.get(`snapshots/${current.snapshot_id}.json`)?.body ?? Buffer.alloc(0);
  const { files, metadata } = JSON.parse(gunzipSync(record).toString());
  const texts: Record<string, string> = {};
  for (const { path, object, sha256 } of files) {
    const body = store.objects.get(object)?.body ?? Buffer.from('missing');
    expect(contentOf(body).sha256, object).toBe(sha256);
    texts[path] = body.toString();
  }
  for (const name of metadata) expect(store.objects.has(name), name).toBe(true);
  return texts;
}

/**
 * Reads the newest version of the table's metadata, as a reader does. It names only snapshots that were switched to.
 */
function readTables(store: MemoryStore, snapshots: readonly { snapshot_id: string }[]): void {
  const versions = [...store.objects.keys()].filter((name) => name.endsWith('.metadata.json'));
  const newest = versions.sort().at(-1);
  if (newest === undefined) return;
  const known = snapshots.map(({ snapshot_id }) => snapshot_id);
  expect(known).toEqual(expect.arrayContaining(nightsIn(json(store, newest))));
  const hint = store.objects.get('tables/lots/metadata/version-hint.text')?.body.toString();
  if (hint !== undefined) expect(versions).toContain(`tables/lots/metadata/v${hint}.metadata.json`);
}
