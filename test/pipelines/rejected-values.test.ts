import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { ownFiles } from '../../src/core/lake/linked-files.js';
import { createWorld } from '../../src/sandbox/index.js';
import { firstLot, lotAt, need, recordsOf, type VehicleRecord, vehicleAt } from '../served.js';
import {
  bareDuckDb,
  configFor,
  expectSameLake,
  lastPage,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Vehicles of the sandbox's world as served, for the tests to damage. */
const vehicles = (count: number): VehicleRecord[] => recordsOf(createWorld({ vehicles: count, seed: 5 }));

/** A lake over records that a test changes between nights. */
async function stageOf(cars: readonly unknown[]) {
  const folder = temporaryFolder();
  ends.push(() => folder.remove());
  let served = JSON.stringify(lastPage(cars));
  let night = 0;
  const service = await serve((url) =>
    url.pathname === '/api/cars'
      ? { body: Number(url.searchParams.get('page')) === 1 ? served : lastPage([]) }
      : { status: 404, body: { error: 'unknown' } },
  );
  ends.push(() => service.close());
  const duck = await bareDuckDb();
  ends.push(() => duck.close());
  const lake = join(folder.path, 'lake', 'current');
  const options = () => {
    const time = Date.parse('2026-11-20T02:00:00Z') + night++ * 86_400_000;
    return {
      config: configFor(service.url, folder.path),
      reporter: silentReporter(),
      now: () => new Date(time),
      ...WITHOUT_MARTS,
    };
  };
  return {
    lake,
    night: async (next: readonly unknown[] = cars) => {
      served = JSON.stringify(lastPage(next));
      return nightly(options());
    },
    rebuild: () => rebuild(options()),
    query: (table: string, rest = '') =>
      duck.query(`select * from '${join(lake, table, '**', '*.parquet')}' ${rest}`),
  };
}

const BAD = {
  sale_date: '0000-00-00 00:00:00',
  bid_updated_at: '',
  buy_now: '1,234.50',
  tags: { a: 1 },
} as const;

describe('a value that breaks the contract', () => {
  it('is null in a new row, which names it, and the rest of its vehicle is loaded', async () => {
    const cars = vehicles(20);
    const lot = lotAt(cars, 4);
    Object.assign(lot, BAD, { odometer: { ...lot.odometer, km: 12.7 } });
    const stage = await stageOf(cars);
    const result = await stage.night();
    expect(result.passes[0]).toMatchObject({ records: cars.length, loaded: cars.length, rejected: 0 });
    const [row] = await stage.query('lots', `where lot_id = ${lot.id}`);
    expect(row).toMatchObject({ sale_date: null, bid_updated_at: null, buy_now: null, tags: null });
    expect(row).toMatchObject({ odometer_km: null, odometer_mi: lot.odometer?.mi, lot: lot.lot });
    expect([row?.rejected].flat().sort()).toEqual(
      ['bid_updated_at', 'buy_now', 'odometer_km', 'odometer_out_of_range', 'sale_date', 'tags'].sort(),
    );
    expect(await stage.query('lots', 'where rejected is not null')).toHaveLength(1);
    expect(await stage.query('vehicles', 'where rejected is not null')).toEqual([]);
    const rejects = await stage.query('rejects', 'order by path');
    expect(
      rejects.map((r) => [
        r.stream,
        r.position,
        r.record_id,
        r.table_name,
        r.row_key,
        r.column_name,
        r.path,
        r.raw,
      ]),
    ).toEqual(
      [
        ['bid_updated_at', 'lots[0].bid_updated_at', '""'],
        ['buy_now', 'lots[0].buy_now', '"1,234.50"'],
        ['odometer_km', 'lots[0].odometer.km', '12.7'],
        ['sale_date', 'lots[0].sale_date', '"0000-00-00 00:00:00"'],
        ['tags', 'lots[0].tags', '{"a":1}'],
      ].map(([column, path, raw]) => {
        const key = JSON.stringify({ lot_id: lot.id });
        return ['cars', 4, String(vehicleAt(cars, 4).id), 'lots', key, column, path, raw];
      }),
    );
    const runs = await stage.query('runs');
    expect(runs).toMatchObject([{ rejected: 0, rejected_values: 5 }]);
    expect(result.balance.streams[0]).toMatchObject({ rejected: 0, rejectedValues: 5 });
  });

  it('keeps the last good value in a known row, which does not change', async () => {
    const cars = vehicles(20);
    const stage = await stageOf(cars);
    await stage.night();
    const before = await stage.query('lots', 'order by lot_id');
    const bad = structuredClone(cars);
    const lot = lotAt(bad, 4);
    Object.assign(lot, BAD, { odometer: { ...lot.odometer, km: 12.7 }, created_at: '' });
    Object.assign(vehicleAt(bad, 4), { year: 'old' });
    const second = await stage.night(bad);
    const { rejected, ...rest } = (await stage.query('lots', `where lot_id = ${lot.id}`))[0] ?? {};
    const known = before.find((row) => row.lot_id === lot.id);
    expect({ ...rest, rejected: null }).toEqual(known);
    expect(rejected).toHaveLength(7);
    expect((await stage.query('lots', 'order by lot_id')).map((row) => ({ ...row, rejected: null }))).toEqual(
      before,
    );
    expect(second.counts.lots).toMatchObject({ inserted: 0, updated: 0, gone: 0 });
    expect(second.counts.vehicles).toMatchObject({ inserted: 0, updated: 0, gone: 0 });
    expect(await stage.query('lot_changes')).toEqual([]);

    const third = await stage.night(bad);
    for (const table of ['lots', 'vehicles']) {
      expect(third.counts[table]).toMatchObject({ updated: 0 });
      expect(ownFiles(join(third.snapshot, table), join(second.snapshot, table))).toEqual([]);
    }

    const fourth = await stage.night(cars);
    expect(fourth.counts.lots).toMatchObject({ updated: 0 });
    expect(await stage.query('lots', 'order by lot_id')).toEqual(before);

    const nights = await readLake(stage.lake);
    await stage.rebuild();
    expectSameLake(await readLake(stage.lake), nights);
  });

  it('is loaded as soon as it can be read', async () => {
    const cars = vehicles(20);
    const bad = structuredClone(cars);
    Object.assign(lotAt(bad, 4), { bid: '1,234.50' });
    const stage = await stageOf(cars);
    await stage.night(bad);
    const better = structuredClone(cars);
    const lot = lotAt(better, 4);
    lot.bid = 77;
    const result = await stage.night(better);
    expect(result.counts.lots).toMatchObject({ updated: 1 });
    expect(await stage.query('lots', `where lot_id = ${lot.id}`)).toMatchObject([
      { bid: 77, rejected: null },
    ]);
  });

  it('keeps rows of a report in their partition if its month cannot be read', async () => {
    const cars = vehicles(200);
    const inspectionOf = ({ inspections }: VehicleRecord) => inspections?.[0];
    const place = cars.findIndex((car) => (inspectionOf(car)?.checked_items ?? []).length > 0);
    const stage = await stageOf(cars);
    await stage.night();
    const bad = structuredClone(cars);
    const report = need(inspectionOf(vehicleAt(bad, place)), 'an inspection with checked items');
    const of = `where report_id = '${report.report_id}' order by position`;
    const before = await stage.query('checked_items', of);
    report.created_at = '0000-00-00';
    Object.assign(need(report.checked_items?.[0], 'a checked item'), { description: 'changed' });
    await stage.night(bad);
    const after = await stage.query('checked_items', of);
    expect(after.map((row) => row.month)).toEqual(before.map((row) => row.month));
    expect(after[0]).toMatchObject({ description: 'changed', rejected: ['month'] });
  });

  it('is found in drifting and irregular records too', async () => {
    const cars = vehicles(10);
    const car = vehicleAt(cars, 2);
    const lot = firstLot(car);
    Object.assign(lot, { note: 'half \ud83d', bid: { value: 5 }, colour_code: 7 });
    Object.assign(car, { manufacturer: 'BMW' });
    const stage = await stageOf(cars);
    await stage.night();
    expect(await stage.query('lots', `where lot_id = ${lot.id}`)).toMatchObject([
      { bid: null, note: null, extra: '{"colour_code":7}', rejected: ['bid', 'note'] },
    ]);
    expect(await stage.query('vehicles', `where vehicle_id = ${car.id}`)).toMatchObject([
      { manufacturer_id: null, manufacturer_name: null, rejected: ['manufacturer_id', 'manufacturer_name'] },
    ]);
  });
});
