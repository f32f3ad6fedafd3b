import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { createWorld } from '../../src/sandbox/index.js';
import {
  firstLot,
  type LotRecord,
  lotAt,
  need,
  recordsOf,
  type VehicleRecord,
  vehicleAt,
} from '../served.js';
import { bareDuckDb, configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';

const folders: ReturnType<typeof temporaryFolder>[] = [];
const output = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder.path;
};
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

/** Vehicles of the sandbox's world as served, for the tests to damage. */
const vehicles = (count: number): VehicleRecord[] => recordsOf(createWorld({ vehicles: count, seed: 5 }));

const hasPrices = ({ prices }: LotRecord): boolean => (prices ?? []).length > 0;
const firstPrice = (lot: LotRecord | undefined) => need(lot?.prices?.[0], 'a lot with prices');

async function runOver(cars: readonly unknown[], page?: string) {
  const path = output();
  const service = await serve((url) =>
    url.pathname === '/api/cars'
      ? { body: Number(url.searchParams.get('page')) === 1 ? (page ?? lastPage(cars)) : lastPage([]) }
      : { status: 404, body: { error: 'unknown' } },
  );
  const reporter = silentReporter();
  const result = await nightly({ config: configFor(service.url, path), reporter });
  await service.close();
  const duck = await bareDuckDb();
  const query = (table: string, rest = '') =>
    duck.query(`select * from '${join(path, 'lake', 'current', table, '**', '*.parquet')}' ${rest}`);
  return { result, query, reporter, close: () => duck.close() };
}

describe('a record whose keys or rows cannot be read', () => {
  it('is rejected with its place and raw text, and the rest of it and of its page is loaded', async () => {
    const cars = vehicles(300);
    const [lot, id, lots] = [17, 120, 256];
    Object.assign(lotAt(cars, lot), { id: { value: 5 } });
    Object.assign(vehicleAt(cars, id), { id: 'no number' });
    Object.assign(vehicleAt(cars, lots), { lots: { none: 'here' } });
    const { result, query, close } = await runOver(cars);
    const rejects = await query('rejects', 'order by position');
    expect(rejects.map((r) => [r.stream, r.page, r.position, r.record_id, r.path])).toEqual([
      ['cars', 1, lot, String(vehicleAt(cars, lot).id), 'lots[0].id'],
      ['cars', 1, id, 'no number', 'id'],
      ['cars', 1, lots, String(vehicleAt(cars, lots).id), 'lots'],
    ]);
    expect(rejects[0]).toMatchObject({
      found: 'object {"value":5}',
      raw: JSON.stringify(firstLot(vehicleAt(cars, lot))),
    });
    expect(rejects[0]?.expected).toContain('integer');
    expect(rejects[2]?.expected).toContain('array');
    // The lot costs itself and the list its rows; a vehicle without an id is nothing.
    expect(rejects[1]).toMatchObject({ table_name: null, raw: JSON.stringify(cars[id]) });
    expect(result.passes[0]).toMatchObject({
      ...{ records: cars.length, loaded: cars.length - 1, rejected: 1, rejectedValues: 2 },
    });
    const stored = await query('vehicles', 'order by vehicle_id');
    const rest = cars.filter((_, i) => i !== id).map((car) => car.id);
    expect(stored.map((row) => row.vehicle_id)).toEqual(rest);
    close();
  });

  it('is not a record whose numbers are written as text', async () => {
    const cars = vehicles(20);
    const expected = vehicleAt(cars, 3).id;
    Object.assign(vehicleAt(cars, 3), { id: String(expected) });
    Object.assign(lotAt(cars, 4), { bid: '1500.25' });
    const { result, query, close } = await runOver(cars);
    expect(result.passes[0]?.rejected).toBe(0);
    expect((await query('vehicles', `where vehicle_id = ${expected}`)).length).toBe(1);
    expect(await query('lots', `where lot_id = ${lotAt(cars, 4).id}`)).toMatchObject([{ bid: 1500.25 }]);
    close();
  });
});

describe('a value without a type in the specification', () => {
  const values = [true, 7, 1.5, 'text', ['a', 1], { of: 'b' }] as const;
  const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

  it('is loaded as text or JSON, whatever it is', async () => {
    const cars = vehicles(60).slice(0, values.length);
    for (const [i, car] of cars.entries()) {
      const value = values[i];
      const lot = firstLot(car);
      const images = { ...lot.images, id: i, exterior: value, interior: value };
      Object.assign(lot, {
        airbags: value,
        images,
        damage: { main: { id: value, name: 'Hail' }, second: null },
        prices: [{ id: value, lot_id: lot.id }],
        selling_branch: i % 2 === 0 ? value : { id: 1, number: value },
      });
      const report = {
        ...{ report_id: `r${i}`, vehicle_ref: { domain_id: 12, listing_id: `l${i}` } },
        ...{ source: { mapper_version: value }, events: [{ id: 'e', source_code: value }] },
      };
      Object.assign(car, { vehicle_history_reports: [report] });
    }
    const { result, query, close } = await runOver(cars);
    expect(result.passes[0]).toMatchObject({ loaded: cars.length, rejected: 0, rejectedValues: 0 });
    for (const [i, value] of values.entries()) {
      const text = asText(value);
      const lotId = lotAt(cars, i).id;
      const list = Array.isArray(value) ? value.map(String) : [text];
      expect(await query('lot_images', `where lot_id = ${lotId}`)).toMatchObject([
        { exterior: list, interior: list },
      ]);
      const branch =
        i % 2 === 0 ? { selling_branch_name: text } : { selling_branch_number: text, selling_branch_id: 1 };
      const airbags =
        value === 7 ? { airbags_id: 7 } : i === 5 ? { extra: '{"airbags.of":"b"}' } : { airbags_name: text };
      expect(await query('lots', `where lot_id = ${lotId}`)).toMatchObject([{ ...branch, ...airbags }]);
      expect(await query('lots', `where lot_id = ${lotId}`)).toMatchObject([{ damage_main_id: text }]);
      expect(await query('prices', `where lot_id = ${lotId}`)).toMatchObject([{ price_id: text }]);
      expect(await query('history_reports', `where report_id = 'r${i}'`)).toMatchObject([
        { source_mapper_version: text },
      ]);
      expect(await query('events', `where report_id = 'r${i}'`)).toMatchObject([{ source_code: text }]);
    }
    close();
  });

  it('keeps the lot that a price names, beside the lot that lists the price', async () => {
    const cars = vehicles(40);
    const [own, lotOfOther] = cars.flatMap((car) => car.lots).filter(hasPrices);
    const [one, other] = [firstPrice(own), firstPrice(lotOfOther)];
    one.lot_id = 424242;
    const { query, close } = await runOver(cars);
    expect(
      await query('prices', `where price_id in ('${one.id}', '${other.id}') order by stated_lot_id`),
    ).toMatchObject([
      { price_id: String(one.id), lot_id: own?.id, stated_lot_id: 424242 },
      { price_id: String(other.id), lot_id: lotOfOther?.id, stated_lot_id: null },
    ]);
    close();
  });
});

describe('a record that is JSON but that DuckDB does not accept', () => {
  it('is loaded with the last of repeated members, and without a value with half of a surrogate pair', async () => {
    const cars = vehicles(30);
    const texts = cars.map((car) => JSON.stringify(car));
    texts[3] = texts[3]?.replace('{"id"', '{"title":"first","id"') ?? '';
    Object.assign(lotAt(cars, 5), { note: 'half \ud83d and \\ud83d' });
    Object.assign(lotAt(cars, 6), { details: { text: '\ude00' } });
    texts[5] = JSON.stringify(cars[5]);
    texts[6] = JSON.stringify(cars[6]);
    const page = `{"data":[${texts.join(',')}],"links":{"next":null},"meta":{}}`;
    const { result, query, close } = await runOver(cars, page);
    expect(result.passes[0]).toMatchObject({ loaded: cars.length, rejected: 0 });
    expect(await query('vehicles', `where vehicle_id = ${vehicleAt(cars, 3).id}`)).toMatchObject([
      { title: vehicleAt(cars, 3).title },
    ]);
    expect(await query('lots', `where lot_id = ${lotAt(cars, 5).id}`)).toMatchObject([
      { note: null, rejected: ['note'] },
    ]);
    expect(await query('lots', `where lot_id = ${lotAt(cars, 6).id}`)).toMatchObject([{ details: null }]);
    expect(await query('rejects', 'where raw is not null order by path')).toMatchObject([
      { path: 'lots[0].details', raw: '{"text":"\\ude00"}' },
      { path: 'lots[0].note', raw: String.raw`"half \ud83d and \\ud83d"` },
    ]);
    close();
  });
});

describe('a member that the contract does not know', () => {
  it('is kept in extra of its row and reported as drift', async () => {
    const cars = vehicles(60);
    Object.assign(vehicleAt(cars, 0), { battery: { kwh: 77 } });
    Object.assign(lotAt(cars, 7).location, { region: 'west' });
    Object.assign(lotAt(cars, 9), { seller: { id: 1, name: 'A', rating: 5 } });
    const price = firstPrice(cars.flatMap((car) => car.lots).find(hasPrices));
    Object.assign(price, { currency: 'usd' });
    const { result, query, close } = await runOver(cars);
    expect(result.drift.map((entry) => [entry.path, entry.kept]).sort()).toEqual([
      ['battery', true],
      ['lots[].location.region', true],
      ['lots[].prices[].currency', true],
      ['lots[].seller.rating', true],
    ]);
    expect(result.drift.find((entry) => entry.path === 'lots[].location.region')).toMatchObject({
      page: 1,
      position: 7,
    });
    const extra = async (table: string, where: string) =>
      JSON.parse(String((await query(table, where))[0]?.extra));
    expect(await extra('vehicles', `where vehicle_id = ${vehicleAt(cars, 0).id}`)).toEqual({
      battery: { kwh: 77 },
    });
    expect(await extra('lots', `where lot_id = ${lotAt(cars, 7).id}`)).toEqual({
      'location.region': 'west',
    });
    expect(await extra('lots', `where lot_id = ${lotAt(cars, 9).id}`)).toEqual({ 'seller.rating': 5 });
    expect(await extra('prices', `where price_id = '${price.id}'`)).toEqual({ currency: 'usd' });
    const others = await query(
      'vehicles',
      `where extra is not null and vehicle_id <> ${vehicleAt(cars, 0).id}`,
    );
    expect(others).toEqual([]);
    close();
  });
});

describe('the service', () => {
  it('may lack /statistics and /archived-lots, which is reported', async () => {
    const { result, reporter, close } = await runOver(vehicles(10));
    expect(result.passes.map((pass) => pass.record.stream)).toEqual(['cars']);
    for (const path of ['/statistics', '/archived-lots'])
      expect(reporter.warnings.filter((w) => w.includes(`${path} is skipped`)).length).toBe(1);
    close();
  });
});
