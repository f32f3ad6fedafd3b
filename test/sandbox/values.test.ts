import { describe, expect, it } from 'vitest';
import { enumerations, reportKeys } from '../../src/core/service/contract/enumerations.js';
import { type ContractNode, contractOf, walkContract } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { createWorld, type World } from '../../src/sandbox/index.js';
import { type Json, listOf, walk } from './support.js';

// What a world of 6,000 vehicles shows, counted against the contract.

const nodes = (schema: Parameters<typeof contractOf>[0]): Map<string, ContractNode> =>
  new Map([...walkContract(contractOf(schema))].map((node) => [node.path, node]));

/** How often each value of each list of known values occurs in some records, as `list:value`. */
function countValues(
  schema: Parameters<typeof contractOf>[0],
  records: Iterable<unknown>,
): Map<string, number> {
  const places = nodes(schema);
  const found = new Map<string, number>();
  for (const record of records)
    for (const [path, value] of walk(record)) {
      const node = places.get(path) ?? places.get(path.replace(/\[\]$/, ''));
      const list = node?.values ?? node?.keys;
      for (const one of list === undefined ? [] : [value].flat())
        found.set(`${list}:${one}`, (found.get(`${list}:${one}`) ?? 0) + 1);
    }
  return found;
}

const lists: readonly (readonly [list: string, values: readonly string[]])[] = [
  ...Object.entries(enumerations).map(([name, values]) => [name, Object.keys(values)] as const),
  ...Object.entries(reportKeys),
];

const path = (record: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((value, name) => Reflect.get(Object(value), name), record);

const DAY = 86_400_000;
const world = createWorld({ vehicles: 6000 });
const vehicles = recordsOf(world);
const lots = vehicles.flatMap((vehicle) => listOf(vehicle.lots));
const reports = (list: 'inspections' | 'vehicle_history_reports', of = vehicles): Json[] =>
  of.flatMap((vehicle) => listOf(vehicle[list]));
const events = reports('vehicle_history_reports').flatMap((report) => listOf(report.events));

function recordsOf(shown: World, domains?: readonly number[]): Json[] {
  return shown
    .activeIds(domains)
    .map((id) => JSON.parse(shown.vehicleJson(id, { pricesHistory: true }) ?? 'null') as Json);
}

describe('a world of 6,000 vehicles', () => {
  const archived = world.archivedLotIds().map((id) => world.archivedLot(id));
  const counts = [countValues(schemas.vehicle, vehicles), countValues(schemas.archived_lot, archived)];

  it.each(lists)('has every %s', (list, values) => {
    const isMissing = (value: string): boolean => counts.every((found) => !found.has(`${list}:${value}`));
    expect(values.filter(isMissing)).toEqual([]);
  });

  it('has reports of every source', () => {
    for (const list of ['inspections', 'vehicle_history_reports'] as const) {
      const sources = new Set(reports(list).map((report) => path(report, 'vehicle_ref', 'domain_id')));
      expect([...sources].sort()).toEqual([1, 12, 3]);
    }
  });

  it('has dates precise to a time, a day, a month and a year, with several offsets and without one', () => {
    const forms = events.map(({ occurred_at }) => String(occurred_at));
    for (const form of [/^\d{4}$/, /^\d{4}-\d\d$/, /^\d{4}-\d\d-\d\d$/, /\+09:00$/, /-05:00$/])
      expect(forms.filter((text) => form.test(text)).length, String(form)).toBeGreaterThan(2);
    const isYearBefore = ({ occurred_at, date_precision_key }: Json): boolean =>
      date_precision_key === 'year' && /-01-01T00:00:00\+09:00$/.test(String(occurred_at));
    expect(events.some(isYearBefore)).toBe(true);
  });

  it('serves only reports that are published, and forgets them when they are archived', () => {
    const ids = (of: readonly Json[]): Set<string> =>
      new Set(
        [...reports('inspections', [...of]), ...reports('vehicle_history_reports', [...of])].map(
          ({ report_id }) => String(report_id),
        ),
      );
    const now = ids(vehicles);
    const isSecondAlone = (id: string): boolean => id.endsWith('-2') && !now.has(id.replace(/2$/, '1'));
    expect([...now].filter((id) => id.startsWith('history') && isSecondAlone(id)).length).toBeGreaterThan(0);
    const after = recordsOf(world.at(new Date(world.clock.getTime() + 10 * DAY)), [12]);
    const left = ids(after);
    const stayed = new Set(after.map(({ id }) => id));
    const gone = [...ids(vehicles.filter(({ id }) => stayed.has(id)))].filter((id) => !left.has(id));
    expect(gone.some((id) => left.has(id.replace(/1$/, '2')))).toBe(true);
  });

  it('has Canadian lots, and names no currency for any lot', () => {
    const canadian = lots.filter((lot) => path(lot, 'location', 'country', 'iso') === 'ca');
    expect(canadian.filter(({ final_bid }) => typeof final_bid === 'number').length).toBeGreaterThan(20);
    expect(lots.some((lot) => 'currency' in lot)).toBe(false);
  });

  it('has vehicles that are sold, and sold again within a month', () => {
    const isAgain = (vehicle: Json): boolean => {
      const sales = listOf(vehicle.lots)
        .filter((lot) => path(lot, 'status', 'id') === 6 && String(lot.sale_date) < world.clock.toISOString())
        .map((lot) => Date.parse(String(lot.sale_date)))
        .sort((a, b) => a - b);
      return sales.some((at, place) => at - (sales[place - 1] ?? 0) < 30 * DAY);
    };
    expect(vehicles.filter(isAgain).length).toBeGreaterThan(10);
  });
});
