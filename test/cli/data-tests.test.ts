import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';
import {
  bareDuckDb,
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';
import { runLotlake } from './support.js';

const folder = temporaryFolder();
const lotlake = (...args: string[]) => runLotlake(folder.path, ...args);

beforeAll(async () => {
  const sandbox = await startSandbox({ vehicles: 60, faults: WITHOUT_CATALOG });
  const job = { config: configFor(sandbox.url, folder.path), reporter: silentReporter() };
  await nightly({ ...job, now: () => sandbox.clock });
  const check = { model: 'checks', severity: 'error', description: 'No lot.' } as const;
  const none = 'select lot_id, domain_id from lots';
  const later = new Date(sandbox.clock.getTime() + 86_400_000);
  const held = nightly({
    ...job,
    now: () => later,
    modelling: {
      models: modelsOf(['sales']),
      checks: [{ ...check, test: 'there_is_no_lot', sql: none }],
    },
  });
  await expect(held).rejects.toMatchObject({
    code: 'MODEL_TESTS_FAILED',
    hint: expect.stringContaining('lotlake test --kept --show'),
  });
  await sandbox.close();
}, 60_000);
afterAll(() => folder.remove());

describe('lotlake test', () => {
  it('runs every test of the published snapshot', () => {
    const { code, out } = lotlake('test');
    expect(out).toMatch(/^snapshot \S+: \d{3} data tests, all passed\n$/);
    expect(code).toBe(0);
    const results = JSON.parse(lotlake('test', '--json', '--model', 'sales').out);
    expect(results.length).toBeGreaterThan(10);
    expect(new Set(results.map(({ model }: { model: string }) => model))).toEqual(new Set(['sales']));
    expect(lotlake('test', '--model', 'nothing').code).toBe(2);
  });

  it('shows the rows that held the last run, even after its snapshot is gone', async () => {
    const duck = await bareDuckDb();
    const lots = join(folder.path, 'lake', 'current', 'lots', '**', '*.parquet');
    const [row] = await duck.query(`select count(*) as n, min(lot_id) as first from '${lots}'`);
    duck.close();
    const { code, out } = lotlake('test', '--kept', '--show', '3');
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`there_is_no_lot.*error.*${row?.n}`));
    expect(out).toContain(`the first 3 of ${row?.n}`);
    expect(out).toContain(String(row?.first));
    const [result] = JSON.parse(lotlake('test', '--kept', '--show', '--json').out);
    expect(result).toMatchObject({ model: 'checks', test: 'there_is_no_lot', failures: row?.n });
    expect(result.rows).toHaveLength(20);
    expect(lotlake('test', '--kept').out).not.toContain('the first');
  });

  it('ends with exit code 5 if a test fails, and shows the failing rows', async () => {
    const duck = await bareDuckDb();
    const sales = join(folder.path, 'lake', 'current', 'sales', 'data_0.parquet');
    const [row] = await duck.query(`select lot_id from '${sales}' where is_trusted limit 1`);
    await duck.query(`create table s as select * replace (price - 1 as price) from '${sales}'`);
    await duck.query(`copy s to '${sales}' (format parquet)`);
    duck.close();
    // As if the rows had been published so: the files of the manifest are those on disk.
    const path = join(folder.path, 'lake', 'current', 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    manifest.marts.sales.files[0].bytes = statSync(sales).size;
    writeFileSync(path, JSON.stringify(manifest));
    const { code, out, err } = lotlake('test', '--show');
    expect(code).toBe(5);
    expect(err).toContain('MODEL_TESTS_FAILED');
    expect(out).toMatch(/sales: expression\(price is null or/);
    expect(out).toContain(String(row?.lot_id));
  });
});
