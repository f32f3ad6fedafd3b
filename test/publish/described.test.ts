import { readlinkSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { version } from '../../src/base/config/package-root.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { dictionary } from '../../src/core/model/dictionary.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { bareDuckDb, configFor, silentReporter, temporaryFolder } from '../pipelines/support.js';
import { nightOf } from '../report/lake.js';
import { firstLot, recordsOf, vehicleAt } from '../served.js';

const folder = temporaryFolder();
const current = join(folder.path, 'lake', 'current');
const snapshots: string[] = [];
const published = (): void => {
  snapshots.push(basename(readlinkSync(current)));
};

beforeAll(async () => {
  const clock = new Date('2026-11-18T04:00:00Z');
  const sandbox = await startSandbox({ vehicles: 60, seed: 7, clock });
  const records = recordsOf(sandbox.world);
  await sandbox.close();
  await nightOf(folder.path, records, clock);
  published();
  firstLot(vehicleAt(records, 0)).bid = 12_345;
  await nightOf(folder.path, records, new Date('2026-11-19T04:00:00Z'));
  published();
}, 120_000);
afterAll(() => folder.remove());

async function ask(sql: string) {
  const duck = await bareDuckDb();
  try {
    return await duck.query(sql);
  } finally {
    duck.close();
  }
}

/** Key-value metadata of the Parquet files of the current snapshot, by path. */
async function metadata(): Promise<Map<string, Record<string, string>>> {
  const found = await ask(
    `select file_name, decode(key) as key, decode(value) as value from parquet_kv_metadata('${current}/**/*.parquet')`,
  );
  const files = new Map<string, Record<string, string>>();
  for (const { file_name, key, value } of found) {
    const file = String(file_name).slice(current.length + 1);
    files.set(file, { ...files.get(file), [String(key)]: String(value) });
  }
  return files;
}

describe('a Parquet file of a snapshot', () => {
  it('names its table, the snapshot that wrote it and the version of lotlake', async () => {
    const manifest = readManifest(realpathSync(current));
    const files = Object.entries({ ...manifest.tables, ...manifest.marts }).flatMap(([table, { files }]) =>
      files.map(({ path }) => ({ table, path })),
    );
    const found = await metadata();
    expect([...found.keys()].sort()).toEqual(files.map(({ path }) => path).sort());
    for (const { table, path } of files)
      expect(found.get(path), path).toMatchObject({ table, version, snapshot: expect.any(String) });
    const writers = (table: string) => [
      ...new Set(files.filter((file) => file.table === table).map(({ path }) => found.get(path)?.snapshot)),
    ];
    expect(writers('data_health')).toEqual([snapshots[1]]);
    // A partition that did not change is linked from the earlier snapshot.
    expect(writers('lots').sort()).toEqual(snapshots);
    expect(writers('prices')).toEqual([snapshots[0]]);
  });

  it('names the snapshot of a rebuild, also for rows of an earlier night', async () => {
    const config = configFor('http://127.0.0.1:9/api', folder.path);
    const result = await rebuild({
      config,
      reporter: silentReporter(),
      now: () => new Date('2026-11-20T04:00:00Z'),
    });
    const writers = [...(await metadata()).values()].map(({ snapshot }) => snapshot);
    expect(new Set(writers)).toEqual(new Set([result.snapshotId]));
  }, 60_000);
});

describe('warehouse.duckdb', () => {
  it('has the descriptions of tables and columns as comments on its views', async () => {
    const duck = await bareDuckDb();
    await duck.query(`attach '${join(current, 'warehouse.duckdb')}' as warehouse (read_only)`);
    const views = await duck.query(
      "select view_name as name, comment from duckdb_views() where database_name = 'warehouse' order by 1",
    );
    const columns = await duck.query(
      `select table_name || '.' || column_name as name, comment
       from duckdb_columns() where database_name = 'warehouse' order by 1`,
    );
    duck.close();
    const entries = dictionary(readManifest(realpathSync(current))).filter(
      ({ columns: has }) => has.length > 0,
    );
    expect(views).toEqual(
      entries
        .map(({ name, layer, description, grain }) => ({
          name,
          comment: `${layer === undefined ? '' : `[${layer}] `}${description} (${grain})`,
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
    const described = entries.flatMap((entry) =>
      entry.columns.map(({ name, description, unit }) => ({
        name: `${entry.name}.${name}`,
        comment: unit === undefined ? description : `${description} [${unit}]`,
      })),
    );
    expect(columns).toEqual(described.sort((a, b) => (a.name < b.name ? -1 : 1)));
    expect(columns.filter(({ comment }) => comment === null || comment === '')).toEqual([]);
  });
});

describe('the dictionary', () => {
  const column = (table: string, name: string) =>
    dictionary(readManifest(realpathSync(current)))
      .find((entry) => entry.name === table)
      ?.columns.find((entry) => entry.name === name);

  it('has the month of a table that is partitioned by it', () => {
    expect(column('lots', 'month')?.description).toMatch(/month .* of created_at/);
    expect(column('lot_changes', 'month')?.description).toMatch(/month .* of seen_at/);
    expect(column('vehicles', 'month')).toBe(undefined);
  });

  it('explains null in archived, and names what is only in landing', () => {
    for (const table of ['lots', 'vehicles'])
      expect(column(table, 'archived')?.description).toMatch(
        /Never null: if the feed gives neither .* the last known value stays/,
      );
    expect(column('lots', 'archived')?.source).toBe('lots[].archived');
    expect(column('lots', 'extra')?.description).toMatch(/null.*begins? with _.*landing only/);
  });
});
