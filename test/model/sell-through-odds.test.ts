import { describe, expect, it } from 'vitest';
import { stream, unit } from '../../src/sandbox/world/random.js';
import { apart, base, lot, NOT_SOLD, nights, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('sell_through_odds');

async function ask(given: Readonly<Record<string, readonly Given[]>>, columns: string) {
  await marts.compute({ ...base, ...given });
  return marts.query(`select ${columns} from sell_through_odds order by lot_id`);
}

let next = 1000;
/** Lots that were offered in August and have left since. */
const offered = (count: number, sold: number, rest: Given = {}): Given[] =>
  Array.from({ length: count }, (_, place) =>
    lot({
      ...{ lot_id: next++, sale_date: '2026-08-01T15:00:00Z', final_bid: 1000, archived: true },
      ...{ last_seen_at: '2026-08-03T02:00:00Z', status_id: place < sold ? SOLD : NOT_SOLD },
      ...rest,
    }),
  );

describe('the next attempt', () => {
  const columns =
    'lot_id, attempt, cast(cast(sale_date as date) as varchar) as day, sell_probability is null as is_null, reason';
  const open = [
    lot({ lot_id: 1 }),
    lot({ lot_id: 2, sale_date: '2026-09-20T15:00:00Z', status_id: 3 }),
    lot({ lot_id: 3, sale_date: '2026-09-05T15:00:00Z', status_id: NOT_SOLD }),
    lot({ lot_id: 4, sale_date: '2026-09-05T15:00:00Z', status_id: 4 }),
    lot({ lot_id: 5, sale_date: '2026-09-09T20:00:00Z', status_id: 3 }),
    lot({ lot_id: 6, sale_date: '2026-09-05T15:00:00Z', status_id: SOLD, final_bid: 900 }),
    lot({ lot_id: 7, domain_id: 12 }),
    lot({ lot_id: 8, archived: true }),
  ];

  it('is listed for each unsold auction lot of the feed', async () => {
    const row = { attempt: 1, day: null, is_null: false, reason: null };
    expect(await ask(apart({ ...base, lots: [...open, ...offered(10, 5)] }), columns)).toEqual([
      { ...row, lot_id: 1 },
      { ...row, lot_id: 2, day: '2026-09-20' },
      { ...row, lot_id: 3, attempt: 2 },
      { ...row, lot_id: 4, attempt: 2, is_null: true, reason: 'awaits_result' },
      { ...row, lot_id: 5, attempt: 2, is_null: true, reason: 'awaits_result' },
    ]);
  });

  it('has no odds on a first night, nor from fewer attempts than the minimum group', async () => {
    const lots = [lot({ lot_id: 1 }), ...offered(10, 5)];
    const passes = nights('2026-09-10T02:00:00Z', '2026-09-10T02:00:00Z');
    const row = { lot_id: 1, attempt: 1, day: null, is_null: true };
    expect(await ask(apart({ ...base, lots, passes }), columns)).toEqual([
      { ...row, reason: 'not_observed' },
    ]);
    const few = [lot({ lot_id: 1 }), ...offered(4, 2)];
    expect(await ask(apart({ ...base, lots: few }), columns)).toEqual([
      { ...row, reason: 'too_few_attempts' },
    ]);
  });
});

describe('the probability', () => {
  /**
   * Makes with 1 to 60 attempts by sellers of two types, and an open lot in each of these groups. `shareOf` plants the
   * share of sold lots.
   */
  function plant(shareOf: (make: number, seller: number, random: () => number) => number, seed = 12345) {
    const rng = stream(seed, 0, 0);
    const random = (): number => unit(rng);
    const kinds = Array.from({ length: 60 }, (_, place) => ({
      make: place % 30,
      seller: place < 30 ? 1 : 2,
    }));
    const groups = kinds.map(({ make, seller }, place) => {
      const share = shareOf(make, seller, random);
      const count = Math.ceil(random() ** 2 * 60);
      const sold = Array.from({ length: count }, random).filter((draw) => draw < share).length;
      const facts = { vehicle_id: make, seller_type_id: seller };
      const lots = [lot({ lot_id: place + 1, ...facts }), ...offered(count, sold, facts)];
      return { share, raw: sold / count, lots };
    });
    const vehicles = Array.from({ length: 30 }, (_, make) => ({
      vehicle_id: make,
      manufacturer_id: make + 1,
    }));
    return { groups, given: apart({ ...base, vehicles, lots: groups.flatMap(({ lots }) => lots) }) };
  }
  const columns =
    'sell_probability as p, sell_probability_low as low, sell_probability_high as high, pooled_share';
  const rmse = (errors: readonly number[]): number =>
    Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);

  const slopeOf = (x: readonly number[], y: readonly number[]): number => {
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    const [middle, level] = [mean(x), mean(y)];
    const products = x.map((value, i) => (value - middle) * ((y[i] ?? 0) - level));
    return mean(products) / mean(x.map((value) => (value - middle) ** 2));
  };

  it("is nearer to the planted share than the share of the lot's own group, and its interval holds the planted share", async () => {
    const sum12 = (random: () => number) => Array.from({ length: 12 }, random).reduce((a, b) => a + b, -6);
    let [held, all] = [0, 0];
    for (const seed of [1, 2, 3]) {
      const { groups, given } = plant((_, seller, random) => {
        const logit = (seller === 1 ? 1.2 : -0.4) + 0.4 * sum12(random);
        return 1 / (1 + Math.exp(-logit));
      }, seed);
      const found = await ask(given, columns);
      const errors = groups.map(({ share }, place) => Number(found[place]?.p) - share);
      expect(rmse(errors)).toBeLessThan(0.6 * rmse(groups.map(({ share, raw }) => raw - share)));
      // Told odds differ as much as planted ones do: the slope of planted on told shares.
      const slope = slopeOf(
        found.map(({ p }) => Number(p)),
        groups.map(({ share }) => share),
      );
      expect(slope).toBeGreaterThan(0.7);
      expect(slope).toBeLessThan(1.3);
      const inside = groups.filter(
        ({ share }, place) => Number(found[place]?.low) <= share && share <= Number(found[place]?.high),
      );
      held += inside.length;
      all += groups.length;
      const widths = found.map(({ low, high }) => Number(high) - Number(low));
      expect(rmse(widths)).toBeLessThan(0.5);
    }
    process.stdout.write(`${held} of ${all} planted shares inside\n`);
    expect(held / all).toBeGreaterThanOrEqual(0.9);
  });

  it('is the share of the source if no trait makes a difference', async () => {
    const spreads: number[] = [];
    for (const seed of [1, 2, 3, 5]) {
      const { given } = plant(() => 0.5, seed);
      const found = await ask(given, columns);
      const values = found.map(({ p }) => Number(p));
      spreads.push(Math.max(...values) - Math.min(...values));
    }
    process.stdout.write(
      `${spreads.map((spread) => spread.toFixed(3)).join(' ')} between the odds of a world without traits\n`,
    );
    // Of five levels, chance alone shows one beyond two standard errors in one world of five.
    expect(spreads.filter((spread) => spread > 0.001).length).toBeLessThanOrEqual(1);
  });
});
