import { beforeAll, describe, expect, it } from 'vitest';
import type { Given } from '../support.js';
import { fitted, lotsOf } from './market.js';

const LOTS = lotsOf({ lots: 5_000, months: 14 });
const runs = [{ run_id: 'r', started_at: '2025-02-10T00:00:00Z', minimum_group: 5 }];

interface Priced {
  readonly lot_id: number;
  readonly price: number;
  readonly given_at: string;
}

let priced: readonly Priced[];
let plain: readonly Interval[];
beforeAll(async () => {
  const market = await fitted(LOTS, { runs });
  const found = await market.rows(
    `select lot_id, price, strftime(priced_at - interval 1 day, '%Y-%m-%dT%H:%M:%SZ') as given_at from price_inputs
     where price is not null and priced_at > timestamptz '2024-08-20' order by lot_id`,
  );
  priced = found.map(({ lot_id, price, given_at }) => ({
    lot_id: Number(lot_id),
    price: Number(price),
    given_at: String(given_at),
  }));
  plain = await intervals(market.rows);
  market.close();
}, 60_000);

interface Interval {
  readonly lot: number;
  readonly band: string;
  /** Logarithms of the ends of the interval against the estimate. */
  readonly ends: readonly number[];
  readonly widened: number;
}

async function intervals(rows: (sql: string) => Promise<readonly Record<string, unknown>[]>) {
  const found = await rows(
    'select lot_id, estimate_band, estimate, low_80, high_80, widened from price_estimates where low_80 > 500 order by lot_id',
  );
  return found.map(({ lot_id, estimate_band, estimate, low_80, high_80, widened }) => ({
    lot: Number(lot_id),
    band: String(estimate_band),
    ends: [low_80, high_80].map((end) => Math.log(Number(end) / Number(estimate))),
    widened: Number(widened),
  }));
}

/** Four in five of the prices lie within so many times the distance of the ends; the hundredths of the rest lie evenly. */
const DISTANCES = Array.from({ length: 100 }, (_, i) => (i + 1) / 80);

/** Estimates as a lake gave them, whose ends the prices would need `lack` times as far away. */
const given = (count: number, lackOf: (price: number) => number, widened: number | null): Given[] =>
  priced.slice(0, count).map(({ lot_id, price, given_at }, i) => {
    const lack = lackOf(price);
    const far = (i % 2 === 0 ? 1 : -1) * 0.1 * lack * (DISTANCES[i % DISTANCES.length] ?? 1);
    const estimate = price * Math.exp(far);
    const [low_80, high_80] = [estimate * Math.exp(-0.1), estimate * Math.exp(0.1)];
    const ends = { low_80, low_50: estimate * 0.95, high_50: estimate * 1.05, high_80, widened };
    return { lot_id, domain_id: 1, market: 'auction', currency: 'USD', given_at, estimate, ...ends };
  });

async function widenedBy(given_estimates: readonly Given[]) {
  const market = await fitted(LOTS, { runs, given_estimates });
  const found = await intervals(market.rows);
  market.close();
  return found;
}

describe('intervals of a lake that has given estimates before', () => {
  it('are those of the model without them', () => {
    expect(priced.length).toBeGreaterThan(1_900);
    expect(new Set(plain.map(({ widened }) => widened))).toEqual(new Set([1]));
  });

  it('are as much wider as their prices ask for, half of it at 1,000', async () => {
    const wide = await widenedBy(given(1_000, () => 1.3, null));
    const bands = new Map(wide.map(({ band, widened }) => [band, widened]));
    // A class has one factor, whichever side of its edge an estimate was rounded from.
    for (const { band, widened } of wide) expect(widened).toBe(bands.get(band));
    // Of 1,000 prices, half of 1.3 as a logarithm is what the market asks for; a class adds what it asks for beyond.
    for (const widened of bands.values()) {
      expect(widened).toBeGreaterThan(1.3 ** 0.45);
      expect(widened).toBeLessThan(1.3 ** 0.75);
    }
    const ratios = wide.flatMap(({ lot, ends, widened }) => {
      const before = plain.find((each) => each.lot === lot)?.ends ?? [];
      return ends.map((end, i) => end / (before[i] ?? Number.NaN) / widened);
    });
    // Ends are whole dollars.
    for (const ratio of ratios) expect(ratio).toBeCloseTo(1, 1);
  });

  it('stay as they are once they hold, since what is kept tells how much wider they were', async () => {
    const [first] = await widenedBy(given(1_000, () => 1.3, null));
    const asked = first?.widened ?? 1;
    const [second] = await widenedBy(given(1_000, () => 1.3 / asked, asked));
    expect(second?.widened).toBeCloseTo(asked, 2);
  });

  it('follow the class of the estimate where it has prices enough', async () => {
    const wide = await widenedBy(given(priced.length, (price) => (price < 3_000 ? 1.5 : 1), null));
    const of = (name: string): number => wide.find(({ band }) => band === name)?.widened ?? Number.NaN;
    expect(of('1,000 to 2,999')).toBeGreaterThan(of('3,000 to 9,999') + 0.05);
  });

  it('hardly change with 145 prices, and not at all with fewer than 100', async () => {
    const few = await widenedBy(given(145, () => 1.3, null));
    expect(few.every(({ widened }) => widened > 1.02 && widened < 1.08)).toBe(true);
    const none = await widenedBy(given(99, () => 1.3, null));
    expect(none.map(({ ends }) => ends)).toEqual(plain.map(({ ends }) => ends));
  });
});
