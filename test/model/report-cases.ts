import { expect } from 'vitest';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { base } from './cases.js';
import { computeMarts, fill, type Given, type TestLake, testsOf } from './support.js';

const MARTS = [
  'inspection_issues',
  'check_breakdown',
  'claim_history',
  'accident_discount',
  'duplicate_lots',
];

// Small lakes with a listing of source 12 and its reports, for hand-written cases.

/** Time at which a row was first missing. */
export const GONE = '2026-09-09T02:00:00Z';

/** Columns that name the report of a row. */
export const listing: Given = { domain_id: 12, listing_id: '300', report_id: 'r-1', vehicle_id: 10 };

/** A report of either kind. */
export const report = (rest: Given = {}): Given => ({
  ...listing,
  created_at: '2026-08-01T00:00:00Z',
  ...rest,
});

const REPORT_TABLES = ['inspections', 'checked_items', 'history_reports', 'checks', 'events', 'duplicates'];

/** Computes the marts of reports of a lake with these rows. Every data test of severity error must pass. */
export async function computeReports(
  lake: TestLake,
  given: Readonly<Record<string, readonly Given[]>>,
): Promise<void> {
  for (const table of REPORT_TABLES) await fill(lake.connection, table, given[table] ?? []);
  await computeMarts(lake, { ...base, ...given }, ...MARTS);
  const failed = (await runDataTests(lake.connection, testsOf(...MARTS))).filter(
    ({ failures, severity }) => failures > 0 && severity === 'error',
  );
  expect(failed).toEqual([]);
}
