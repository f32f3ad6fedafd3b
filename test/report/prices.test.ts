import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Drawing } from '../../src/ask/page/draw.js';
import { againstEstimate } from '../../src/ask/page/point-chart.js';
import { ask } from '../../src/ask/query/ask.js';
import { fitted, lotsOf, type PricedMarket } from '../model/pricing/market.js';

const LAST = 13;
let market: PricedMarket;
beforeAll(async () => {
  const vehicles = [{ vehicle_id: 1, manufacturer_id: 3, manufacturer_name: 'Make 3' }];
  const shock = { make: 3, month: LAST, change: Math.log(0.8) };
  market = await fitted(lotsOf({ lots: 12_000, shock }), { vehicles });
});
afterAll(() => market.close());

it('reports the significant move of one make, and no move of the others', async () => {
  const moves = await ask(market.connection, 'report/price_moves');
  expect(moves).toMatchObject([{ segment: 'manufacturer', name: 'Make 3', direction: 'less' }]);
  expect(Number(moves[0]?.change)).toBeGreaterThan(0.12);
  expect(Number(moves[0]?.change)).toBeLessThan(0.28);
});

it('compares the index of the last whole month with the month before', async () => {
  const [level, ...others] = await ask(market.connection, 'report/price_level');
  expect(others).toEqual([]);
  const [own] = await market.rows(
    `select * from price_index where segment = 'all' order by priced_month desc limit 1`,
  );
  expect(level).toMatchObject({ index: own?.index, index_low: own?.index_low, prices: own?.prices });
});

it('draws a point for each price with an estimate, and counts those that are far off', () => {
  const rows = [
    [100, 100],
    [100, 125],
    [5_000, 4_000],
    [null, 300],
  ].map(([estimate = null, value = null], i) => ({
    ...{
      estimate,
      value,
      domain_id: i % 2 === 0 ? 1 : 3,
      series: i % 2 === 0 ? 'a' : 'b',
      description: `lot ${i}`,
    },
  }));
  const chart = { kind: 'points', id: 'points', small: false } as Drawing['chart'];
  const drawn = String(againstEstimate({ chart, title: 'Estimates', rows, format: String }));
  expect(drawn).toContain('3 points; 1 of them lie more than 20% from the line');
  expect(drawn.match(/<title>lot \d/g)).toEqual(['<title>lot 0', '<title>lot 1', '<title>lot 2']);
  expect(againstEstimate({ chart, title: 'Estimates', rows: [], format: String })).toBeUndefined();
});
