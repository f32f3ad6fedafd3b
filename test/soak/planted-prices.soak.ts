import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { damages, market, marketFactor, titles, wearFactor } from '../../src/sandbox/data/market.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { groupOf } from '../model/world/marts/damage_breakdown.js';
import { brandOf } from '../model/world/marts/lot_breakdown.js';
import {
  bareDuckDb,
  configFor,
  type PlainRow,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';

/** Sizes of the worlds in vehicles. 6000,50000 takes some eight minutes. */
const sizes = (process.env.LOTLAKE_PRICED ?? '6000').split(',').map(Number);
const SEEDS = [1, 2, 3];
const CLOCK = new Date('2026-11-20T00:00:00Z');
const YEAR = 365.25 * 86_400_000;

interface Night {
  readonly rows: (sql: string) => Promise<PlainRow[]>;
  readonly close: () => void;
}

async function night(vehicles: number, seed: number): Promise<Night> {
  const sandbox = await startSandbox({ seed, vehicles, clock: CLOCK, faults: WITHOUT_CATALOG });
  const folder = temporaryFolder();
  await nightly({
    config: configFor(sandbox.url, folder.path, { memory: '2GB', threads: 2 }),
    reporter: silentReporter(),
    now: () => sandbox.clock,
  });
  await sandbox.close();
  const duck = await bareDuckDb();
  for (const mart of ['price_factors', 'price_index', 'price_inputs', 'price_accuracy', 'price_estimates'])
    await duck.query(`create view ${mart} as from '${folder.path}/lake/current/${mart}/*.parquet'`);
  return {
    rows: (sql) => duck.query(sql),
    close: () => {
      duck.close();
      folder.remove();
    },
  };
}

/** Planted effects by factor and level, as multiples. */
function planted(usualKm: number, months: ReadonlyMap<string, number>): Map<string, number> {
  const worth = (age: number): number => wearFactor(2010, usualKm * age, Date.UTC(2010, 0, 1) + age * YEAR);
  return new Map([
    ...damages.map(({ name, factor }) => [`damage_main_group ${groupOf(name)}`, factor] as const),
    ...titles.map(
      (title) => [`title_brand ${brandOf({ title, detailed_title: title.detailed })}`, title.factor] as const,
    ),
    ...[1, 3].map((source) => [`domain_id ${source}`, market.levels.get(source) ?? 1] as const),
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12].map((age) => [`age ${age}`, worth(age)] as const),
    ...[-50_000, -25_000, 0, 25_000, 50_000, 75_000].map(
      (km) => [`mileage ${km}`, Math.exp((-market.lossPer10000Km * km) / 10_000)] as const,
    ),
    ...[...months].map(([month, level]) => [`month ${month}`, level] as const),
  ]);
}

describe.each(sizes)('the prices of worlds of %i vehicles with three seeds', (vehicles) => {
  let nights: readonly Night[] = [];
  beforeAll(async () => {
    const made: Night[] = [];
    for (const seed of SEEDS) made.push(await night(vehicles, seed));
    nights = made;
  }, 1_200_000);
  afterAll(() => {
    for (const { close } of nights) close();
  });

  /** The mean level of the planted market at the sales of each month. */
  async function months({ rows }: Night): Promise<Map<string, number>> {
    const sales = await rows(
      `select left(priced_month::varchar, 7) as month, epoch_ms(priced_at) as at from price_inputs
      where market = 'auction' and price is not null`,
    );
    const sums = new Map<string, { log: number; sales: number }>();
    for (const { month, at } of sales) {
      const sum = sums.get(String(month)) ?? { log: 0, sales: 0 };
      sums.set(String(month), { log: sum.log + Math.log(marketFactor(Number(at))), sales: sum.sales + 1 });
    }
    return new Map([...sums].map(([month, { log, sales: n }]) => [month, Math.exp(log / n)]));
  }

  it('show the planted effects inside their 95 % intervals in at least 90 of 100 cases', async () => {
    const missed: string[] = [];
    let cases = 0;
    for (const each of nights) {
      const factors = await each.rows(
        `select * from price_factors where market = 'auction' and level <> reference and prices >= 1`,
      );
      const truths = planted(Number(factors[0]?.usual_km_a_year), await months(each));
      for (const { factor, level, reference, effect_low, effect_high } of factors) {
        const [own, other] = [truths.get(`${factor} ${level}`), truths.get(`${factor} ${reference}`)];
        if (own === undefined || other === undefined) continue;
        cases += 1;
        const truth = own / other;
        if (truth < Number(effect_low) || truth > Number(effect_high))
          missed.push(
            `${factor} ${level}: ${truth.toFixed(3)} not in ${Number(effect_low).toFixed(3)} to ${Number(effect_high).toFixed(3)}`,
          );
      }
    }
    process.stdout.write(`${cases - missed.length} of ${cases} effects inside\n${missed.join('\n')}\n`);
    expect(cases).toBeGreaterThan(90);
    expect(missed.length / cases).toBeLessThanOrEqual(0.1);
  });

  it('show trend and season inside the 95 % band of the index in at least 9 of 10 months', async () => {
    let [inside, all] = [0, 0];
    for (const each of nights) {
      const truths = await months(each);
      const index = await each.rows(
        `select left(priced_month::varchar, 7) as month, prices, "index", index_low, index_high from price_index
        where market = 'auction' and segment = 'all' order by month`,
      );
      const total = index.reduce((sum, { prices }) => sum + Number(prices), 0);
      const base =
        index.reduce(
          (sum, { month, prices }) => sum + Number(prices) * Math.log(truths.get(String(month)) ?? 1),
          0,
        ) / total;
      for (const { month, index: found, index_low, index_high } of index) {
        if (found === null) continue;
        const truth = (100 * (truths.get(String(month)) ?? 1)) / Math.exp(base);
        all += 1;
        inside += truth >= Number(index_low) && truth <= Number(index_high) ? 1 : 0;
      }
    }
    process.stdout.write(`${inside} of ${all} months inside\n`);
    expect(inside / all).toBeGreaterThanOrEqual(0.9);
  });

  it('have estimates far nearer to the price than the median of the model year, for nearly every lot', async () => {
    for (const { rows } of nights) {
      const [compared] = await rows(`
        with sold as (
          select i.price, e.estimate,
            (select median(o.price) from price_inputs o where o.model_id = i.model_id and o.year = i.year and o.market = 'auction' and o.lot_id <> i.lot_id) as middle
          from price_inputs i join price_estimates e using (lot_id) where i.market = 'auction' and i.price is not null)
        select count(*) as sales, median(abs(estimate / price - 1)) as estimate, median(abs(middle / price - 1)) as model_year
        from sold where estimate is not null and middle is not null`);
      const [open] = await rows(
        `select count(estimate) / count(*) as known from price_estimates where market = 'auction' and is_offered`,
      );
      process.stdout.write(
        `${compared?.sales} sales: error ${Number(compared?.estimate).toFixed(3)}, of the model year ${Number(compared?.model_year).toFixed(3)}; ${(100 * Number(open?.known)).toFixed(1)} % of open lots estimated\n`,
      );
      expect(Number(compared?.estimate)).toBeLessThan(0.6 * Number(compared?.model_year));
      expect(Number(open?.known)).toBeGreaterThan(0.95);
    }
  });

  it('lie inside their 80 % intervals in 77 to 83 % of the back-test', async () => {
    const judged = await Promise.all(
      nights.map(({ rows }) =>
        rows(`select * from price_accuracy where market = 'auction' and segment = 'all'`),
      ),
    );
    const all = judged.flat();
    const prices = all.reduce((sum, row) => sum + Number(row.prices), 0);
    const held = all.reduce((sum, row) => sum + Number(row.prices) * Number(row.inside_80), 0) / prices;
    const each = all.map((row) => `${(100 * Number(row.inside_80)).toFixed(1)} % of ${row.prices}`);
    process.stdout.write(
      `${(100 * held).toFixed(1)} % inside (${each.join(', ')}), error ${all.map((row) => Number(row.error_median).toFixed(3)).join(', ')}\n`,
    );
    expect(held).toBeGreaterThan(0.77);
    expect(held).toBeLessThan(0.83);
  });
});
