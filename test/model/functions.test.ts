import { afterAll, beforeAll, expect, it } from 'vitest';
import { rows } from '../../src/base/duck/session.js';
import { computeMarts, openLake, type TestLake } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
  const runs = [{ run_id: 'a', started_at: '2026-09-10T02:00:00Z', minimum_group: 5, relisting_days: 30 }];
  await computeMarts(lake, { runs }, 'dim_settings');
});
afterAll(() => lake.close());

it.each([
  ['money(12.346)', 12.35],
  ['money(null)', null],
  ['plausible_price(0)', null],
  ['plausible_price(1)', 1],
  ['plausible_price(999999)', null],
  ['plausible_price(999999.5)', null],
  ['plausible_price(5000000)', 5_000_000],
  ['plausible_price(5000001)', null],
  ['is_auction(3)', true],
  ['is_auction(12)', false],
  ['is_auction(null)', null],
  ["plausible_date(timestamptz '1989-12-31 23:59:59Z', date '2028-09-10')", null],
  ["plausible_date(timestamptz '1990-01-01 00:00:00Z', date '2028-09-10')", new Date('1990-01-01T00:00:00Z')],
  ["plausible_date(timestamptz '2028-09-10 23:59:59Z', date '2028-09-10')", new Date('2028-09-10T23:59:59Z')],
  ["plausible_date(timestamptz '2028-09-11 00:00:00Z', date '2028-09-10')", null],
  ["plausible_date(null::timestamptz, date '2028-09-10')", null],
  ["plausible_event_date(timestamptz '1899-12-31 23:59:59Z', date '2028-09-10')", null],
  [
    "plausible_event_date(timestamptz '1900-01-01 00:00:00Z', date '2028-09-10')",
    new Date('1900-01-01T00:00:00Z'),
  ],
  ['plausible_year(1900, 2026)', null],
  ['plausible_year(1901, 2026)', 1901],
  ['plausible_year(2027, 2026)', 2027],
  ['plausible_year(2028, 2026)', null],
  ['margin_95(0.5)', 0.98],
  ['margin_95(null)', null],
  ['deviation_95(1, exp(3.92))', 1],
  ['deviation_95(null, 2)', null],
  ['price_band(999.5)', 'below 1,000'],
  ['price_band(30000)', '30,000 and more'],
  ['price_band(null)', null],
  ["plain_name(' Mercedes-Benz ')", 'mercedesbenz'],
  ['plain_name(null)', null],
  ["head_of_vin('4T1BF1FK5EU123456')", '4T1BF1FKE'],
  ["head_of_vin('4T1')", '4T1'],
  ["engine_cm3('2.0L I-4 di, dohc')", 2000],
  ["engine_cm3('3,5 l v6')", 3500],
  ["engine_cm3('D4CB')", null],
  ['engine_cm3(null)', null],
  ["days_between(timestamptz '2026-09-01 23:59:00Z', timestamptz '2026-09-02 00:01:00Z')", 1],
  ["days_between(date '2026-09-03', date '2026-09-01')", -2],
  ["day_of(timestamptz '2026-09-30 23:30:00Z')::varchar", '2026-09-30'],
  ["day_of(timestamptz '1969-12-31 23:59:59.5Z')::varchar", '1969-12-31'],
  ["day_of(date '1900-01-01')::varchar", '1900-01-01'],
  ["day_of('2026-09-30 23:30:00Z')::varchar", '2026-09-30'],
  ['day_of(null)', null],
  ["month_of(timestamptz '2026-09-30 23:30:00Z')::varchar", '2026-09-01'],
  ["second_of(timestamptz '2026-09-30 23:30:07Z')", 1_790_811_007],
  ['second_of(null::timestamptz)', null],
  ["page_of_lot(3, '12345', null)", 'https://www.copart.com/lot/12345'],
  ["page_of_lot(1, '12345', '67~US')", 'https://www.iaai.com/VehicleDetail/67~US'],
  ["page_of_lot(12, '345', 'x')", 'https://fem.encar.com/cars/detail/345'],
  ["page_of_lot(3, '1/../2', null)", null],
  ["page_of_lot(1, '12345', '\"><script>~US')", null],
  ["page_of_lot(7, '12345', null)", null],
  ['enough(4)', false],
  ['enough(5)', true],
  ['enough(null)', null],
])('%s is %s', async (call, expected) => {
  const [row] = await rows(lake.connection, `select ${call} as value`);
  expect(row?.value).toEqual(expected);
});
