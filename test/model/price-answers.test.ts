import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../src/base/duck/session.js';
import { damageFactors, damages, marketFactor } from '../../src/sandbox/data/market.js';
import { createWorld } from '../../src/sandbox/index.js';
import { plantedLake, plantedSales } from '../soak/planted-lake.js';
import { type TestLake, texts } from './support.js';
import { groupBy } from './world/statistics.js';

const MARTS = ['price_trends', 'damage_breakdown'];

describe('the price trends and damages of a world of 1,500 vehicles', () => {
  let lake: TestLake;
  beforeAll(async () => {
    const world = createWorld({ vehicles: 1500 });
    lake = await plantedLake(world, plantedSales(world), 5, ...MARTS);
  });
  afterAll(() => lake.close());

  const shares = (mart: string, plain: string, pooled: string): Promise<Row[]> =>
    texts(
      lake,
      `select level, count(${plain}) / count(*) as plain, count(${pooled}) / count(*) as pooled
       from ${mart} where priced_lots > 0 group by level order by level`,
    );

  it('answer nearly everywhere where there is a price, at every level', async () => {
    const trends = await shares('price_trends', 'price_median', 'price_index');
    expect(trends.map(({ level }) => level)).toEqual(['all', 'generation', 'make', 'model', 'source']);
    const ratios = await shares('damage_breakdown', 'price_ratio_to_sound', 'price_ratio_alike');
    expect(ratios.map(({ level }) => level)).toEqual(['all', 'make', 'model', 'source']);
    for (const { level, pooled } of ratios) expect(pooled, String(level)).toBeGreaterThan(0.9);
    for (const { level, plain } of [...trends, ...ratios].filter((row) =>
      /^mod|^gen/.test(String(row.level)),
    ))
      expect(plain, String(level)).toBeLessThan(0.1);
    const [all] = await texts(
      lake,
      `select count(price_index) / count(*) as pooled, count(price_index_change) / count(*) as changes
       from price_trends where priced_lots > 0`,
    );
    expect(all?.pooled).toBeGreaterThan(0.9);
    expect(all?.changes).toBeGreaterThan(0.85);
  });

  it('are wider where the level above speaks, and say so', async () => {
    const [found] = await texts(
      lake,
      `select count(*) filter (where own.index_own_weight > 0) as of_none,
         count(*) as rows,
         count(*) filter (where own.price_index_high - own.price_index_low
           < 0.999999 * (above.price_index_high - above.price_index_low) * own.price_index / above.price_index) as narrower
       from price_trends as own
       join price_trends as above using (sale_month, currency, domain_id, manufacturer_id, model_id)
       where own.level = 'generation' and above.level = 'model' and own.index_level = 'model'`,
    );
    expect(found).toMatchObject({ of_none: 0, narrower: 0 });
  });
});

describe.each([1, 2, 3])('the intervals in a world of 6,000 vehicles, seed %i', (seed) => {
  const world = createWorld({ vehicles: 6000, seed });
  const sales = plantedSales(world);
  let lake: TestLake;
  beforeAll(async () => {
    lake = await plantedLake(world, sales, 5, ...MARTS);
  }, 120_000);
  afterAll(() => lake.close());

  /** Share of rows whose interval holds the planted value, by level. */
  const held = (rows: readonly Row[], planted: (row: Row) => number): Record<string, number> =>
    Object.fromEntries(
      [...groupBy(rows, ({ level }) => String(level))].map(([level, group]) => [
        level,
        group.filter((row) => Number(row.low) <= planted(row) && planted(row) <= Number(row.high)).length /
          group.length,
      ]),
    );

  it('hold the planted factor of a damage in nine of ten', async () => {
    const factors = new Map(damages.map(({ id, name }) => [name, damageFactors.get(id) ?? 1]));
    const rows = await texts(
      lake,
      `select level, damage_main, price_ratio_alike_low as low, price_ratio_alike_high as high
       from damage_breakdown where price_ratio_alike is not null and damage_main_group <> 'normal_wear'`,
    );
    const shares = held(rows, ({ damage_main }) => factors.get(String(damage_main)) ?? 1);
    process.stdout.write(`damages ${JSON.stringify(shares)}\n`);
    for (const [level, share] of Object.entries(shares)) expect(share, level).toBeGreaterThan(0.8);
    expect(shares.model).toBeGreaterThan(0.9);
  });

  it('hold the planted change of the market in nine of ten', async () => {
    const months = groupBy(sales, ({ saleAt }) => saleAt.toISOString().slice(0, 7));
    const level = (at: Date): number => {
      const logs = (months.get(at.toISOString().slice(0, 7)) ?? []).map((sale) =>
        Math.log(marketFactor(sale.saleAt.getTime())),
      );
      return logs.reduce((sum, log) => sum + log, 0) / logs.length;
    };
    const rows = await texts(
      lake,
      `select level, sale_month, price_index_change_low as low, price_index_change_high as high
       from price_trends where price_index_change is not null`,
    );
    const shares = held(rows, ({ sale_month }) => {
      const at = new Date(String(sale_month));
      const before = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1));
      return Math.exp(level(at) - level(before)) - 1;
    });
    process.stdout.write(`months ${JSON.stringify(shares)}\n`);
    for (const [each, share] of Object.entries(shares)) expect(share, each).toBeGreaterThan(0.8);
    expect(shares.generation).toBeGreaterThan(0.9);
  });
});
