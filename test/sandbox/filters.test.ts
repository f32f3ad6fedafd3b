import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import { at, get, idsOf, type Json, type Seen, seenIn } from './support.js';

let sandbox: Sandbox;
let seen: Seen[];
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 300, seed: 5 });
  seen = seenIn(sandbox.world);
});
afterAll(() => sandbox.close());

const plain = { 'accept-encoding': 'identity' };
const NOW = '2026-11-20T00:00:00Z';
const HOUR = 3_600_000;

type Wanted = (one: Seen) => boolean;

const id =
  (path: string, ...ids: number[]): Wanted =>
  ({ vehicle }) =>
    ids.includes(Number(at(vehicle, `${path}.id`) ?? -1));
const lot =
  (keep: (lot: Json) => boolean): Wanted =>
  ({ lots }) =>
    lots.some(keep);
const figure = (path: string, low: number, high = Number.POSITIVE_INFINITY) =>
  lot((one) => {
    const value = at(one, path);
    return typeof value === 'number' && value >= low && value <= high;
  });
const holds = (value: unknown, part: string): boolean =>
  typeof value === 'string' && value.toLowerCase().includes(part);
const saleAt = (one: Json): number =>
  typeof one.sale_date === 'string' ? Date.parse(one.sale_date) : Number.NaN;
const hours = (one: Json): number => (saleAt(one) - Date.parse(NOW)) / HOUR;

const cases: readonly (readonly [name: string, query: string, wanted: Wanted])[] = [
  ['manufacturer_id, one', 'manufacturer_id=48', id('manufacturer', 48)],
  ['manufacturer_id, several', 'manufacturer_id=48,124,60', id('manufacturer', 48, 124, 60)],
  ['model_id', 'model_id=1387', id('model', 1387)],
  ['generation_id', 'generation_id=13872', id('generation', 13872)],
  [
    'from_year and to_year',
    'from_year=2015&to_year=2018',
    ({ vehicle }) => Number(vehicle.year) >= 2015 && Number(vehicle.year) <= 2018,
  ],
  ['year', 'year=2021', ({ vehicle }) => vehicle.year === 2021],
  ['vehicle_type', 'vehicle_type=2', id('vehicle_type', 2)],
  ['name', 'name=COROLLA', ({ vehicle }) => holds(vehicle.title, 'corolla')],
  ['cylinders', 'cylinders=8', ({ vehicle }) => vehicle.cylinders === 8],
  ['engine_name', 'engine_name=Hybrid', ({ vehicle }) => holds(at(vehicle, 'engine.name'), 'hybrid')],
  ['body_type', 'body_type=5', id('body_type', 5)],
  ['color', 'color=15', id('color', 15)],
  ['transmission', 'transmission=2', id('transmission', 2)],
  ['drive_wheel', 'drive_wheel=1', id('drive_wheel', 1)],
  ['fuel_type', 'fuel_type=3', id('fuel', 3)],
  ['status', 'status=6', lot((one) => at(one, 'status.id') === 6)],
  ['status[]', 'status[]=6&status[]=10', lot((one) => [6, 10].includes(Number(at(one, 'status.id'))))],
  [
    'document_title',
    'document_title=salvage%20title',
    lot((one) => holds(at(one, 'title.name'), 'salvage title')),
  ],
  ['condition', 'condition=3', lot((one) => at(one, 'condition.id') === 3)],
  ['condition that is 0', 'condition=0', lot((one) => at(one, 'condition.id') === 0)],
  ['country', 'country=CA', lot((one) => at(one, 'location.country.iso') === 'ca')],
  ['country without states', 'country=kr', lot((one) => at(one, 'location.country.iso') === 'kr')],
  ['state_code', 'state_code=TX', lot((one) => holds(at(one, 'location.state.code'), 'tx'))],
  [
    'damage',
    'damage=Rear',
    lot((one) => holds(at(one, 'damage.main.name'), 'rear') || holds(at(one, 'damage.second.name'), 'rear')),
  ],
  ['buy_now', 'buy_now=1', lot((one) => Number(one.buy_now ?? 0) !== 0)],
  [
    'odometer_from_km and odometer_to_km',
    'odometer_from_km=50000&odometer_to_km=90000',
    figure('odometer.km', 50_000, 90_000),
  ],
  ['odometer_from_mi', 'odometer_from_mi=120000', figure('odometer.mi', 120_000)],
  ['odometer_to_mi', 'odometer_to_mi=20000', figure('odometer.mi', 0, 20_000)],
  ['buy_now_price_from', 'buy_now_price_from=9000', figure('buy_now', 9_000)],
  ['buy_now_price_to', 'buy_now_price_to=9000', figure('buy_now', 1, 9_000)],
  ['bid_price_from', 'bid_price_from=4000', figure('bid', 4_000)],
  ['bid_price_to', 'bid_price_to=1500', figure('bid', 0, 1_500)],
  ['without_sale_date', 'without_sale_date=1', lot((one) => one.sale_date === null)],
  ['sale_date_in_days', 'sale_date_in_days=5', lot((one) => hours(one) > -120)],
  [
    'sale_date_from',
    'sale_date_from=2026-11-01T12:00:00',
    lot((one) => saleAt(one) > Date.parse('2026-11-01T12:00:00Z')),
  ],
  [
    'sale_date_to',
    'sale_date_to=2026-10-01T12:00:00',
    lot((one) => saleAt(one) < Date.parse('2026-10-01T12:00:00Z')),
  ],
  [
    'sale_date_from before sale_date_in_days',
    'sale_date_from=2026-09-01T00:00:00&sale_date_in_days=1',
    lot((one) => saleAt(one) > Date.parse('2026-09-01T00:00:00Z')),
  ],
  [
    'exclude_expired_auctions',
    'exclude_expired_auctions=1',
    lot((one) => one.sale_date === null || hours(one) > 0),
  ],
  ['next_hours_auction', 'next_hours_auction=120', lot((one) => hours(one) > 0 && hours(one) <= 120)],
  [
    'several filters on one lot',
    'status=8&damage=front&odometer_from_km=60000',
    lot(
      (one) =>
        at(one, 'status.id') === 8 &&
        Number(at(one, 'odometer.km')) >= 60_000 &&
        (holds(at(one, 'damage.main.name'), 'front') || holds(at(one, 'damage.second.name'), 'front')),
    ),
  ],
  [
    'domain_id with another filter',
    'domain_id=3&status=6',
    lot((one) => at(one, 'domain.id') === 3 && at(one, 'status.id') === 6),
  ],
];

/** Ids from `/cars` and `/search`, which must agree with each other and with the number from `/search/count`. */
async function idsFor(query: string): Promise<number[]> {
  const pages = await Promise.all(
    ['/cars', '/search'].map((path) => get(sandbox, `${path}?per_page=1000&${query}`, plain)),
  );
  const [cars = [], search = []] = pages.map((page) => idsOf(page));
  expect(search).toEqual(cars);
  expect((await get(sandbox, `/search/count?${query}`)).body).toEqual({ count: cars.length });
  return cars;
}

const idsWith = (wanted: Wanted): number[] => seen.filter(wanted).map(({ vehicle }) => Number(vehicle.id));

describe('filters keep to', () => {
  it.each(cases)('%s', async (_, query, wanted) => {
    const ids = await idsFor(query);
    expect(ids).toEqual(idsWith(wanted));
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.length).toBeLessThan(seen.length);
  });

  it('vin, whole, by prefix, by suffix and by part', async () => {
    const vins = seen
      .map(({ vehicle }) => vehicle.vin)
      .filter((vin) => typeof vin === 'string' && vin.length === 17);
    const vin = String(vins[40]);
    const like = (test: (vin: string) => boolean) =>
      idsWith(({ vehicle }) => typeof vehicle.vin === 'string' && test(vehicle.vin));
    expect(await idsFor(`vin=${vin}`)).toEqual(like((one) => one === vin));
    expect(await idsFor(`vin=${vin.toLowerCase()}`)).toEqual(like((one) => one === vin));
    expect(await idsFor(`vin=${vin.slice(0, 5)}`)).toEqual([]);
    for (const part of [vin.slice(0, 1), vin.slice(0, 8)])
      expect(await idsFor(`vin=${part}_`)).toEqual(like((one) => one.startsWith(part)));
    for (const part of [vin.slice(-1), vin.slice(-8)])
      expect(await idsFor(`vin=_${part}`)).toEqual(like((one) => one.endsWith(part)));
    expect(await idsFor(`vin=_${vin.slice(5, 7)}_`)).toEqual(like((one) => one.includes(vin.slice(5, 7))));
  });

  it('search_query, a VIN or a lot number', async () => {
    const { vehicle, lots } = seen.find(
      (one) => one.lots.length > 1 && typeof one.vehicle.vin === 'string',
    ) ??
      seen[0] ?? { vehicle: {}, lots: [] };
    for (const wanted of [vehicle.vin, ...lots.map((one) => one.lot)]) {
      expect(await idsFor(`search_query=${wanted}`)).toContain(vehicle.id);
      expect((await idsFor(`search_query=${wanted}`)).length).toBeLessThan(3);
    }
    expect(await idsFor('search_query=nothing')).toEqual([]);
  });

  it('minutes together with a filter', async () => {
    const changed = new Set(sandbox.world.activeIds(undefined, sandbox.world.now - 4320 * 60_000));
    const ids = await idsFor('minutes=4320&transmission=1');
    expect(ids).toEqual(idsWith(id('transmission', 1)).filter((one) => changed.has(one)));
    expect(ids.length).toBeGreaterThan(0);
  });

  it.each(['buy_now', 'without_sale_date', 'exclude_expired_auctions'])(
    'everything with %s=0',
    async (name) => {
      expect(await idsFor(`${name}=0`)).toEqual(sandbox.world.activeIds());
    },
  );

  it('everything if the parameter is none', async () => {
    expect(await idsFor('colour=15&seats_from=2')).toEqual(sandbox.world.activeIds());
  });

  it('no lot that is archived, although its vehicle shows it', async () => {
    const archived = new Set(sandbox.world.archivedLotIds());
    const numbers = recordsOf(sandbox.world)
      .flatMap(({ lots }) => lots)
      .filter(({ id }) => archived.has(id));
    expect(numbers.length).toBeGreaterThan(0);
    for (const one of numbers.slice(0, 5)) expect(await idsFor(`search_query=${one.lot}`)).toEqual([]);
  });
});

describe('/search has filters of its own:', () => {
  const searched = async (query: string): Promise<readonly Json[]> =>
    (await get(sandbox, `/search?per_page=1000&${query}`, plain)).body.data ?? [];
  const flags: readonly (readonly [name: string, wanted: (vehicle: Json) => boolean])[] = [
    ['has_inspections', (vehicle) => vehicle.has_inspections === true],
    ['has_history_reports', (vehicle) => vehicle.has_history_reports === true],
    [
      'listings[].has_history_reports',
      (vehicle) => listings(vehicle).some((one) => one.has_history_reports === true),
    ],
    [
      'listings[].is_manufacturer_certified',
      (vehicle) => listings(vehicle).some((one) => one.is_manufacturer_certified === true),
    ],
  ];
  const listings = (vehicle: Json): Json[] => (Array.isArray(vehicle.listings) ? vehicle.listings : []);

  it.each(flags)('%s', async (name, wanted) => {
    const all = await searched('');
    const yes = await searched(`${encodeURIComponent(name)}=1`);
    expect(yes.map((one) => one.id)).toEqual(all.filter(wanted).map((one) => one.id));
    expect(yes.length).toBeGreaterThan(0);
    expect(yes.length).toBeLessThan(all.length);
    expect(await searched(`${name}=true`)).toEqual(yes);
    const no = await searched(`${name}=0`);
    expect(no.length).toBeGreaterThan(0);
    if (name.startsWith('has')) expect(no.length + yes.length).toBe(all.length);
    expect((await get(sandbox, `/search/count?${name}=false`)).body).toEqual({ count: no.length });
  });

  it('seats', async () => {
    const all = await searched('');
    const vans = await searched('seats=9');
    expect(vans.map((one) => one.id)).toEqual(all.filter((one) => one.seats === 9).map((one) => one.id));
    expect(vans.length).toBeGreaterThan(0);
    expect((await get(sandbox, '/search/count?seats=9')).body).toEqual({ count: vans.length });
  });

  it('are ignored by /cars', async () => {
    expect(idsOf(await get(sandbox, '/cars?per_page=1000&seats=9', plain))).toEqual(
      sandbox.world.activeIds(),
    );
  });
});

describe('a wrong value is refused with 400 and the name of its parameter:', () => {
  it.each([
    ['manufacturer_id', 'manufacturer_id=48,'],
    ['manufacturer_id', 'manufacturer_id=ford'],
    ['model_id', 'model_id=x'],
    ['generation_id', 'generation_id=1.5'],
    ['from_year', 'from_year=new'],
    ['to_year', 'to_year='],
    ['year', 'year=-1'],
    ['vehicle_type', 'vehicle_type=6'],
    ['vin', 'vin='],
    ['name', 'name=%20'],
    ['cylinders', 'cylinders=six'],
    ['engine_name', 'engine_name='],
    ['body_type', 'body_type=28'],
    ['color', 'color=black'],
    ['transmission', 'transmission=3'],
    ['drive_wheel', 'drive_wheel=4'],
    ['fuel_type', 'fuel_type[]=1'],
    ['fuel_type', 'fuel_type=8'],
    ['search_query', 'search_query='],
    ['status', 'status=11'],
    ['status', 'status=6&status[]=8'],
    ['status[]', 'status[]=6&status[]=sold'],
    ['document_title', 'document_title='],
    ['condition', 'condition=8'],
    ['country', 'country=USA'],
    ['state_code', 'state_code=Texas'],
    ['damage', 'damage[]=rear'],
    ['damage', 'damage[main]=rear'],
    ['buy_now', 'buy_now=2'],
    ['odometer_from_km', 'odometer_from_km=-5'],
    ['odometer_to_km', 'odometer_to_km=1e5'],
    ['odometer_from_mi', 'odometer_from_mi=a'],
    ['odometer_to_mi', 'odometer_to_mi=1.5'],
    ['buy_now_price_from', 'buy_now_price_from=x'],
    ['buy_now_price_to', 'buy_now_price_to='],
    ['bid_price_from', 'bid_price_from=$5'],
    ['bid_price_to', 'bid_price_to=9,5'],
    ['without_sale_date', 'without_sale_date=yes'],
    ['sale_date_in_days', 'sale_date_in_days=-1'],
    ['sale_date_from', 'sale_date_from=2026-11-01'],
    ['sale_date_from', 'sale_date_from=2026-02-31T00:00:00'],
    ['sale_date_to', 'sale_date_to=2026-13-01T00:00:00'],
    ['exclude_expired_auctions', 'exclude_expired_auctions=-1'],
    ['next_hours_auction', 'next_hours_auction=soon'],
    ['sortDirection', 'sortDirection=ASC'],
    ['prices_history', 'prices_history=2'],
    ['domain_id', 'domain_id=2'],
    ['domain_id', 'domain_id=1,3'],
    ['domain_id', 'domain_id[]=1'],
    ['minutes', 'minutes=4321'],
    ['year', 'year=2020&year=2021'],
    ['per_page', 'per_page=1001'],
    ['page', 'page=0'],
    ['simple_paginate', 'simple_paginate=on'],
  ])('%s, as in %s', async (name, query) => {
    for (const path of ['/cars', '/search']) {
      const got = await get(sandbox, `${path}?${query}`);
      expect(got.status).toBe(400);
      expect(got.body.message).toContain(name);
    }
  });

  it.each([
    'seats=x',
    'has_inspections=maybe',
    'has_history_reports=2',
    'listings[].is_manufacturer_certified=no',
    'listings[].has_history_reports=',
  ])('%s, on /search', async (query) => {
    const got = await get(sandbox, `/search?${query}`);
    expect([got.status, String(got.body.message).includes(query.split('=')[0] ?? '?')]).toEqual([400, true]);
  });
});
