import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { expect } from 'vitest';
import { readPrevious, withEntries } from '../../src/beyond/iceberg/commit-plan.js';
import { liveEntries } from '../../src/beyond/iceberg/manifests.js';
import { headOf } from '../../src/beyond/mirror/heads.js';
import { type Current, readCurrent, readRecord } from '../../src/beyond/mirror/mirror-layout.js';
import type { LocalSnapshot } from '../../src/beyond/mirror/push-snapshots.js';
import type { ObjectStore } from '../../src/beyond/mirror/store.js';
import type { Manifest } from '../../src/core/lake/manifest.js';
import { contentOf } from './memory-store.js';
import { makeSnapshot } from './support.js';

/** Field id of `lot_id` in every lake. */
const FIELD_ID = 1815785;

/** Lots of each table by file, such as `{ lots: [[1, 2], [3]] }` for two files. */
type Contents = Readonly<Record<string, readonly (readonly number[])[]>>;

/** Writes a snapshot of a night with tables of one column `lot_id`, as Parquet. Tables named `mart_…` are marts. */
export async function makeNight(
  connection: DuckDBConnection,
  output: string,
  night: number,
  contents: Contents,
): Promise<LocalSnapshot> {
  const id = `202611${night}T020000Z-00000a`;
  const all: Record<string, Manifest['tables'][string]> = {};
  for (const [name, lots] of Object.entries(contents)) {
    const files = [];
    for (const [i, values] of lots.entries()) {
      const path = `${name}/data_${i}.parquet`;
      const file = join(output, 'lake', 'snapshots', id, path);
      mkdirSync(dirname(file), { recursive: true });
      const rows = values.map((lot) => `(${lot}::bigint)`).join(', ');
      await connection.run(
        `copy (select * from (values ${rows}) as t(lot_id)) to '${file}' (field_ids {lot_id: ${FIELD_ID}})`,
      );
      files.push({ path, rows: values.length, ...contentOf(readFileSync(file)) });
    }
    const columns = [{ name: 'lot_id', type: 'BIGINT', field_id: FIELD_ID }];
    all[name] = { columns, key: ['lot_id'], partitioned: false, rows: lots.flat().length, bytes: 1, files };
  }
  const isMart = ([name]: readonly [string, unknown]): boolean => name.startsWith('mart_');
  const parts = Object.entries(all);
  return makeSnapshot(
    output,
    id,
    {},
    {
      tables: Object.fromEntries(parts.filter((part) => !isMart(part))),
      marts: Object.fromEntries(parts.filter(isMart)),
    },
  );
}

/** What a reader of Iceberg metadata finds in a table. */
export interface Found {
  readonly version: number;
  /** Snapshot of the lake whose rows it reads. */
  readonly night: string;
  /** Since when the lake has no such table. */
  readonly absentSince: string | undefined;
  /** Objects that it reads. */
  readonly objects: readonly string[];
}

/**
 * Reads a table as a reader does that follows its hint; undefined if there is no hint.
 * @param version reads this version of the metadata instead
 * @param snapshot Iceberg's id of a snapshot; by default the current one
 */
export async function readTable(
  store: ObjectStore,
  table: string,
  { version, snapshot }: { readonly version?: number; readonly snapshot?: number } = {},
): Promise<Found | undefined> {
  const read = async (uri: string): Promise<Buffer | undefined> => {
    const name = uri.slice(store.place.length + 1);
    if (version !== undefined && name.endsWith('.text')) return Buffer.from(String(version));
    const body = (await store.read(name))?.body;
    if (body === undefined || snapshot === undefined || !name.endsWith('.json')) return body;
    return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), 'current-snapshot-id': snapshot }));
  };
  const found = await readPrevious(`${store.place}/tables/${table}`, read);
  if (found === undefined) return undefined;
  const current = found.metadata['current-snapshot-id'];
  const summary = found.metadata.snapshots.find((each) => each['snapshot-id'] === current)?.summary ?? {};
  const { manifests } = await withEntries(found, []);
  const live = liveEntries(manifests.flatMap(({ entries = [] }) => entries));
  return {
    version: found.version,
    night: summary['lotlake.snapshot'] ?? '',
    absentSince: summary['lotlake.absent_since'],
    objects: live.map(({ data_file }) => data_file.file_path.slice(store.place.length + 1)).sort(),
  };
}

/** Objects of a table in the record of a night. */
async function objectsOf(store: ObjectStore, night: string, table: string): Promise<string[]> {
  const { files } = await readRecord(store, night);
  return files.flatMap(({ path, object }) => (path.startsWith(`${table}/`) ? [object] : [])).sort();
}

/** N of the newest `vN.metadata.json` of each table that is there, whatever its hint says. */
export async function newestVersions(store: ObjectStore): Promise<ReadonlyMap<string, number>> {
  const versions = new Map<string, number>();
  for (const name of (await store.list('tables/')).keys()) {
    const { table, version } = headOf(name) ?? {};
    if (table !== undefined && version) versions.set(table, Math.max(version, versions.get(table) ?? 0));
  }
  return versions;
}

/**
 * Reads every table of a mirror by its hint, and by the newest metadata that is there, as Hadoop catalogs do. Fails unless
 * each is a whole night that the mirror has, and `current.json` says whether it is the newest of the table.
 * @returns the nights that readers find, without those of tables that `current.json` calls unchanged since
 */
export async function readMoment(store: ObjectStore): Promise<ReadonlySet<string>> {
  const current: Current | undefined = (await readCurrent(store))?.current;
  const objects = await store.list('');
  const nights = new Set<string>();
  for (const [table, newest] of await newestVersions(store))
    for (const found of [await readTable(store, table), await readTable(store, table, { version: newest })]) {
      if (found === undefined) continue;
      for (const object of found.objects) expect(objects.has(object), object).toBe(true);
      expect(current?.snapshots.map(({ snapshot_id }) => snapshot_id)).toContain(found.night);
      expect(found.objects, `${table} of ${found.night}`).toEqual(await objectsOf(store, found.night, table));
      const state = current?.tables?.[table];
      const isNewest = state?.version === found.version;
      expect(isNewest, table).toBe(state?.night === found.night);
      nights.add(isNewest ? (current?.snapshot_id ?? '') : found.night);
    }
  return nights;
}
