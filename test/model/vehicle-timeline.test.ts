import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { base, entry, lot, SOLD } from './cases.js';
import { listing, report } from './report-cases.js';
import { computeMarts, fill, type Given, openLake, type TestLake, testsOf, texts } from './support.js';

const MARTS = ['vehicle_timeline'];
const TABLES = ['lot_changes', 'inspections', 'history_reports', 'events', 'checks'];

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const day = (date: string): string => `${date}T12:00:00Z`;

/** A lot of the vehicle that was listed on a day with a reading. */
const listed = (lot_id: number, date: string, odometer_km: number, rest: Given = {}): Given =>
  lot({ lot_id, lot: `${lot_id}`, created_at: day(date), odometer_km, ...rest });
const change = (field: string, date: string, old_value: string | null, new_value: string | null): Given => ({
  ...{ lot_id: 1, vehicle_id: 10, domain_id: 3, field, seen_at: day(date), old_value, new_value },
});

/** Columns of the timeline of these tables. The data tests must pass. */
async function timeline(given: Readonly<Record<string, readonly Given[]>>, columns: string) {
  for (const table of TABLES) await fill(lake.connection, table, given[table] ?? []);
  await computeMarts(lake, { ...base, ...given }, ...MARTS);
  const tests = await runDataTests(lake.connection, testsOf(...MARTS));
  expect(tests.filter(({ failures, severity }) => failures > 0 && severity === 'error')).toEqual([]);
  return texts(lake, `select ${columns} from vehicle_timeline order by vehicle_id, place`);
}

/** Rolled-back readings with the highest readings before them, of vehicles that are listed again and again. */
async function rolledBack(...vehicles: readonly (readonly Given[])[]): Promise<unknown[][]> {
  const lots = vehicles.flatMap((own, vehicle) =>
    own.map((each, place) => ({ ...each, vehicle_id: vehicle, lot_id: 100 * vehicle + place })),
  );
  const rows = await timeline({ lots }, 'vehicle_id, odometer_km, odometer_rollback, odometer_highest_km');
  const flagged = rows.filter((row) => row.odometer_rollback);
  return vehicles.map((_, vehicle) =>
    flagged
      .filter((row) => Number(row.vehicle_id) === vehicle)
      .map((row) => [row.odometer_km, row.odometer_highest_km]),
  );
}

describe('a lot whose values changed', () => {
  it('shows each value that lotlake saw, with its evidence row', async () => {
    const lots = [
      listed(1, '2026-05-01', 70_000, { domain_id: 12, first_seen_at: day('2026-05-02'), buy_now: 8500 }),
    ];
    const lot_changes = [
      change('buy_now', '2026-05-10', '9000.0', '8800.0'),
      change('buy_now', '2026-05-20', '8800.0', '8500.0'),
      change('odometer_km', '2026-05-15', '7000', '70000'),
      change('archived', '2026-06-01', 'false', 'true'),
      change('archived', '2026-06-03', 'true', 'false'),
      change('vehicle_id', '2026-06-05', '9', '10'),
    ];
    const columns =
      "strftime(occurred_at, '%m-%d') as day, event, amount, odometer_km as km, evidence_id, description";
    const rows = await timeline({ lots, lot_changes }, columns);
    const of = (row: Record<string, unknown>): unknown[] => Object.values(row);
    expect(rows.map(of)).toEqual([
      ['05-01', 'listed', null, 7000, null, 'unknown, unknown'],
      ['05-02', 'asking_price', 9000, null, 'buy_now', 'when first seen'],
      ['05-10', 'asking_price', 8800, null, 'buy_now', 'before 9000.0'],
      ['05-15', 'odometer', null, 70_000, 'odometer_km', 'before 7000'],
      ['05-20', 'asking_price', 8500, null, 'buy_now', 'before 8800.0'],
      ['06-01', 'archived', null, null, 'archived', 'as lotlake saw it'],
      ['06-03', 'returned', null, null, 'archived', 'as lotlake saw it'],
      ['06-05', 'moved', null, null, 'vehicle_id', 'from vehicle 9'],
    ]);
  });
});

describe('the events of a vehicle', () => {
  it('have one order across lots, auctions, archivings and reports, undated ones last', async () => {
    const lots = [
      listed(1, '2026-03-01', 50_000, { sale_date: day('2026-03-10'), status_id: SOLD, final_bid: 4000 }),
      listed(2, '2026-08-01', 52_000, {
        domain_id: 12,
        lot: '300',
        buy_now: 9000,
        buy_now_updated_at: day('2026-08-05'),
      }),
    ];
    const rows = await timeline(
      {
        lots,
        prices: [entry(day('2026-03-08'), 8, 3000)],
        archived_lots: [{ lot_id: 1, archived_at: day('2026-03-12'), status_id: SOLD, status_name: 'sold' }],
        inspections: [report({ inspected_at: day('2026-08-02'), inspected_at_local: '2026-08-02T21:00:00' })],
        history_reports: [report({ checked_at: day('2026-08-03'), checked_at_local: '2026-08-03T21:00:00' })],
        checks: [{ ...listing, position: 4, type_key: 'theft_history', result_key: 'present' }],
        events: [
          { ...listing, position: 1, type_key: 'recall', occurred_at: day('2026-03-09') },
          {
            ...listing,
            position: 2,
            type_key: 'owner_change',
            occurred_at: '2026-03-01T12:00:00Z',
            occurred_at_local: '2026-03',
          },
          {
            ...listing,
            position: 3,
            type_key: 'new type',
            occurred_at: day('2026-03-11'),
            occurred_at_local: '2026-03-11',
          },
        ],
      },
      'event, lot_id, date_precision_key as exact, evidence_table, currency',
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['listed', 1, 'datetime', 'lots', null],
      ['owner_change', 2, 'month', 'events', null],
      ['price_entry', 1, 'datetime', 'prices', 'USD'],
      ['sold', 1, 'datetime', 'sales', 'USD'],
      ['history_event', 2, 'day', 'events', null],
      ['archived', 1, 'datetime', 'archived_lots', null],
      ['listed', 2, 'datetime', 'lots', null],
      ['inspection', 2, 'datetime', 'inspections', null],
      ['history_report', 2, 'datetime', 'history_reports', null],
      ['check_present', 2, 'datetime', 'checks', null],
      ['asking_price', 2, 'datetime', 'lots', 'USD'],
      ['recall', 2, 'unknown', 'events', null],
    ]);
  });

  it('include lots that only the archive feed reported', async () => {
    const archived = { lot_id: 7, vehicle_id: 10, domain_id: 3, lot: '77', status_id: SOLD, final_bid: 4000 };
    const archived_lots = [{ ...archived, sale_date: day('2026-03-10'), archived_at: day('2026-03-12') }];
    const rows = await timeline(
      { lots: [listed(1, '2026-08-01', 50_000)], archived_lots },
      'event, lot_id, lot, amount',
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['sold', 7, '77', 4000],
      ['archived', 7, '77', null],
      ['listed', 1, '1', null],
    ]);
  });

  it('stay when their report leaves with its listing, but not when the report withdraws them', async () => {
    const gone_at = day('2026-08-20');
    const event = {
      ...listing,
      type_key: 'theft',
      occurred_at_local: '2026-01-05',
      occurred_at: day('2026-01-05'),
    };
    const given = {
      lots: [listed(1, '2026-08-01', 50_000)],
      history_reports: [report({ gone_at, checked_at: day('2026-08-03'), checked_at_local: '2026-08-03' })],
      events: [
        { ...event, position: 1, gone_at },
        { ...event, position: 2, gone_at: day('2026-08-10') },
      ],
    };
    const rows = await timeline(given, 'event, lot_id, evidence_id');
    expect(rows.filter((row) => row.event === 'theft')).toEqual([
      { event: 'theft', lot_id: null, evidence_id: '12/300/r-1/1' },
    ]);
  });
});

describe('an odometer', () => {
  const first = listed(1, '2026-01-10', 100_000);
  const later = listed(2, '2026-03-10', 40_000);

  it('is rolled back if it reads over 1,000 km less than on an earlier day', async () => {
    const found = await rolledBack(
      [first, listed(2, '2026-03-10', 98_999)],
      [first, listed(2, '2026-03-10', 99_000)],
      [first, listed(2, '2026-01-10', 40_000)],
      [first, later, listed(3, '2026-04-10', 45_000)],
    );
    const lasting = [
      [40_000, 100_000],
      [45_000, 100_000],
    ];
    expect(found).toEqual([[[98_999, 100_000]], [], [], lasting]);
  });

  it('is not rolled back if miles were recorded as kilometres or the earlier reading is not usable', async () => {
    const miles = [first, listed(2, '2026-03-10', 62_300)];
    const unusable = [
      { odometer_status_id: 2 },
      { odometer_status_id: 5 },
      { odometer_out_of_range: true },
      { odometer_unit_uncertain: true },
    ].map((rest) => [{ ...first, ...rest }, later]);
    const found = await rolledBack(miles, [...miles, listed(3, '2026-05-10', 70_000)], ...unusable, [
      first,
      later,
    ]);
    expect(found).toEqual([[], [], [], [], [], [], [[40_000, 100_000]]]);
  });

  it('is not rolled back after an impossible reading or one that its source replaced', async () => {
    const [low, high] = [listed(1, '2026-01-10', 38_000), listed(2, '2026-03-09', 400_000)];
    expect(await rolledBack([low, high, later])).toEqual([[]]);
    const lot_changes = [change('odometer_km', '2026-01-20', '380000', '38000')];
    const rows = await timeline({ lots: [low, later], lot_changes }, 'odometer_km, odometer_rollback');
    expect(rows.map((row) => Object.values(row))).toEqual([
      [380_000, null],
      [38_000, false],
      [40_000, false],
    ]);
  });

  it('is compared with workshop records by day, not by year', async () => {
    const visit = (date: string): Given => ({
      ...{ ...listing, position: 1, type_key: 'maintenance', mileage_km: 120_000, occurred_at_local: date },
      occurred_at: `${date.length === 4 ? `${date}-01-01` : date}T00:00:00Z`,
    });
    const given = { lots: [listed(1, '2026-08-01', 60_000)], history_reports: [report()] };
    const flags = async (date: string) => {
      const rows = await timeline({ ...given, events: [visit(date)] }, 'event, odometer_rollback as flag');
      return rows.filter(({ flag }) => flag).map(({ event }) => event);
    };
    expect(await flags('2025-05-05')).toEqual(['listed']);
    expect(await flags('2025')).toEqual([]);
  });
});
