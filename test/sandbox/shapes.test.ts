import { describe, expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/index.js';
import { at, type Json, listOf, walk } from './support.js';

const world = createWorld({ vehicles: 3000 });
const texts = world.activeIds().map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');
const vehicles: Json[] = texts.map((text) => JSON.parse(text));
const lots: Json[] = vehicles.flatMap((vehicle) => listOf(vehicle.lots));
const now = world.clock.toISOString();

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const formOf = (value: unknown): string =>
  value === undefined ? 'missing' : value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
const formsAt = (records: readonly Json[], path: string): string[] =>
  [...new Set(records.map((record) => formOf(at(record, path))))].sort();
const some = (records: readonly Json[], test: (record: Json) => boolean): boolean => records.some(test);

describe('lots of a world hold each form that a member was seen in', () => {
  it.each([
    ['seller', ['null', 'object', 'string']],
    ['seller_type', ['missing', 'null', 'object', 'string']],
    ['airbags', ['null', 'object']],
    ['grade_iaai', ['null', 'number', 'string']],
    ['tags', ['list', 'null', 'string']],
    ['images.small', ['list', 'missing', 'null']],
    ['images.exterior', ['list', 'null']],
    ['images.interior', ['null', 'string']],
    ['archived', ['boolean', 'missing', 'null']],
    ['timed_start_bid', ['missing', 'null', 'number']],
    ['title', ['null', 'object']],
    ['detailed_title', ['null', 'object']],
    ['auction_type', ['null', 'object']],
    ['selling_branch', ['null', 'object']],
    ['selling_branch.number', ['null', 'number']],
    ['location.state', ['null', 'object']],
    ['location.location', ['null', 'object']],
    ['seller_reserve', ['null', 'object']],
    ['sale_date', ['null', 'string']],
    ['details', ['missing', 'null', 'object']],
    ['buy_now', ['null', 'number']],
  ])('%s', (path, wanted) => {
    expect(formsAt(lots, path)).toEqual(expect.arrayContaining(wanted));
  });

  it('vehicles hold each form too', () => {
    for (const name of ['generation', 'engine', 'cylinders', 'drive_wheel', 'vin']) {
      expect(formsAt(vehicles, name)).toContain('null');
    }
    expect(formsAt(vehicles, 'inspections')).toEqual(['list', 'missing']);
  });
});

describe('a world holds', () => {
  it('both forms of timestamps in one record', () => {
    const both = (text: string): boolean =>
      /"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"/.test(text) && /T\d\d:\d\d:\d\d\.000000Z/.test(text);
    expect(texts.filter(both).length).toBeGreaterThan(100);
  });

  it('archived lots of vehicles that are still active', () => {
    expect(some(lots, (lot) => lot.archived === true && typeof lot.archived_at === 'string')).toBe(true);
    expect(some(lots, (lot) => lot.archived === false)).toBe(true);
  });

  it('abridged records that lack many members', () => {
    expect(some(lots, (lot) => Object.keys(lot).length < 25)).toBe(true);
  });

  it('vehicles with several lots, some across sources', () => {
    const sources = vehicles.map(
      (vehicle) => new Set(listOf(vehicle.lots).map((lot) => at(lot, 'domain.id'))),
    );
    expect(sources.some((set) => set.size > 1)).toBe(true);
  });

  it('both scripts of JSON: escaped as the real source 12, and plain', () => {
    expect(texts.some((text) => text.includes('https:\\/\\/') && /\\u[ac]\w{3}/.test(text))).toBe(true);
    expect(texts.some((text) => text.includes('https://'))).toBe(true);
  });

  it('odd numbers: absurd, negative, fractional, zero, an odometer past 32 bits', () => {
    expect(some(lots, (lot) => at(lot, 'odometer.mi') === 2_553_571_660)).toBe(true);
    for (const odd of [-1, 99_999_999_999, 51_928.1213, 15_530.14]) {
      expect(some(lots, (lot) => Object.values(lot).includes(odd))).toBe(true);
    }
    expect(some(lots, (lot) => lot.buy_now === 0)).toBe(true);
    expect(some(lots, (lot) => lot.grade_iaai === 0)).toBe(true);
  });

  it('Canadian lots whose miles are kilometres', () => {
    const odd = (lot: Json): boolean => Number(at(lot, 'odometer.km')) > 1.5 * Number(at(lot, 'odometer.mi'));
    expect(some(lots, (lot) => at(lot, 'location.country.iso') === 'ca' && odd(lot))).toBe(true);
  });

  it('sold lots whose auction is still to come, with the bid so far as final bid', () => {
    const early = (lot: Json): boolean => at(lot, 'status.id') === 6 && String(lot.sale_date) > now;
    expect(
      some(lots, (lot) => lot.sale_date !== null && early(lot) && typeof lot.final_bid === 'number'),
    ).toBe(true);
  });

  it('sold lots without any price', () => {
    const bare = (lot: Json): boolean => at(lot, 'status.id') === 6 && lot.final_bid === null;
    expect(some(lots, (lot) => bare(lot) && listOf(lot.prices).length === 0)).toBe(true);
  });

  it('prices out of order, many for one lot, on neighbouring days, and relisted after a sale', () => {
    const days = lots.map((lot) =>
      listOf(lot.prices).map((price) => Date.parse(String(price.sale_date)) / 86_400_000),
    );
    expect(days.some((list) => list.some((day, place) => day < (list[place - 1] ?? 0)))).toBe(true);
    expect(Math.max(...days.map((list) => list.length))).toBeGreaterThan(15);
    expect(Math.max(...days.map((list) => list.length))).toBeLessThanOrEqual(26);
    const near = (list: number[]): boolean =>
      list.some((day, place) => Math.abs(day - (list[place + 1] ?? 0)) < 2.5);
    expect(days.some(near)).toBe(true);
  });

  it('near-duplicate damages', () => {
    const names = new Set(lots.map((lot) => at(lot, 'damage.main.name')));
    expect([...names]).toEqual(expect.arrayContaining(['Rear', 'Rear End', 'Re', 'Normal Wear']));
  });

  it('names with stray spaces and case', () => {
    const all = texts.join('\n');
    for (const name of [
      '" 204DT"',
      '"iso":"kr","name":"kr"',
      '"name":"USA"',
      '"code":"tx"',
      '"code":"MN"',
      '" Parts Only"',
    ]) {
      expect(all).toContain(name);
    }
  });

  it('text that is hard to store', () => {
    const notes = lots.map((lot) => String(lot.note));
    for (const part of ['<script>alert(1)</script>', '"', '\n', '\\', '\u0007', '\u2028', 'ß']) {
      expect(notes.some((note) => note.includes(part))).toBe(true);
    }
    const names = [...lots.map((lot) => lot.seller), ...vehicles.map((vehicle) => vehicle.title)].map(String);
    expect(names.some((name) => name.startsWith('='))).toBe(true);
    expect(names.some((name) => name.startsWith('+'))).toBe(true);
  });

  it('vehicle numbers that are missing, empty, fake and shared', () => {
    const vins = vehicles.map((vehicle) => vehicle.vin);
    expect(vins).toEqual(expect.arrayContaining([null, '']));
    expect(vins.some((vin) => typeof vin === 'string' && vin !== '' && vin.length !== 17)).toBe(true);
    const real = vins.filter((vin) => typeof vin === 'string' && vin.length === 17 && !/^(.)\1+$/.test(vin));
    expect(new Set(real).size).toBeLessThan(real.length);
  });

  it('details of source 12 with free keys, Korean and emoji', () => {
    const details = lots.map((lot) => lot.details).filter(isObject);
    expect(details.length).toBeGreaterThan(200);
    const keys = new Set(details.slice(0, 50).flatMap((detail) => [...walk(detail)].map(([path]) => path)));
    expect([...keys].some((path) => path.includes('Date of occurrence'))).toBe(true);
    expect(details.some((detail) => /[가-힣].*😊|😊/u.test(String(detail.description_ko)))).toBe(true);
  });

  it('reports of both kinds, some listings with two', () => {
    const inspections = vehicles.map((vehicle) => listOf(vehicle.inspections));
    const histories = vehicles.map((vehicle) => listOf(vehicle.vehicle_history_reports));
    expect(
      vehicles.some((vehicle) => vehicle.has_inspections === true && vehicle.has_history_reports === true),
    ).toBe(true);
    expect(inspections.some((list) => list.length === 2)).toBe(true);
    expect(histories.some((list) => list.length === 2)).toBe(true);
    for (const list of inspections) {
      const times = list.map((report) => String(report.system_updated_at));
      expect(times).toEqual(times.toSorted().reverse());
    }
  });

  it('reports that name photographs of their own', () => {
    let count = 0;
    for (const report of vehicles.flatMap((vehicle) => listOf(vehicle.inspections))) {
      const media = new Set(listOf(report.media).map((entry) => entry.id));
      const named = listOf(report.checked_items).flatMap((item) => item.evidence_media_ids);
      expect(named.every((id) => media.has(id))).toBe(true);
      count += named.length;
    }
    expect(count).toBeGreaterThan(0);
  });
});

describe('figures of a world', () => {
  it('match the size of real records', () => {
    const sizes = [1, 3, 12].map((domain) =>
      world
        .activeIds([domain])
        .map((id) => Buffer.byteLength(world.vehicleJson(id, { pricesHistory: true }) ?? '')),
    );
    const mean = (of: readonly number[] = []): number => of.reduce((sum, size) => sum + size, 0) / of.length;
    const [first, third, twelfth] = sizes;
    for (const of of [first, third]) {
      expect(mean(of)).toBeGreaterThan(6_000);
      expect(mean(of)).toBeLessThan(9_000);
    }
    expect(mean(twelfth)).toBeGreaterThan(30_000);
    expect(mean(twelfth)).toBeLessThan(36_500);
    expect(mean(sizes.flat())).toBeGreaterThan(9_000);
    expect(mean(sizes.flat())).toBeLessThan(10_500);
  });

  it('have a sale date and prices as often as real records', () => {
    const open = lots.filter(
      (lot) => at(lot, 'domain.id') !== 12 && listOf(lot.prices).length === 0 && at(lot, 'status.id') !== 6,
    );
    const dated = open.filter((lot) => String(lot.sale_date) > now && lot.sale_date !== null);
    expect(dated.length / open.length).toBeCloseTo(0.14, 1);
    expect(lots.filter((lot) => listOf(lot.prices).length > 0).length / lots.length).toBeCloseTo(0.31, 1);
  });

  it('cover eight months, most of them the last three', () => {
    const ages = lots.map((lot) => (world.clock.getTime() - Date.parse(String(lot.created_at))) / 86_400_000);
    expect(Math.max(...ages)).toBeGreaterThan(200);
    expect(Math.max(...ages)).toBeLessThan(250);
    expect(ages.filter((age) => age < 92).length / ages.length).toBeGreaterThan(0.6);
  });
});
