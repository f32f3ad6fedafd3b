import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readChecks } from '../../src/core/model/checks.js';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { readModels } from '../../src/core/model/model-files.js';
import { base, lot } from './cases.js';
import { GONE, listing, report } from './report-cases.js';
import { computeMarts, fill, type Given, openLake, type TestLake, testsOf } from './support.js';

/** Tables that a feed may leave empty, or whose keys may differ from those of the lots. */
const OPTIONAL = [
  'archived_lots',
  'checked_items',
  'checks',
  'duplicates',
  'events',
  'history_reports',
  'inspections',
  'statistics',
];

/** Tables that the helper for marts does not empty. */
const OWN = OPTIONAL.filter((table) => table !== 'archived_lots');

const checks = readChecks();
/**
 * Models that match none of these rows: two take the lots of the archive feed that no other table has (the check of `sales` says how
 * many do), one counts dates.
 */
const WITHOUT_MATCH = ['known_lots', 'entries', 'placeholder_dates'];
/** The mart whose check tests the share that another model matches by the same columns. */
const TESTED_BY: Readonly<Record<string, string>> = {
  last_archivings: 'sales',
  lot_findings: 'accident_discount',
  odometer_rollbacks: 'claim_history',
  timeline_auctions: 'vehicle_timeline',
  timeline_listings: 'vehicle_timeline',
  timeline_report_entries: 'vehicle_timeline',
  timeline_reports: 'vehicle_timeline',
};
const joining = readModels().filter(
  ({ name, sql }) =>
    !WITHOUT_MATCH.includes(name) &&
    OPTIONAL.some(
      (table) => new RegExp(`\\bfrom ${table}\\b`).test(sql) && !new RegExp(`\\b${table} as \\(`).test(sql),
    ),
);

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** The data tests on matched shares that fail on these rows. */
async function unmatched(mart: string, given: Readonly<Record<string, readonly Given[]>>) {
  for (const table of OWN) await fill(lake.connection, table, given[table] ?? []);
  await computeMarts(lake, { ...base, ...given }, mart);
  const results = await runDataTests(lake.connection, testsOf(mart));
  return results.filter(({ test, failures }) => failures > 0 && test.startsWith(`${mart}_finds_`));
}

const many = (count: number, row: (place: number) => Given): Given[] =>
  Array.from({ length: count }, (_, place) => row(place));

describe('the matched share', () => {
  it.each(joining.map(({ name }) => name))('of %s is tested, and a low one is reported', (name) => {
    const mart = TESTED_BY[name] ?? name;
    const own = checks.filter(({ test }) => test.startsWith(`${mart}_finds_`));
    expect(own.map(({ severity }) => severity)).toEqual(['warn']);
  });

  it('of accident_discount: listings with a report that have a lot', async () => {
    const lots = many(4, (place) =>
      lot({ lot_id: place, vehicle_id: place, lot: String(place), domain_id: 12 }),
    );
    const inspections = (count: number) =>
      many(4, (place) =>
        report({ vehicle_id: place, listing_id: place < count ? `L-${place}` : String(place) }),
      );
    expect(await unmatched('accident_discount', { lots, inspections: inspections(4) })).toEqual([]);
    const elsewhere = lots.map((row, place) => ({ ...row, vehicle_id: place + 10 }));
    expect(await unmatched('accident_discount', { lots: elsewhere, inspections: inspections(1) })).toEqual(
      [],
    );
    expect(
      await unmatched('accident_discount', { lots: elsewhere, inspections: inspections(2) }),
    ).toMatchObject([{ sample: [{ price_kind: 'asking', listings: 4, lots: 2 }] }]);
    expect(
      await unmatched('accident_discount', { lots: elsewhere, inspections: inspections(4) }),
    ).toMatchObject([{ sample: [{ price_kind: 'asking', listings: 4, lots: 0 }] }]);
  });

  it.each([
    ['inspection_issues', 'inspections', 'checked_items'],
    ['check_breakdown', 'history_reports', 'checks'],
    ['claim_history', 'history_reports', 'events'],
  ])('of %s: rows of %s that have their report', async (mart, reports, rows) => {
    const present = many(20, (position) => ({ ...listing, position }));
    const lost = (count: number) =>
      many(count, (place) => ({ ...listing, report_id: null, position: 100 + place }));
    const of = (rowsOf: readonly Given[]) => unmatched(mart, { [reports]: [report()], [rows]: rowsOf });
    expect(await of([...present, ...lost(1)])).toEqual([]);
    expect(await of([...present, ...lost(2)])).toMatchObject([{ failures: 1 }]);
    expect(await of(lost(1))).toMatchObject([{ failures: 1 }]);
    expect(await of(lost(1).map((row) => ({ ...row, gone_at: GONE })))).toEqual([]);
  });

  it('of vehicle_timeline: reports whose listing is a lot of their vehicle', async () => {
    const lots = many(4, (place) => lot({ lot_id: place, lot: String(place), domain_id: 12 }));
    const inspections = (count: number) =>
      many(4, (place) => report({ listing_id: place < count ? `L-${place}` : String(place) }));
    expect(await unmatched('vehicle_timeline', { lots, inspections: inspections(1) })).toEqual([]);
    expect(await unmatched('vehicle_timeline', { lots, inspections: inspections(2) })).toMatchObject([
      { sample: [{ domain_id: 12, reports: 4, matched: 2 }] },
    ]);
  });

  it('of duplicate_lots: roots that are known lots', async () => {
    const duplicates = many(8, (place) => ({ duplicate_id: 100 + place, original_id: place + 1 }));
    const lots = (count: number) =>
      many(count, (place) => lot({ lot_id: place, lot: String(place + 1), domain_id: 12 }));
    expect(await unmatched('duplicate_lots', { duplicates, lots: lots(2) })).toEqual([]);
    expect(await unmatched('duplicate_lots', { duplicates, lots: lots(1) })).toMatchObject([
      { sample: [{ pairs: 8, roots: 1 }] },
    ]);
  });

  it('of sales: lots of the archive feed that were in the feed while it was observed', async () => {
    const lots = many(3, (place) => lot({ lot_id: place, first_seen_at: '2026-09-01T00:00:00Z' }));
    const archived = (lot_id: number, archived_at: string): Given => ({ lot_id, archived_at, domain_id: 3 });
    const later = many(4, (place) => archived(place, '2026-09-05T00:00:00Z'));
    const earlier = many(9, (place) => archived(100 + place, '2026-08-05T00:00:00Z'));
    expect(await unmatched('sales', { lots, archived_lots: [...later, ...earlier] })).toEqual([]);
    const unknown = archived(9, '2026-09-06T00:00:00Z');
    expect(await unmatched('sales', { lots, archived_lots: [...later, unknown] })).toMatchObject([
      { sample: [{ domain_id: 3, records: 5, known: 3 }] },
    ]);
  });
});
