import { expect, it } from 'vitest';
import { apart, base, lot, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('days_on_market');

let next = 1;
const daysAfter = (created: string, days: number): string =>
  new Date(Date.parse(created) + days * 86_400_000).toISOString();

const created = '2026-03-01T10:00:00Z';
const sold = (days: number, created_at: string = created): Given =>
  lot({
    ...{ lot_id: next++, created_at, sale_date: daysAfter(created_at, days) },
    ...{ status_id: SOLD, final_bid: 1000 },
  });
const left = (days: number, created_at: string = created): Given =>
  lot({ lot_id: next++, created_at, archived: true, archived_at: daysAfter(created_at, days) });

/** The row of the source, without names. */
async function ask(lots: readonly Given[], columns: string) {
  await marts.compute(apart({ ...base, lots }));
  const [row] = await marts.query(`select ${columns} from days_on_market where level = 'source'`);
  return row;
}

it('gives the quartiles and log-log intervals of scipy 1.17 for the remissions of Freireich and others (1963)', async () => {
  const remissions = [6, 6, 6, 7, 10, 13, 16, 22, 23].map((days) => sold(days));
  const censored = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35].map((days) => left(days));
  const row = await ask([...remissions, ...censored], '* exclude (observed_from, observed_to)');
  expect(row).toMatchObject({
    ...{ lots: 21, sold: 9, left_lots: 12 },
    ...{ days_p25: 13, days_p25_low: 6, days_p25_high: 22 },
    ...{ days_median: 23, days_median_low: 13, days_median_high: null },
    ...{ days_p75: null, days_p75_low: 23, days_p75_high: null },
  });
});

it('counts a lot that existed before the first night only from that night on', async () => {
  const old = Array.from({ length: 10 }, () => sold(500, '2024-06-01T10:00:00Z'));
  const fresh = Array.from({ length: 10 }, () => sold(10));
  const columns = 'lots, sold, days_median';
  expect(await ask([...old, ...fresh], columns)).toEqual({ lots: 20, sold: 20, days_median: 10 });
  const before = Array.from({ length: 10 }, () => sold(100, '2024-06-01T10:00:00Z'));
  expect(await ask([...before, ...fresh], columns)).toEqual({ lots: 10, sold: 10, days_median: 10 });
});

it('counts lots that are still open as unsold until the end of the watch', async () => {
  const open = Array.from({ length: 6 }, () => lot({ lot_id: next++, created_at: created }));
  const fresh = Array.from({ length: 5 }, () => sold(10));
  expect(await ask([...open, ...fresh], 'lots, sold, left_lots, days_p25, days_median')).toEqual({
    ...{ lots: 11, sold: 5, left_lots: 0, days_p25: 10, days_median: null },
  });
});

it('is null for fewer lots than the minimum group, sold or watched', async () => {
  const columns = 'sold, days_p25, days_median';
  expect(await ask([...[1, 2, 3, 4].map((days) => sold(days)), left(9)], columns)).toEqual({
    ...{ sold: 4, days_p25: null, days_median: null },
  });
  const few = [1, 2, 3, 4, 5, 6].map((days) => sold(days));
  expect(await ask(few, columns)).toEqual({ sold: 6, days_p25: 2, days_median: null });
});
