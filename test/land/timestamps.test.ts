import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeScratch } from '../../src/base/config/owned.js';
import { openSession, rows, type Session } from '../../src/base/duck/session.js';
import { isTimestamp, isYearOrMonth, reportDate, timestamp } from '../../src/core/service/contract/field.js';
import { contractOf } from '../../src/core/service/contract/node.js';
import { pageOf, scanText } from './support.js';

const contract = contractOf(z.looseObject({ at: timestamp('Any time.') }));
const reportSchema = z.looseObject({ at: reportDate('Any date of a report.') });
const reportContract = contractOf(reportSchema);

/** Whether the scanner accepts each text as a timestamp. */
const scanned = (text: string): boolean =>
  scanText(pageOf([{ at: text }]), contract).scan.misfits.length === 0;

const two = (value: number): string => String(value).padStart(2, '0');
const parts = fc.record({
  year: fc.oneof(fc.integer({ min: 1990, max: 2040 }), fc.integer({ min: 1, max: 9999 })),
  month: fc.integer({ min: 0, max: 13 }),
  day: fc.integer({ min: 0, max: 32 }),
  hour: fc.integer({ min: 0, max: 25 }),
  minute: fc.integer({ min: 0, max: 61 }),
  second: fc.integer({ min: 0, max: 61 }),
});

/** The calendar of JavaScript decides. A moment is real if its parts come back unchanged. */
function isReal({
  year,
  month,
  day,
  hour,
  minute,
  second,
}: typeof parts extends fc.Arbitrary<infer T> ? T : never): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const back = [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()];
  return [...back, date.getUTCSeconds()].join() === [month, day, hour, minute, second].join();
}

const written = fc
  .tuple(parts, fc.constantFrom(' ', 'T'), fc.constantFrom('', '.5', '.000000', '.123456789'))
  .chain(([moment, joint, fraction]) => {
    const date = `${String(moment.year).padStart(4, '0')}-${two(moment.month)}-${two(moment.day)}`;
    const time = `${two(moment.hour)}:${two(moment.minute)}:${two(moment.second)}`;
    return fc
      .constantFrom('', 'Z', '+00:00', '-05:00', '+0530', '+02')
      .map((zone) => ({ moment, text: `${date}${joint}${time}${fraction}${zone}` }));
  });

/** A timestamp with a character or two changed. */
const nearly = fc
  .tuple(
    fc.oneof(
      written.map(({ text }) => text),
      fc.constantFrom(
        '2026-09-09T19:44:38.000000Z',
        '2026-09-09 19:37:39',
        '2026-09-09',
        '2024-02-29T23:59:59.999999Z',
      ),
    ),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.constantFrom('replace', 'insert', 'remove'),
        fc.oneof(fc.constantFrom(...'0123456789-:.TZ+ tz/'), fc.string({ minLength: 1, maxLength: 1 })),
      ),
      { maxLength: 2 },
    ),
  )
  .map(([text, changes]) =>
    changes.reduce((now, [place, kind, character]) => {
      const at = place % (now.length + 1);
      return (
        now.slice(0, at) + (kind === 'remove' ? '' : character) + now.slice(kind === 'insert' ? at : at + 1)
      );
    }, text),
  )
  // A text that JSON escapes is always read the slow way.
  .filter((text) => JSON.stringify(text) === `"${text}"`);

describe('timestamps', () => {
  it.each([
    '2026-09-09T19:44:38.000000Z',
    '2026-09-09 19:37:39',
    '2026-09-09T19:37:39',
    '2026-09-09T19:37:39Z',
    '2026-09-09T19:37:39.1Z',
    '2026-09-09T19:37:39.123456789Z',
    '2026-09-09T19:37:39+02:00',
    '2026-09-09 19:37:39-0530',
    '2026-09-09T19:37',
    '2026-09-09',
    '2024-02-29',
    '2000-02-29 00:00:00',
    '2026-12-31 23:59:59',
    '0001-01-01T00:00:00Z',
    '0001-01-01T00:00:00-14:00',
    '0001-01-01T14:00:00+14:00',
    '9999-12-31',
    '9999-12-31T23:59:59.999999+00:00',
    '9999-12-31T23:59:59+14:00',
    '9999-12-31T09:59:59-14:00',
  ])('may be written as %s', (text) => {
    expect([isTimestamp(text), scanned(text)]).toEqual([true, true]);
  });

  it.each([
    '',
    'yesterday at noon',
    '2026-02-30 10:00:00',
    '2026-02-29',
    '1900-02-29 00:00:00',
    '2026-04-31T10:00:00.000000Z',
    '2026-13-01 10:00:00',
    '2026-00-10 10:00:00',
    '2026-01-00 10:00:00',
    '0000-00-00 00:00:00',
    '0000-01-01 00:00:00',
    '2026-01-01 25:00:00',
    '2026-01-01 24:00:00',
    '2026-01-01T10:60:00.000000Z',
    '2026-01-01 10:00:60',
    '2026-1-1',
    '20260101',
    '2026-01-01T',
    '2026-01-01Z',
    '2026-01-01T10:00:00.Z',
    '2026-01-01T10:00:00.1234567890Z',
    '2026-01-01T10:00:00.00000aZ',
    '2026-01-01_10:00:00',
    '2026-01-01T10:00:00.000000z',
    ' 2026-01-01',
    '2026-01-01 10:00:00 ',
    '01/02/2026',
    '1767225600',
    '+002026-01-01',
    '9999-12-31T23:59:59-14:00',
    '9999-12-31T10:00:00-14:00',
    '9999-12-31T23:59:59.5-0001',
    '0001-01-01T00:00:00+00:01',
    '0001-01-01 13:59:59+14',
  ])('are not: %s', (text) => {
    expect([isTimestamp(text), scanned(text)]).toEqual([false, false]);
  });

  it('must exist in the calendar', () => {
    fc.assert(
      fc.property(written, ({ moment, text }) => {
        const isAtTheEdge = moment.year === 1 || moment.year === 9999;
        if (!isAtTheEdge) expect(isTimestamp(text)).toBe(isReal(moment));
      }),
      { numRuns: 1000 },
    );
  });

  it('are judged the same by the scanner and by zod', () => {
    fc.assert(
      fc.property(fc.array(nearly, { minLength: 20, maxLength: 20 }), (texts) => {
        expect(texts.filter((text) => scanned(text) !== isTimestamp(text))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('dates of reports', () => {
  /** Whether the scanner and the validation accept a text. */
  const taken = (text: string): boolean[] => [
    scanText(pageOf([{ at: text }]), reportContract).scan.misfits.length === 0,
    reportSchema.safeParse({ at: text }).success,
  ];

  it.each(['2019', '0001', '2019-05', '2019-12', '2019-05-17', '2019-05-17T08:30:00+09:00'])(
    'may be written as %s',
    (text) => {
      expect(taken(text)).toEqual([true, true]);
    },
  );

  it.each([
    '',
    '0000',
    '0000-00',
    '2019-00',
    '2019-13',
    '2019-5',
    '201',
    '20190',
    '2019-',
    '2019 ',
    '05-2019',
  ])('are not: %s', (text) => {
    expect(taken(text)).toEqual([false, false]);
  });

  it('may be a year or a month alone nowhere else', () => {
    for (const text of ['2019', '2019-05'])
      expect([isYearOrMonth(text), scanned(text)]).toEqual([true, false]);
  });
});

describe('timestamps in the database', () => {
  const folder = makeScratch(join(tmpdir(), 'lotlake-times-'));
  let session: Session;
  beforeAll(async () => {
    session = await openSession({ memory: '200MB', threads: 1, temp: join(folder, 'tmp') });
  });
  afterAll(() => {
    session.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are read as the same moment as in JavaScript', async () => {
    const samples = fc
      .sample(written, 3000)
      .filter(({ moment, text }) => moment.year >= 1000 && isTimestamp(text));
    const file = join(folder, 'times.ndjson');
    writeFileSync(file, samples.map(({ text }) => `${JSON.stringify({ moment: text, text })}\n`).join(''));
    const read = await rows(
      session.connection,
      `select text, epoch_us(moment) as us from read_json('${file}', format = 'newline_delimited',
        columns = {text: 'VARCHAR', moment: 'TIMESTAMPTZ'})`,
    );
    expect(read.length).toBe(samples.length);
    expect(read.length).toBeGreaterThan(300);
    const wrong = read.filter(({ text, us }) => {
      const iso = String(text)
        .replace(' ', 'T')
        .replace(/(\.\d{3})\d+/, '$1')
        .replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
      const zoned = /(Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : /[+-]\d\d$/.test(iso) ? `${iso}:00` : `${iso}Z`;
      return Date.parse(zoned) !== Math.floor(Number(us) / 1000);
    });
    expect(wrong).toEqual([]);
  });
});
