import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/model/data-tests.js';
import { base } from './cases.js';
import { computeMarts, fill, type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const REPORT_TABLES = ['inspections', 'checked_items', 'history_reports', 'checks', 'events', 'duplicates'];

/** Computes all marts of a lake with these rows; the data tests of the marts must pass on them. */
async function compute(given: Readonly<Record<string, readonly Given[]>>): Promise<void> {
  for (const table of REPORT_TABLES) await fill(lake.connection, table, given[table] ?? []);
  await computeMarts(lake, { ...base, ...given });
  const failed = (await runDataTests(lake.connection)).filter(
    ({ failures, severity }) => failures > 0 && severity === 'error',
  );
  expect(failed).toEqual([]);
}

const GONE = '2026-09-09T02:00:00Z';
const listing: Given = { domain_id: 12, listing_id: '300', report_id: 'r-1', vehicle_id: 10 };
const report = (rest: Given = {}): Given => ({ ...listing, created_at: '2026-08-01T00:00:00Z', ...rest });

describe('inspection_issues', () => {
  let position = 0;
  const item = (result_key: string | null, rest: Given = {}): Given => ({
    ...listing,
    position: position++,
    block_key: 'exterior',
    part_key: 'hood',
    result_key,
    ...rest,
  });
  const parts = (columns: string) =>
    texts(lake, `select ${columns} from inspection_issues where level = 'part' order by part_key`);
  const issues = async () =>
    (
      await texts(
        lake,
        `select * from inspection_issues where level = 'issue' order by issue_type_key, severity_key`,
      )
    ).map((row) => `${row.part_key} ${row.issue_type_key} ${row.severity_key} ${row.found_items}`);

  it('count only what an inspector looked at, and never take another result for ok', async () => {
    const results = ['ok', 'ok', 'issue', 'unknown', null, ' ', 'not_checked', 'not_applicable'];
    const items = [...results, 'not_equipped', 'passed_with_remark'].map((result) => item(result));
    await compute({ inspections: [report()], checked_items: items });
    expect(
      await parts(
        `items, looked_at, ok_items, issue_items, unknown_items, not_checked_items, not_applicable_items,
         not_equipped_items, other_items, found_items, found_share, reports`,
      ),
    ).toEqual([
      {
        ...{ items: 10, looked_at: 3, ok_items: 2, issue_items: 1, unknown_items: 3, not_checked_items: 1 },
        ...{ not_applicable_items: 1, not_equipped_items: 1, other_items: 1, found_items: 1 },
        ...{ found_share: null, reports: 1 },
      },
    ]);
  });

  it('count an item once for each type that it names, and without one as unspecified', async () => {
    const items = [
      item('issue', { issue_type_keys: '[dent, scratch, dent]', severity_key: 'low' }),
      item('issue', { issue_type_keys: '[dent]', severity_key: ' low ' }),
      item('issue', { issue_type_keys: '[]', severity_key: null }),
      item('issue', { issue_type_keys: null, severity_key: '' }),
      item('issue', { issue_type_keys: "['', NULL]", severity_key: 'high' }),
      item('ok', { issue_type_keys: '[wear]', severity_key: 'low' }),
    ];
    await compute({ inspections: [report()], checked_items: items });
    expect(await issues()).toEqual([
      'hood dent low 2',
      'hood scratch low 1',
      'hood unspecified high 1',
      'hood unspecified unspecified 2',
    ]);
    expect(await parts('found_items, found_share')).toEqual([{ found_items: 5, found_share: 5 / 6 }]);
  });

  it('leave out what a report no longer delivers, and reports of any listing that are gone', async () => {
    const other = { listing_id: '301' };
    const inspections = [
      report(),
      report({ report_id: 'r-2', gone_at: GONE }),
      report({ ...other, gone_at: GONE }),
    ];
    const checked_items = [
      item('ok'),
      item('issue', other),
      item('issue', { gone_at: GONE }),
      item('issue', { report_id: 'r-2' }),
      item('not_checked', { part_key: 'door' }),
    ];
    await compute({ inspections, checked_items });
    expect(await parts('part_key, items, looked_at, reports')).toEqual([
      { part_key: 'door', items: 1, looked_at: 0, reports: 0 },
      { part_key: 'hood', items: 1, looked_at: 1, reports: 1 },
    ]);
  });
});

describe('check_breakdown', () => {
  let position = 0;
  const check = (type_key: string | null, result_key: string | null, rest: Given = {}): Given => ({
    ...listing,
    position: position++,
    type_key,
    result_key,
    ...rest,
  });
  const breakdown = async () =>
    (await texts(lake, 'select * from check_breakdown order by type_key, result_key')).map(
      (row) =>
        `${row.type_key} ${row.result_key}: ${row.checks} of ${row.share}, ${row.reports} reports, ` +
        `${row.known_checks} known ${row.present_share}, ${row.count_sum}`,
    );

  it('take present and not_present alone for an answer', async () => {
    const checks = [
      check('theft_history', 'present', { count: 2 }),
      check('theft_history', 'present', { report_id: 'r-2', count: 1 }),
      check('theft_history', 'present', { report_id: 'r-2' }),
      check('theft_history', 'not_present', { count: 0 }),
      check(' theft_history', 'not_present '),
      check('theft_history', 'unknown'),
      check('theft_history', null),
      check('theft_history', 'in_doubt'),
      check(null, 'not_applicable'),
    ];
    await compute({ history_reports: [report(), report({ report_id: 'r-2' })], checks });
    expect(await breakdown()).toEqual([
      'theft_history in_doubt: 1 of 0.125, 1 reports, 5 known 0.6, null',
      'theft_history not_present: 2 of 0.25, 1 reports, 5 known 0.6, 0',
      'theft_history present: 3 of 0.375, 2 reports, 5 known 0.6, 3',
      'theft_history unknown: 2 of 0.25, 1 reports, 5 known 0.6, null',
      'unknown not_applicable: 1 of 1, 1 reports, 0 known null, null',
    ]);
  });

  it('keep sources apart, and leave out what is gone', async () => {
    const checks = [
      check('theft_history', 'present'),
      check('theft_history', 'present', { gone_at: GONE }),
      check('theft_history', 'present', { report_id: 'r-2' }),
      check('theft_history', 'not_present', { domain_id: 3 }),
    ];
    const history_reports = [report(), report({ domain_id: 3 }), report({ report_id: 'r-2', gone_at: GONE })];
    await compute({ history_reports, checks });
    expect(await breakdown()).toEqual([
      'theft_history not_present: 1 of 1, 1 reports, 1 known null, null',
      'theft_history present: 1 of 1, 1 reports, 1 known null, null',
    ]);
  });
});
