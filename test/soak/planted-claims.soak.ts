import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { market } from '../../src/sandbox/data/market.js';
import { startSandbox } from '../../src/sandbox/index.js';
import {
  bareDuckDb,
  configFor,
  type PlainRow,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';

/** Vehicles of the world. A tenth of them are on source 12, and only its prices reflect claims. */
const VEHICLES = 100_000;

/**
 * Standard deviation of the logarithm of an asking price among lots of one model year, number of claims and accident
 * state. It comes from the noise of the market, mileage, the time of listing and price cuts. Measured 0.18 to 0.25.
 */
const SPREAD = 0.25;

/** Error in the logarithm that the median of that many ratios exceeds in only 3 of 1,000 worlds. */
const margin = (count: number): number => (3 * 1.2533 * SPREAD) / Math.sqrt(count);

let bands: readonly PlainRow[];
const folder = temporaryFolder();

beforeAll(async () => {
  const sandbox = await startSandbox({ vehicles: VEHICLES, domains: [12], faults: WITHOUT_CATALOG });
  const clock = sandbox.clock;
  const config = configFor(sandbox.url, folder.path, { threads: 2, sources: [12] });
  await nightly({ config, reporter: silentReporter(), now: () => clock });
  await sandbox.close();
  const duck = await bareDuckDb();
  bands = await duck.query(
    `select claims_band, accident, compared_lots, ln(price_ratio_median) as discount
     from '${join(folder.path, 'lake', 'current', 'accident_discount', '*.parquet')}'
     where price_kind = 'asking' and accident_evidence = 'inspection'`,
  );
  duck.close();
});
afterAll(() => folder.remove());

/** Number of lots and discount, in the logarithm, for a number of claims with or without an accident. */
function discountOf(claims: number, accident: 'yes' | 'no'): { count: number; discount: number } {
  const found = bands.find((row) => row.claims_band === claims && row.accident === accident);
  return { count: Number(found?.compared_lots), discount: Number(found?.discount) };
}

/** About a minute and a half. Looks for the planted discounts in the asking prices of source 12. */
describe('accident_discount', () => {
  it.each([1, 2])('finds the planted discount of %i claims without an accident', (claims) => {
    const { count, discount } = discountOf(claims, 'no');
    const planted = claims * Math.log(market.claimFactor);
    print(`${claims} claims`, Math.exp(discount), market.claimFactor ** claims, count);
    expect(Math.abs(discount - planted)).toBeLessThan(margin(count));
    expect(margin(count), 'enough lots to separate the discount from none').toBeLessThan(-planted);
  });

  it('finds the planted discount of an accident at equal claims', () => {
    const pairs = [1, 2].map((claims) => ({
      hit: discountOf(claims, 'yes'),
      spared: discountOf(claims, 'no'),
    }));
    const count = pairs.reduce((sum, { hit }) => sum + hit.count, 0);
    const differences = pairs.map(({ hit, spared }) => (hit.discount - spared.discount) * hit.count);
    const discount = differences.reduce((sum, difference) => sum + difference, 0) / count;
    const spared = pairs.reduce((sum, pair) => sum + pair.spared.count, 0);
    const error = Math.hypot(margin(count), margin(spared));
    const planted = Math.log(market.accidentFactor);
    print('an accident', Math.exp(discount), market.accidentFactor, count);
    expect(Math.abs(discount - planted)).toBeLessThan(error);
    expect(error, 'enough lots to separate the discount from none').toBeLessThan(-planted);
  });
});

const print = (what: string, found: number, planted: number, count: number): boolean =>
  process.stdout.write(`${what}: ${found.toFixed(3)}, planted ${planted.toFixed(3)}, of ${count} lots\n`);
