import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../../src/base/duck/session.js';
import {
  EFFECTS,
  FIRST_MONTH,
  fitted,
  LOSS_A_10000_KM,
  LOSS_A_YEAR,
  lotsOf,
  type PricedMarket,
} from './market.js';

const SHOCK = { make: 3, month: 9, change: Math.log(0.85) };
const EFFECTS_OF = 'select * from price_factors where level <> reference';
const LAW = { lots: 9_000, months: 14, shock: SHOCK, noise: [0.15, 0.3] as const };

describe('prices without a trend, with a shock in one make and month, and a source of twice the noise', () => {
  let market: PricedMarket;
  beforeAll(async () => {
    market = await fitted(lotsOf(LAW));
  });
  afterAll(() => market.close());

  const monthOf = (place: number): string => new Date(Date.UTC(2024, place)).toISOString().slice(0, 10);

  it('finds the planted effects inside their intervals', async () => {
    const truths = new Map<string, number>(
      Object.entries(EFFECTS).flatMap(([factor, effects]) =>
        effects.map(
          (effect, i) => [`${factor} ${factor === 'domain_id' ? '' : factor[0]}${i}`, effect] as const,
        ),
      ),
    );
    const insideOf = (found: readonly Row[]): boolean[] =>
      found.flatMap(({ factor, level, reference, effect_low, effect_high }) => {
        const between = (value: number): boolean =>
          value >= Number(effect_low) && value <= Number(effect_high);
        if (factor === 'age' && Number(level) <= 12)
          return between(Math.exp(-LOSS_A_YEAR * (Number(level) - 5)));
        if (factor === 'mileage' && Math.abs(Number(level)) <= 50_000)
          return between(Math.exp((-LOSS_A_10000_KM * Number(level)) / 10_000));
        if (factor === 'month') return between(1);
        const [own, other] = [truths.get(`${factor} ${level}`), truths.get(`${factor} ${reference}`)];
        return own === undefined || other === undefined ? [] : between(Math.exp(own - other));
      });
    const others = await Promise.all(
      [2, 3].map(async (seed) => {
        const other = await fitted(lotsOf({ ...LAW, seed }));
        const found = await other.rows(EFFECTS_OF);
        other.close();
        return insideOf(found);
      }),
    );
    const judged = [insideOf(await market.rows(EFFECTS_OF)), ...others].flat();
    process.stdout.write(
      `${judged.filter((isInside) => isInside).length} of ${judged.length} effects inside\n`,
    );
    expect(judged.length).toBeGreaterThan(105);
    expect(judged.filter((isInside) => isInside).length / judged.length).toBeGreaterThanOrEqual(0.9);
  });

  it('shows the shock in its make and month, and no trend', async () => {
    const [shocked] = await market.rows(
      `select * from price_index where segment = 'manufacturer' and level = '3' and priced_month = '${monthOf(SHOCK.month)}'`,
    );
    // The index is 100 for the average of 2024. The shock lasted a twelfth of that year.
    const truth = 100 * Math.exp(SHOCK.change * (11 / 12));
    expect(Number(shocked?.index_low)).toBeLessThan(truth);
    expect(Number(shocked?.index_high)).toBeGreaterThan(truth);
    expect(Number(shocked?.index_high)).toBeLessThan(95);
    const all = await market.rows(
      `select * from price_index where segment = 'all' and priced_month <> '${monthOf(SHOCK.month)}'`,
    );
    const isFlat = all.map(
      ({ index_low, index_high }) => Number(index_low) <= 100.2 && Number(index_high) >= 99.8,
    );
    expect(isFlat.filter((flat) => flat).length).toBeGreaterThanOrEqual(all.length - 2);
    const others = await market.rows(`
      select avg(index) as level, stddev(index) as deviation from price_index
      where segment = 'manufacturer' and level <> '3'`);
    expect(Math.abs(Number(others[0]?.level) - 100)).toBeLessThan(0.5);
  });

  it('gives each source the intervals of its own noise', async () => {
    const held = await market.rows(`
      select domain_id, avg((price between low_80 and high_80)::int) as inside, median(high_80 / low_80) as width
      from price_estimates where price is not null group by domain_id order by domain_id`);
    for (const { inside } of held) {
      expect(Number(inside)).toBeGreaterThan(0.77);
      expect(Number(inside)).toBeLessThan(0.83);
    }
    expect(Number(held[1]?.width)).toBeGreaterThan(Number(held[0]?.width) * 1.3);
    const [judged] = await market.rows(`select * from price_accuracy where segment = 'all'`);
    expect(Number(judged?.inside_80)).toBeGreaterThan(0.77);
    expect(Number(judged?.inside_80)).toBeLessThan(0.83);
  });

  it('back-tests the last six months with the data before them', async () => {
    const months = await market.rows(
      `select level, prices from price_accuracy where segment = 'month' order by level`,
    );
    expect(months.map(({ level }) => level)).toEqual(
      [8, 9, 10, 11, 12, 13].map((place) => monthOf(place).slice(0, 7)),
    );
    const last = LAW.months - 1;
    const otherwise = await fitted(
      lotsOf({ ...LAW, lots: 2_500, shock: { make: 3, month: last, change: 2 } }),
    );
    const judged = (prices: PricedMarket) =>
      prices.rows(
        `select * from price_accuracy where segment = 'month' and level between '${monthOf(SHOCK.month + 1).slice(0, 7)}' and '${monthOf(last - 1).slice(0, 7)}' order by level`,
      );
    const without = await fitted(lotsOf({ ...LAW, lots: 2_500, shock: { make: 3, month: last, change: 0 } }));
    const [a, b] = [await judged(otherwise), await judged(without)];
    otherwise.close();
    without.close();
    expect(a.length).toBe(3);
    expect(a).toEqual(b);
  });

  it('names the largest drivers of an estimate, in money', async () => {
    const [burnt] = await market.rows(`
      select e.* from price_estimates e join price_inputs p using (lot_id)
      where p.damage_main_group = 'd5' and p.title_brand = 't0' and p.age_years between 4 and 6 limit 1`);
    expect(burnt?.driver_1).toBe('damage_main_group: d5');
    expect(Number(burnt?.driver_1_amount)).toBeLessThan(-Number(burnt?.estimate));
  });
});

it(`begins the index at its first month, and removes the season once there are two years`, async () => {
  const season = Array.from({ length: 12 }, (_, i) => 0.1 * Math.sin((i * Math.PI) / 6));
  const market = await fitted(lotsOf({ lots: 12_000, months: 30, trend: -0.01, season }));
  const index = await market.rows(`select * from price_index where segment = 'all' order by priced_month`);
  market.close();
  expect(index.length).toBe(30);
  expect(index[0]?.priced_month).toEqual(new Date(FIRST_MONTH));
  const inside = index.filter(({ index_low, index_high }, i) => {
    const year = Array.from({ length: 12 }, (_, k) => -0.01 * k + (season[k] ?? 0));
    const base = year.reduce((sum, level) => sum + level, 0) / 12;
    const truth = 100 * Math.exp(-0.01 * i + (season[i % 12] ?? 0) - base);
    return truth >= Number(index_low) && truth <= Number(index_high);
  });
  expect(inside.length).toBeGreaterThanOrEqual(27);
  const roughness = (column: string): number => {
    const levels = index.map((row) => Math.log(Number(row[column])));
    const steps = levels.slice(1).map((level, i) => level - (levels[i] ?? 0) + 0.01);
    return Math.sqrt(steps.reduce((sum, step) => sum + step ** 2, 0) / steps.length);
  };
  expect(roughness('index_adjusted')).toBeLessThan(roughness('index') / 2);
});

it('lets a few absurd lots move no other estimate by more than 2 %', async () => {
  const plain = lotsOf({ lots: 2_000 });
  const absurd = `
    select * replace (
      case when lot_id = 1007 then 5000000.0 when lot_id in (33, 1501) then 1.0 else price end as price,
      case when lot_id = 505 then null else age_years end as age_years,
      case when lot_id in (505, 711) then null else odometer_km end as odometer_km,
      case lot_id when 505 then 'year unknown' when 711 then 'implausible' else odometer end as odometer,
      case when lot_id = 213 then 'unknown' else damage_main_group end as damage_main_group)
    from (${plain})`;
  const estimates = await Promise.all(
    [plain, absurd].map(async (inputs) => {
      const market = await fitted(inputs);
      const found = await market.rows(
        'select lot_id, estimate, is_left_out from price_estimates order by lot_id',
      );
      market.close();
      return found;
    }),
  );
  const [before = [], after = []] = estimates;
  const odd = new Set([1007, 33, 1501, 505, 711, 213]);
  const moves = after.flatMap(({ lot_id, estimate }, i) =>
    odd.has(Number(lot_id)) ? [] : Math.abs(Number(estimate) / Number(before[i]?.estimate) - 1),
  );
  expect(moves.length).toBe(1_994);
  expect(Math.max(...moves)).toBeLessThan(0.02);
  expect(after.filter(({ is_left_out }) => is_left_out).map(({ lot_id }) => Number(lot_id))).toEqual(
    expect.arrayContaining([33, 1007, 1501]),
  );
});

it('uses the month of a paid price, which the back-test did not know', async () => {
  const market = await fitted(lotsOf({ lots: 2_000, months: 9, trend: -0.04 }));
  const [beside] = await market.rows(`
    select avg((price < low_80)::int) as below, avg((price > high_80)::int) as above
    from price_estimates where price is not null`);
  market.close();
  for (const share of [beside?.below, beside?.above]) {
    expect(Number(share)).toBeGreaterThan(0.08);
    expect(Number(share)).toBeLessThan(0.12);
  }
});

it('says why there is no estimate', async () => {
  const few = await fitted(lotsOf({ lots: 90 }));
  expect(await few.rows('select distinct reason, estimate from price_estimates')).toEqual([
    { reason: 'too_few_prices', estimate: null },
  ]);
  few.close();
  const unseen = await fitted(`
    select * replace (case when manufacturer_id = 4 then null else price end as price) from (${lotsOf({ lots: 1_000 })})`);
  const reasons = await unseen.rows(`
    select distinct p.manufacturer_id = 4 as is_unseen, e.reason from price_estimates e join price_inputs p using (lot_id)
    order by 1`);
  unseen.close();
  expect(reasons).toEqual([
    { is_unseen: false, reason: null },
    { is_unseen: true, reason: 'make_without_prices' },
  ]);
});

it('gives the same numbers twice', async () => {
  const both = await Promise.all(
    [1, 2].map(async () => {
      const market = await fitted(lotsOf({ lots: 800 }));
      const found = await market.rows('select * from price_estimates order by lot_id');
      market.close();
      return found;
    }),
  );
  expect(both[0]).toEqual(both[1]);
});

it('finds the effect of a damage on one make, and pools small groups with the others', async () => {
  const special = { make: 3, damage: 4, change: -0.4 };
  const market = await fitted(lotsOf({ lots: 6_000, special }));
  const found = await market.rows(`
    select manufacturer_id, level, prices, own_effect, own_weight, is_pooled, effect, effect_low, effect_high,
      (select level from price_factors where factor = 'damage_main_group' and effect = 1) as reference
    from price_levels where subject = 'damage_main_group' and value = 'd4'`);
  const whole = await market.rows(`
    select l.value, l.effect_low / f.effect_low as low, l.effect / f.effect as middle, l.effect_high / f.effect_high as high
    from price_levels l join price_factors f on f.factor = l.subject and f.level = l.value where l.level = 'all'`);
  market.close();
  // Over all prices, the interval contains the error of the reference. No price counts twice.
  expect(whole.length).toBeGreaterThan(20);
  for (const { low, middle, high } of whole)
    for (const ratio of [low, middle, high]) expect(Number(ratio)).toBeCloseTo(1, 9);
  const reference = EFFECTS.damage_main_group[Number(String(found[0]?.reference).slice(1))] ?? 0;
  const truth = (make: unknown): number =>
    Math.exp(-0.8 - reference + (make === 3n || make === 3 ? special.change : 0));
  const makes = found.filter(({ level }) => level === 'manufacturer');
  expect(makes.length).toBe(24);
  const off = makes.map((row) => Math.abs(Math.log(Number(row.effect) / truth(Number(row.manufacturer_id)))));
  expect(Math.max(...off)).toBeLessThan(0.15);
  const inside = makes.filter((row) => {
    const expected = truth(Number(row.manufacturer_id));
    return expected >= Number(row.effect_low) && expected <= Number(row.effect_high);
  });
  expect(inside.length).toBeGreaterThanOrEqual(21);
  const small = found.filter(({ prices }) => Number(prices) < 5);
  expect(small.length).toBeGreaterThan(5);
  for (const row of small) expect(row).toMatchObject({ is_pooled: true, own_effect: null });
});

it('follows vehicles that were sold twice, if there are enough of them', async () => {
  const lots = lotsOf({ lots: 8_000, trend: -0.02 });
  // Each vehicle has two lots of any kind and month.
  const market = await fitted(
    `select * replace (cast(floor(lot_id / 2) as bigint) as vehicle_id) from (${lots})`,
  );
  const index = await market.rows(`select * from price_index where segment = 'all' order by priced_month`);
  market.close();
  const truths = index.map((_, i) => -0.02 * i);
  const base = truths.slice(0, 12).reduce((sum, level) => sum + level, 0) / 12;
  const inside = index.filter(({ index_repeat_low, index_repeat_high }, i) => {
    const truth = 100 * Math.exp((truths[i] ?? 0) - base);
    return truth >= Number(index_repeat_low) * 0.995 && truth <= Number(index_repeat_high) * 1.005;
  });
  expect(inside.length).toBeGreaterThanOrEqual(13);
  expect(Number(index[0]?.index_repeat)).toBeGreaterThan(Number(index[13]?.index_repeat) * 1.15);
});

it('gives no interval in a class of fewer than 20 prices, and says why', async () => {
  const market = await fitted(`select * replace (1.5 * price as price) from (${lotsOf({ lots: 500 })})`);
  const found = await market.rows('select * from price_estimates where estimate is not null');
  market.close();
  const bands = ['below 1,000', '1,000 to 2,999', '3,000 to 9,999', '10,000 to 29,999', '30,000 and more'];
  const bandOf = (price: unknown): string | undefined =>
    bands[[1_000, 3_000, 10_000, 30_000].filter((bound) => Number(price) >= bound).length];
  const prices = found.filter(({ price, is_left_out }) => price !== null && !is_left_out);
  const few = bands.filter((band) => prices.filter(({ price }) => bandOf(price) === band).length < 20);
  const without = found.filter(({ estimate_band }) => few.includes(String(estimate_band)));
  expect(without.length).toBeGreaterThan(2);
  expect(without.length).toBeLessThan(100);
  for (const row of found) {
    expect(row.estimate_band).toBe(bandOf(row.estimate));
    const ends = [row.low_80, row.low_50, row.high_50, row.high_80].filter((end) => end !== null);
    expect(ends.length).toBe(without.includes(row) ? 0 : 4);
    expect(row.interval_reason).toBe(without.includes(row) ? 'few_prices_in_band' : null);
    expect(Number(row.log_deviation)).toBeGreaterThan(0.05);
  }
});

it('says which share of such prices lies below a price, as its intervals do', async () => {
  const market = await fitted(lotsOf({ lots: 2000 }));
  const found = await market.rows(
    'select price, prices_below, low_80, low_50, high_50, high_80 from price_estimates where price is not null and low_80 is not null',
  );
  market.close();
  for (const row of found) {
    const [price, below] = [Number(row.price), Number(row.prices_below)];
    const ends = [
      [row.low_80, 0.1],
      [row.low_50, 0.25],
      [row.high_50, 0.75],
      [row.high_80, 0.9],
    ] as const;
    // The ends are rounded to whole amounts.
    for (const [end, share] of ends)
      if (Math.abs(price - Number(end)) > 1)
        expect(below < share, `${price} ${end}`).toBe(price < Number(end));
  }
  const shares = [0.1, 0.5, 0.9].map(
    (share) => found.filter(({ prices_below: below }) => Number(below) < share).length / found.length,
  );
  expect(shares[0]).toBeCloseTo(0.1, 1);
  expect(shares[1]).toBeCloseTo(0.5, 1);
  expect(shares[2]).toBeCloseTo(0.9, 1);
});
