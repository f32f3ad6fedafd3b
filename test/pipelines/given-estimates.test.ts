import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';
import {
  configFor,
  type PlainRow,
  readLake,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from './support.js';

const NIGHTS = ['2026-11-04', '2026-11-12', '2026-11-20', '2026-11-28'].map(
  (day) => new Date(`${day}T02:00:00Z`),
);
const folder = temporaryFolder();
const current = join(folder.path, 'lake', 'current');
const modelling = { models: modelsOf(['price_estimates']), checks: [] };
let sandbox: Sandbox;

/** Runs a pipeline at a time of the sandbox. Returns the warnings. */
async function run(pipeline: typeof nightly, now: Date): Promise<readonly string[]> {
  sandbox.setClock(now);
  const reporter = silentReporter();
  const config = configFor(sandbox.url, folder.path, { perPage: 500 });
  await pipeline({ config, reporter, now: () => now, modelling });
  return reporter.warnings;
}

const lakes: ReadonlyMap<string, PlainRow[]>[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({
    vehicles: 900,
    seed: 7,
    clock: NIGHTS[0] ?? new Date(),
    faults: WITHOUT_CATALOG,
  });
  for (const night of NIGHTS.slice(0, 3)) {
    await run(nightly, night);
    lakes.push(await readLake(current));
  }
}, 240_000);
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

const rowsOf = (night: number, table: string): readonly PlainRow[] => lakes[night]?.get(table) ?? [];
const keyOf = ({ lot_id, given_at }: PlainRow): string => `${lot_id} ${given_at}`;

it('a first night has given no estimate before', () => expect(rowsOf(0, 'given_estimates')).toEqual([]));

it.each([1, 2])('night %i keeps what the night before estimated for lots whose auction is over', (night) => {
  const [from, to] = [NIGHTS[night - 1], NIGHTS[night]].map((date) => date?.getTime() ?? 0);
  const byLot = (rows: readonly PlainRow[]) => new Map(rows.map((row) => [row.lot_id, row]));
  const [old, now] = [byLot(rowsOf(night - 1, 'lots')), byLot(rowsOf(night, 'lots'))];
  const expected = rowsOf(night - 1, 'price_estimates').filter(({ lot_id, is_offered, price, estimate }) => {
    const [was, is] = [old.get(lot_id), now.get(lot_id)];
    if (is_offered !== true || price !== null || estimate === null || !was || !is) return false;
    const auction = was.sale_date === null ? Number.NaN : Date.parse(String(was.sale_date));
    const isOver = auction >= (from ?? 0) && auction < (to ?? 0);
    return isOver || ['status_id', 'final_bid', 'archived'].some((field) => was[field] !== is[field]);
  });
  expect(expected.length).toBeGreaterThan(30);
  const earlier = new Set(rowsOf(night - 1, 'given_estimates').map(keyOf));
  const kept = rowsOf(night, 'given_estimates').filter((row) => !earlier.has(keyOf(row)));
  const facts = (rows: readonly PlainRow[]) =>
    rows
      .map((row) => [
        row.lot_id,
        row.currency,
        row.estimate,
        row.low_80,
        row.low_50,
        row.high_50,
        row.high_80,
      ])
      .sort(([a], [b]) => Number(a) - Number(b));
  expect(facts(kept)).toEqual(facts(expected));
  expect(rowsOf(night, 'given_estimates')).toHaveLength(earlier.size + expected.length);
});

it('a damaged mart of estimates stops no night, and a rebuild keeps what was given', async () => {
  const before = rowsOf(2, 'given_estimates').map(keyOf).sort();
  await run(rebuild, new Date('2026-11-20T06:00:00Z'));
  expect(((await readLake(current)).get('given_estimates') ?? []).map(keyOf).sort()).toEqual(before);
  const mart = join(realpathSync(current), 'price_estimates');
  for (const file of readdirSync(mart)) {
    const path = join(mart, file);
    const bytes = readFileSync(path).fill(0, 4, 400);
    rmSync(path);
    writeFileSync(path, bytes);
  }
  const warnings = await run(nightly, NIGHTS[3] ?? new Date());
  expect(warnings.join('\n')).toContain('the estimates of');
  expect(((await readLake(current)).get('given_estimates') ?? []).map(keyOf).sort()).toEqual(before);
}, 240_000);
