import { afterAll, describe, expect, it } from 'vitest';
import type { PricedRow } from '../../../src/core/model/fit/blocks.js';
import { GROUPS } from '../../../src/core/model/fit/design.js';
import { emptyGroups, fitGroups } from '../../../src/core/model/fit/groups.js';
import { normal, stream } from '../../../src/sandbox/world/random.js';
import { fitted, lotsOf, type PricedMarket } from './market.js';

/** Prices with what the plain law of this folder lacks: an engine within a model, a slope by make, a branch, a damage by age. */
const rich = `
  select * replace (
    price * exp(
      case engine when 'e0' then -0.2 when 'e3' then 0.2 else 0 end * case when model_id % 2 = 0 then 1 else -1 end
      + case when manufacturer_id = 3 then -0.05 * (least(age_years, 25) - 6) else 0 end
      + case when damage_main_group = 'd3' and age_years < 4 then -0.3 else 0 end
      + case when branch = 'b7' then -0.223 else 0 end) as price,
    case when age_years < 4 then '0 to 3' when age_years < 8 then '4 to 7' else '8 and more' end as age_band)
  from (${lotsOf({ lots: 12_000, months: 14, models: 60 })})`;
/** The same law without them. */
const plain = lotsOf({ lots: 12_000, months: 14, models: 60 });

let opened: PricedMarket[] = [];
afterAll(() => {
  for (const market of opened) market.close();
  opened = [];
});

async function marketOf(inputs: string): Promise<PricedMarket> {
  const market = await fitted(inputs);
  opened.push(market);
  return market;
}

const effectOf = async ({ rows }: PricedMarket, factor: string, level: string) => {
  const [found] = await rows(
    `select effect, effect_low, effect_high from price_factors where factor = '${factor}' and level like '${level}'`,
  );
  return { effect: Number(found?.effect), low: Number(found?.effect_low), high: Number(found?.effect_high) };
};

describe('groups of lots', () => {
  it('show what is planted in them, and bring the back-test nearer', async () => {
    const market = await marketOf(rich);
    const planted: readonly (readonly [string, string, number])[] = [
      ['engine', '304/e3', Math.exp(0.2)],
      ['engine', '304/e0', Math.exp(-0.2)],
      ['age_by_make', '3', Math.exp(-0.5)],
    ];
    for (const [factor, level, truth] of planted) {
      const { effect, low, high } = await effectOf(market, factor, level);
      // The mean of the four engines is the effect of the model; they are not equally frequent.
      expect(Math.abs(Math.log(effect / truth)), `${factor} ${level}: ${effect}`).toBeLessThan(0.1);
      expect(truth).toBeGreaterThan(low * 0.97);
      expect(truth).toBeLessThan(high * 1.03);
    }
    const gains = await market.rows(
      'select distinct factor, backtest_gain from price_factors where backtest_gain is not null',
    );
    const gain = new Map(gains.map((row) => [row.factor, Number(row.backtest_gain)]));
    for (const factor of ['engine', 'age_by_make']) expect(gain.get(factor)).toBeGreaterThan(0.02);
    const [accuracy] = await market.rows(
      `select error_median, inside_80 from price_accuracy where segment = 'all'`,
    );
    // The noise alone, 0.15, has a median error of 10 %.
    expect(Number(accuracy?.error_median)).toBeLessThan(0.115);
    expect(Number(accuracy?.inside_80)).toBeGreaterThan(0.77);
  });

  it('see a branch that is alone in its state in the profile of the lot', async () => {
    const market = await marketOf(rich);
    const [found] = await market.rows(
      `select exp(avg(ln(place_factor)) filter (where branch = 'b7') - avg(ln(place_factor)) filter (where branch <> 'b7')) as factor,
        max(abs(ln(place_factor))) filter (where branch <> 'b7') as others
      from price_estimates inner join price_inputs using (lot_id)`,
    );
    expect(Number(found?.factor)).toBeGreaterThan(0.77);
    expect(Number(found?.factor)).toBeLessThan(0.83);
    expect(Number(found?.others)).toBeLessThan(0.05);
  });

  it('stay out of the estimates of a market without them', async () => {
    const market = await marketOf(plain);
    const found = await market.rows(
      `select max(abs(ln(effect))) as furthest from price_factors
      where factor in ('engine', 'drive', 'seller', 'damage_by_age', 'age_by_make')`,
    );
    expect(Number(found[0]?.furthest ?? 0)).toBeLessThan(0.06);
  });
});

describe('the effects of a kind of groups', () => {
  const BRANCH = GROUPS.findIndex(({ name }) => name === 'branch');
  const BRANCHES = 60;
  const PRICES = 40;
  const NOISE = 0.2;

  /** The effects that a fit finds in prices of branches with these effects. */
  function effectsOf(planted: (branch: number) => number): Float64Array {
    const rng = stream(7, 1, 1);
    const prices = Array.from({ length: BRANCHES * PRICES }, (_, at) => {
      const branch = at % BRANCHES;
      return { branch, price: planted(branch) + NOISE * normal(rng) };
    });
    const row = {
      groups: new Int32Array(GROUPS.length).fill(-1),
      times: new Float64Array(GROUPS.length).fill(1),
    };
    let logPrice = 0;
    const visit = (each: (row: PricedRow) => void): void => {
      for (const { branch, price } of prices) {
        row.groups[BRANCH] = branch;
        logPrice = price;
        each(row as unknown as PricedRow);
      }
    };
    const codes = GROUPS.map((_, kind) => new Int32Array(kind === BRANCH ? BRANCHES : 0));
    let groups = emptyGroups(codes);
    for (let pass = 0; pass < 4; pass += 1)
      groups = fitGroups(
        groups,
        visit,
        prices.length,
        () => logPrice - (groups.effect[BRANCH]?.[row.groups[BRANCH] ?? 0] ?? 0),
        () => 1 / NOISE ** 2,
      );
    return groups.effect[BRANCH] ?? new Float64Array();
  }

  it('are found where few of them are large, without a trace in the many that are none', () => {
    const effects = effectsOf((branch) => (branch < 2 ? -0.25 : 0));
    for (const branch of [0, 1]) expect(effects[branch]).toBeLessThan(-0.2);
    const others = effects.slice(2);
    expect(Math.sqrt(others.reduce((sum, effect) => sum + effect ** 2, 0) / others.length)).toBeLessThan(
      0.01,
    );
  });

  it('are as near as the means of their prices where all of them are large', () => {
    const planted = (branch: number): number => 0.1 * Math.sin(branch);
    const effects = effectsOf(planted);
    const errors = [...effects].map((effect, branch) => effect - planted(branch));
    // The mean of the 40 prices of a branch is off by 0.032.
    expect(Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / BRANCHES)).toBeLessThan(0.034);
  });
});
