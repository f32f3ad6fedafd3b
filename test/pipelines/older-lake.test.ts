import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { printedBy } from '../cli/support.js';
import { bareDuckDb, temporaryFolder } from './support.js';
import { readLake, rowsOf, type Stage, setUp } from './world-oracle.js';

/** Removes a column from an unpartitioned table of the current snapshot, and from its manifest. */
async function forget(output: string, table: string, column: string): Promise<void> {
  const current = join(output, 'lake', 'current');
  const path = join(current, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const stored = manifest.tables[table];
  const [file] = stored.files;
  const parquet = join(current, file.path);
  const duck = await bareDuckDb();
  await duck.query(
    `copy (select * exclude (${column}) from '${parquet}') to '${parquet}.new' (format parquet)`,
  );
  duck.close();
  const bytes = readFileSync(`${parquet}.new`);
  rmSync(`${parquet}.new`);
  rmSync(parquet);
  writeFileSync(parquet, bytes);
  stored.columns = stored.columns.filter(({ name }: { name: string }) => name !== column);
  Object.assign(file, { bytes: statSync(parquet).size, sha256: undefined });
  Object.assign(manifest, { pass_ids: [], fingerprints: null, recipe: undefined });
  writeFileSync(path, JSON.stringify(manifest));
}

describe('a lake that was made before a column was known', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setUp({ vehicles: 60, seed: 3, clock: new Date('2026-11-18T02:00:00Z') });
    await stage.night();
  });
  afterAll(() => stage.close());

  it('gets the column from the next run, even in a table without new rows', async () => {
    const before = rowsOf(await readLake(stage.output), 'statistics');
    expect(before.length).toBeGreaterThan(5);
    await forget(stage.output, 'statistics', 'lot_count');
    expect(Object.keys(rowsOf(await readLake(stage.output), 'statistics')[0] ?? {})).not.toContain(
      'lot_count',
    );
    const { result } = await stage.run(incremental, { minutes: 30 });
    expect(result.passes.map(({ record }) => record.stream)).not.toContain('statistics');
    const after = rowsOf(await readLake(stage.output), 'statistics');
    expect(after).toEqual(before.map((row) => ({ ...row, lot_count: null })));
    expect(result.manifest.tables.statistics?.columns.map(({ name }) => name)).toContain('lot_count');
  });

  it('keeps its passes and runs, whose sources and days are unknown', async () => {
    for (const column of ['sources', 'hidden']) await forget(stage.output, 'passes', column);
    await forget(stage.output, 'runs', 'relisting_days');
    // The records of runs have the days.
    rmSync(join(stage.output, 'runs'), { recursive: true });
    const before = await readLake(stage.output);
    await stage.run(incremental, { minutes: 60 });
    const after = await readLake(stage.output);
    const passes = rowsOf(before, 'passes').map((row) => ({ ...row, sources: null, hidden: null }));
    expect(rowsOf(after, 'passes')).toEqual(expect.arrayContaining(passes));
    const days = rowsOf(after, 'runs').map(({ relisting_days }) => relisting_days);
    expect(days.sort()).toEqual([30, null, null]);
  });

  it('loses a mart that an earlier lotlake had, in the warehouse, pages and exports', async () => {
    const current = join(stage.output, 'lake', 'current');
    const path = join(current, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const { statistics } = manifest.tables;
    const files = statistics.files.map((file: { path: string }) => ({
      ...file,
      path: file.path.replace('statistics', 'price_ratios'),
    }));
    cpSync(join(current, 'statistics'), join(current, 'price_ratios'), { recursive: true });
    manifest.marts.price_ratios = { ...statistics, files };
    delete manifest.recipe;
    writeFileSync(path, JSON.stringify(manifest));
    const asked = async (...args: string[]) => String(await printedBy(stage.output, ...args));
    expect(await asked('query', 'select count(*) > 0 as found from price_ratios', '--format', 'csv')).toMatch(
      /true/,
    );
    await stage.run(incremental, { minutes: 45 });
    expect(existsSync(join(current, 'price_ratios'))).toBe(false);
    const duck = await bareDuckDb();
    const views = await duck.query(
      `attach '${join(current, 'warehouse.duckdb')}' as w (read_only); select view_name from duckdb_views() where database_name = 'w'`,
    );
    duck.close();
    const names = views.map((row) => String(Object.values(row)[0]));
    expect(names).toContain('statistics');
    expect(names).not.toContain('price_ratios');
    const { path: to, remove } = temporaryFolder();
    await asked('docs', '--to', join(to, 'tables.md'));
    const described = readFileSync(join(to, 'tables.md'), 'utf8');
    expect(described).toContain('## statistics');
    expect(described).not.toContain('price_ratios');
    remove();
  });
});
