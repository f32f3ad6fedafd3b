import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { openSession, rows, type Session } from '../../src/base/duck/session.js';
import { loadBatch } from '../../src/core/load/batch.js';
import { streams } from '../../src/core/service/streams.js';

const folder = makeScratch(join(tmpdir(), 'lotlake-report-dates-'));
let session: Session;
beforeAll(async () => {
  session = await openSession({ memory: '200MB', threads: 1, temp: join(folder, 'tmp') });
});
afterAll(() => {
  session.close();
  rmSync(folder, { recursive: true, force: true });
});

let batches = 0;

/** Loads one vehicle with these reports, and reads the staged rows of a table. */
async function staged(vehicle: object, table: string, columns: string) {
  const stage = join(folder, `stage-${batches++}`);
  const path = join(folder, 'records.ndjson');
  writeFileSync(path, `${JSON.stringify({ id: 7, ...vehicle })}\n`);
  await loadBatch(session.connection, {
    stream: streams.cars,
    learned: [],
    files: [{ path, seq: 1, list: '' }],
    largestRecord: 4096,
    stage,
    name: 'batch',
    isSmall: true,
    isMended: false,
  });
  return rows(
    session.connection,
    `select ${columns} from '${stage}/${table}/batch.parquet' order by position`,
  );
}

const head = { report_id: 'r-1', vehicle_ref: { domain_id: 12, listing_id: '300' } };

/** The instant, local time and offset of an event with this date, as one text. */
async function eventDates(
  given: readonly (readonly [occurred_at: string | null, precision: string | null])[],
) {
  const events = given.map(([occurred_at, date_precision_key]) => ({ occurred_at, date_precision_key }));
  const read = await staged(
    { vehicle_history_reports: [{ ...head, events }] },
    'events',
    `position, concat_ws(' | ', coalesce(strftime(occurred_at, '%Y-%m-%dT%H:%M'), '-'),
       coalesce(occurred_at_local, '-'), coalesce(cast(occurred_at_offset as varchar), '-')) as dates`,
  );
  return read.map(({ dates }) => dates);
}

describe('a date of a report', () => {
  it('keeps its instant, its local time to its precision, and its offset', async () => {
    const new_year = '2019-01-01T00:00:00+09:00';
    expect(
      await eventDates([
        [new_year, 'year'],
        [new_year, ' month'],
        [new_year, 'day'],
        [new_year, 'datetime'],
        ['2019-01-01T00:00:00-0530', 'day'],
        ['2019-01-01T00:00:00.000000Z', 'day'],
        ['2019-01-01 08:30:00', 'day'],
        ['2019-01-01 08:30:00.123456', 'datetime'],
        ['2019-01-01T08:30', 'datetime'],
        ['2019-01-01', 'day'],
        [null, 'day'],
      ]),
    ).toEqual([
      '2018-12-31T15:00 | 2019 | 540',
      '2018-12-31T15:00 | 2019-01 | 540',
      '2018-12-31T15:00 | 2019-01-01 | 540',
      '2018-12-31T15:00 | 2019-01-01T00:00:00 | 540',
      '2019-01-01T05:30 | 2019-01-01 | -330',
      '2019-01-01T00:00 | 2019-01-01 | 0',
      '2019-01-01T08:30 | 2019-01-01 | -',
      '2019-01-01T08:30 | 2019-01-01T08:30:00 | -',
      '2019-01-01T08:30 | 2019-01-01T08:30:00 | -',
      '2019-01-01T00:00 | 2019-01-01 | -',
      '- | - | -',
    ]);
  });

  it('may be a year or a month alone, and keeps that precision', async () => {
    expect(
      await eventDates([
        ['2019', 'year'],
        ['2019-05', 'month'],
        ['2019', 'day'],
        ['2019-05', null],
        ['2019', 'unknown'],
        ['2019-05', 'year'],
        ['2019-05-17', 'datetime'],
      ]),
    ).toEqual([
      '2019-01-01T00:00 | 2019 | -',
      '2019-05-01T00:00 | 2019-05 | -',
      '2019-01-01T00:00 | 2019 | -',
      '2019-05-01T00:00 | 2019-05 | -',
      '2019-01-01T00:00 | 2019 | -',
      '2019-05-01T00:00 | 2019 | -',
      '2019-05-17T00:00 | 2019-05-17 | -',
    ]);
  });

  it('has no local time if its precision is unknown', async () => {
    expect(
      await eventDates([
        ['2019-01-01T00:00:00+09:00', 'unknown'],
        ['2019-01-01T00:00:00+09:00', null],
        ['2019-01-01', 'quarter'],
      ]),
    ).toEqual(['2018-12-31T15:00 | - | 540', '2018-12-31T15:00 | - | 540', '2019-01-01T00:00 | - | -']);
  });

  it('is kept this way in every report column', async () => {
    const at = '2024-03-01T03:00:00+09:00';
    const history = {
      ...head,
      ...{ created_at: at, checked_at: at, summary: { first_registered_at: '2019' } },
      coverage: { period_start: '2019-05', period_end: at },
      events: [
        { ended_at: at, date_precision_key: 'month', details: [{ key: 'due', value_date: '2025-06' }] },
      ],
    };
    const inspection = { ...head, created_at: at, updated_at: at, inspected_at: at, valid_until: '2024-07' };
    const vehicle = { vehicle_history_reports: [history], inspections: [inspection] };
    const local = (...names: string[]) => names.map((name) => `${name}_local as ${name}`).join(', ');
    const names = ['summary_first_registered_at', 'coverage_period_start', 'coverage_period_end'];
    expect(await staged(vehicle, 'history_reports', local('created_at', 'checked_at', ...names))).toEqual([
      {
        ...{
          created_at: '2024-03-01T03:00:00',
          checked_at: '2024-03-01T03:00:00',
          summary_first_registered_at: '2019',
        },
        ...{ coverage_period_start: '2019-05', coverage_period_end: '2024-03-01T03:00:00' },
      },
    ]);
    expect(
      await staged(vehicle, 'inspections', local('created_at', 'updated_at', 'inspected_at', 'valid_until')),
    ).toEqual([
      {
        ...{
          created_at: '2024-03-01T03:00:00',
          updated_at: '2024-03-01T03:00:00',
          inspected_at: '2024-03-01T03:00:00',
        },
        valid_until: '2024-07',
      },
    ]);
    expect(await staged(vehicle, 'events', local('ended_at'))).toEqual([{ ended_at: '2024-03' }]);
    expect(await staged(vehicle, 'event_details', local('value_date'))).toEqual([{ value_date: '2025-06' }]);
  });
});
