import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { computeReports, GONE, listing, report } from './report-cases.js';
import { type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

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

  it('counts only inspected items, and never treats another result as ok', async () => {
    const results = ['ok', 'ok', 'issue', 'unknown', null, ' ', 'not_checked', 'not_applicable'];
    const items = [...results, 'not_equipped', 'passed_with_remark'].map((result) => item(result));
    await computeReports(lake, { inspections: [report()], checked_items: items });
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

  it('counts an item once for each of its types, and as unspecified without a type', async () => {
    const items = [
      item('issue', { issue_type_keys: '[dent, scratch, dent]', severity_key: 'low' }),
      item('issue', { issue_type_keys: '[dent]', severity_key: ' low ' }),
      item('issue', { issue_type_keys: '[]', severity_key: null }),
      item('issue', { issue_type_keys: null, severity_key: '' }),
      item('issue', { issue_type_keys: "['', NULL]", severity_key: 'high' }),
      item('ok', { issue_type_keys: '[wear]', severity_key: 'low' }),
    ];
    await computeReports(lake, { inspections: [report()], checked_items: items });
    expect(await issues()).toEqual([
      'hood dent low 2',
      'hood scratch low 1',
      'hood unspecified high 1',
      'hood unspecified unspecified 2',
    ]);
    expect(await parts('found_items, found_share')).toEqual([{ found_items: 5, found_share: 5 / 6 }]);
  });

  it('leaves out rows and reports that are gone', async () => {
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
    await computeReports(lake, { inspections, checked_items });
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

  it('accepts only present and not_present as an answer', async () => {
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
    await computeReports(lake, { history_reports: [report(), report({ report_id: 'r-2' })], checks });
    expect(await breakdown()).toEqual([
      'theft_history in_doubt: 1 of 0.125, 1 reports, 5 known 0.6, null',
      'theft_history not_present: 2 of 0.25, 1 reports, 5 known 0.6, 0',
      'theft_history present: 3 of 0.375, 2 reports, 5 known 0.6, 3',
      'theft_history unknown: 2 of 0.25, 1 reports, 5 known 0.6, null',
      'unknown not_applicable: 1 of 1, 1 reports, 0 known null, null',
    ]);
  });

  it('keeps sources apart, and leaves out rows that are gone', async () => {
    const checks = [
      check('theft_history', 'present'),
      check('theft_history', 'present', { gone_at: GONE }),
      check('theft_history', 'present', { report_id: 'r-2' }),
      check('theft_history', 'not_present', { domain_id: 3 }),
    ];
    const history_reports = [report(), report({ domain_id: 3 }), report({ report_id: 'r-2', gone_at: GONE })];
    await computeReports(lake, { history_reports, checks });
    expect(await breakdown()).toEqual([
      'theft_history not_present: 1 of 1, 1 reports, 1 known null, null',
      'theft_history present: 1 of 1, 1 reports, 1 known null, null',
    ]);
  });
});

describe('claim_history', () => {
  let position = 1;
  /** An event with this date, and what load keeps of the date: the local time up to its precision. */
  const event = (given: string | null, date_precision_key: string | null, rest: Given = {}): Given => {
    const characters = { year: 4, month: 7, day: 10, datetime: 19 }[date_precision_key?.trim() ?? ''];
    return {
      ...listing,
      position: position++,
      type_key: 'maintenance',
      occurred_at: given,
      occurred_at_local: characters === undefined ? null : (given?.slice(0, characters) ?? null),
      occurred_at_offset: given?.endsWith('Z') === true ? 0 : given?.endsWith('+09:00') === true ? 540 : null,
      date_precision_key,
      ...rest,
    };
  };
  const history = async (events: readonly Given[]) => {
    const history_reports = [report(), report({ report_id: 'r-2', created_at_offset: 540 })];
    await computeReports(lake, { history_reports, events });
    const found = await texts(
      lake,
      `select *, cast(occurred_from as varchar) as first, cast(occurred_before as varchar) as last
       from claim_history order by report_id, event_number`,
    );
    return found;
  };
  const order = async (events: readonly Given[]) =>
    (await history(events)).map(
      (row) => `${row.event_number} ${row.type_key} ${row.is_order_certain ? 'certain' : 'uncertain'}`,
    );

  it('gives a date the interval of its precision', async () => {
    const found = await history([
      event('2024-02-29T18:30:00Z', 'datetime'),
      event('2024-02-29T18:30:00Z', 'day'),
      event('2024-02-29T18:30:00Z', ' month '),
      event('2024-02-29T18:30:00Z', 'year'),
      event('2024-02-29T18:30:00Z', 'unknown'),
      event('2024-02-29T18:30:00Z', null),
      event('2024-02-29T18:30:00Z', 'quarter'),
      event(null, 'day'),
    ]);
    expect(found.map((row) => `${row.date_precision_key} ${row.first} ${row.last}`)).toEqual([
      'year 2024-01-01 2025-01-01',
      'month 2024-02-01 2024-03-01',
      'day 2024-02-29 2024-03-01',
      'datetime 2024-02-29 2024-03-01',
      'unknown null null',
      'unknown null null',
      'quarter null null',
      'day null null',
    ]);
  });

  it('takes days, months and years from the local date', async () => {
    const new_year = '2019-01-01T00:00:00+09:00';
    const bare = (text: string, date_precision_key: string) =>
      event(`${text}-01-01`, date_precision_key, { occurred_at_local: text });
    const found = await history([
      event(new_year, 'datetime'),
      event(new_year, 'day'),
      event(new_year, 'month'),
      event(new_year, 'year'),
      bare('2018', 'day'),
    ]);
    expect(
      found.map((row) => `${row.date_precision_key} ${row.occurred_local} ${row.first} ${row.last}`),
    ).toEqual([
      'year 2018 2018-01-01 2019-01-01',
      'datetime 2019-01-01T00:00:00 2019-01-01 2019-01-02',
      'day 2019-01-01 2019-01-01 2019-01-02',
      'month 2019-01 2019-01-01 2019-02-01',
      'year 2019 2019-01-01 2020-01-01',
    ]);
  });

  it('orders dates by instant, and reads a date without an offset in the local time of its report', async () => {
    const typed = (type_key: string, at: string, precision: string, rest: Given = {}) =>
      event(at, precision, { type_key, ...rest });
    const second = { report_id: 'r-2' };
    expect(
      await order([
        typed('noon in London', '2019-05-01T12:00:00Z', 'datetime'),
        typed('then evening in Seoul', '2019-05-01T20:00:00+09:00', 'datetime'),
        typed('first of June', '2019-06-01T00:00:00+09:00', 'day', second),
        typed('May', '2019-05-01T00:00:00', 'month', second),
      ]),
    ).toEqual([
      '1 then evening in Seoul certain',
      '2 noon in London certain',
      '1 May certain',
      '2 first of June certain',
    ]);
  });

  it('calls the order certain if no other event can have happened at the same time', async () => {
    const typed = (type_key: string, at: string | null, precision: string) =>
      event(at, precision, { type_key });
    expect(
      await order([
        typed('undated', '2024-01-01T00:00:00Z', 'unknown'),
        typed('year', '2020-05-01T00:00:00Z', 'year'),
        typed('in the year', '2020-03-01T00:00:00Z', 'day'),
        typed('also in the year', '2020-09-01T00:00:00Z', 'month'),
        typed('right after the year', '2021-01-01T00:00:00Z', 'datetime'),
        typed('same instant', '2022-01-01T08:00:00Z', 'datetime'),
        typed('as this one', '2022-01-01T08:00:00Z', 'datetime'),
        typed('day', '2023-01-01T08:00:00Z', 'day'),
        typed('next day', '2023-01-02T08:00:00Z', 'day'),
      ]),
    ).toEqual([
      '1 year uncertain',
      '2 in the year uncertain',
      '3 also in the year uncertain',
      '4 right after the year certain',
      '5 same instant uncertain',
      '6 as this one uncertain',
      '7 day certain',
      '8 next day certain',
      '9 undated uncertain',
    ]);
  });

  it('numbers the events of each report, and leaves out rows that are gone', async () => {
    const day = '2024-02-01T00:00:00Z';
    const events = [
      event(day, 'day'),
      event(day, 'day', { report_id: 'r-2' }),
      event(day, 'day', { gone_at: GONE }),
    ];
    expect(await order(events)).toEqual(['1 maintenance certain', '1 maintenance certain']);
    await computeReports(lake, { history_reports: [report({ gone_at: GONE })], events: [event(day, 'day')] });
    expect(await texts(lake, 'select * from claim_history')).toEqual([]);
  });

  it('never adds amounts of different currencies', async () => {
    const claim = (amount_total: number | null, currency: string | null, rest: Given = {}) =>
      event('2024-02-01T00:00:00Z', 'day', { type_key: 'claim', amount_total, currency, ...rest });
    const found = await history([
      claim(100, 'krw'),
      claim(250.5, ' KRW '),
      claim(70, 'usd'),
      claim(null, 'usd'),
      claim(null, 'usd', { amount_parts: 5 }),
      claim(9, 'krw', { type_key: 'maintenance' }),
      claim(1000, 'krw', { report_id: 'r-2' }),
    ]);
    expect(
      found.map(
        (row) => `${row.amount_total} ${row.currency} ${row.report_type_events} ${row.report_type_amount}`,
      ),
    ).toEqual([
      '100 KRW 5 350.5',
      '250.5 KRW 5 350.5',
      '70 USD 5 70',
      'null null 5 null',
      'null USD 5 70',
      '9 KRW 1 9',
      '1000 KRW 1 1000',
    ]);
  });
});
