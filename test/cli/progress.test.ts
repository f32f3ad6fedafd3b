import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import stringWidth from 'string-width';
import { afterAll, describe, expect, it } from 'vitest';
import { type Effects, openStreams } from '../../src/cli/effects.js';
import { jsonLines, type LineLog, textLines } from '../../src/cli/log.js';
import { duration, type Progress, pagesLine, progressSince, stepLine } from '../../src/cli/progress-line.js';
import { createReporter } from '../../src/cli/reporter.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { endPass, openPass, recordPage } from '../../src/core/lake/passes/pass.js';
import { progressOf } from '../../src/core/land/landed-pages.js';
import { landedPage } from '../land/ledger.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const CARS: Progress = {
  ...{ stream: 'cars', pages: 412, expected: 5120, isEstimate: false },
  ...{ records: 411_998, bytes: 3_880_000_000, rate: 1004.2, left: 11_520 },
};

describe('a line of progress', () => {
  it('has a bar if there is room, and otherwise drops the least important parts', () => {
    expect([120, 100, 80, 60, 55].map((width) => pagesLine(CARS, width - 1))).toEqual([
      'cars             █░░░░░░░░░░░░░░░░░░░░░ 412 of 5,120 pages, 411,998 records, 3,880 MB, 1,004 records/s, 3 h 12 min left',
      'cars             412 of 5,120 pages, 411,998 records, 3,880 MB, 1,004 records/s, 3 h 12 min left',
      'cars             412 of 5,120 pages, 411,998 records, 1K/s, 3 h 12 min left',
      'cars 412/5,120 pages, 412K records, 1K/s, 3 h 12 min left',
      'cars 412/5,120 pages, 412K records, 3 h 12 min left',
    ]);
  });

  it('fits every width', () => {
    for (let width = 1; width < 200; width += 9) {
      expect(stringWidth(pagesLine({ ...CARS, isEstimate: true }, width))).toBeLessThanOrEqual(width);
      expect(stringWidth(pagesLine(CARS, width, 'stopped after 2 min 10 s'))).toBeLessThanOrEqual(width);
    }
    for (let width = 30; width < 200; width += 9)
      for (const end of [undefined, 'done', 'stopped'] as const)
        expect(
          stringWidth(stepLine({ name: 'push', detail: `s3://桶/${'x'.repeat(99)}` }, 7200, width, end)),
        ).toBeLessThanOrEqual(width);
  });

  it('shows the total expected from the last pass', () => {
    expect(pagesLine({ ...CARS, isEstimate: true }, 73)).toBe(
      'cars 412 of about 5,120 pages, 412K records, 1K/s, about 3 h 12 min left',
    );
  });

  it('estimates the time left from the pages of this run, and shows none in the first seconds', () => {
    const sums = { ...CARS, pages: 1000, records: 990_000, expected: 1300 };
    const first = { ...sums, pages: 900, records: 900_000 };
    expect(progressSince(first, sums, 50)).toMatchObject({ rate: 1800, left: 150 });
    expect(progressSince(first, sums, 4.9).left).toBeNull();
    expect(progressSince(first, { ...sums, expected: null }, 50).left).toBeNull();
    expect(progressSince(first, { ...sums, expected: 999 }, 50)).toMatchObject({
      expected: null,
      left: null,
    });
    expect(progressSince(sums, sums, 50)).toMatchObject({ rate: null, left: null });
  });

  it('says how long a step took', () => {
    const step = { name: 'reconcile', detail: 'with the last snapshot' };
    expect(stepLine(step, 12.7, 80)).toBe('merging with the last snapshot … 12 s');
    expect(stepLine(step, 12.7, 80, 'done')).toBe('merged with the last snapshot in 13 s');
    expect(stepLine({ ...step, part: 'sales, 3 of 54' }, 12.7, 80)).toBe('merging sales, 3 of 54 … 12 s');
    expect(stepLine(step, 130, 45, 'stopped')).toBe('merging with the… … stopped after 2 min 10 s');
    expect([0.04, 9.96, 59.7, 3599.6, 93_600].map(duration)).toEqual([
      ...['0.0 s', '10.0 s', '1 min 0 s', '1 h 0 min', '26 h 0 min'],
    ]);
  });
});

/** The log of a run in which a page arrives every 0.7 s for a minute. */
function minuteOf(open: (write: (line: string) => void, now: () => Date) => LineLog): string[] {
  let at = Date.parse('2026-11-20T02:00:00Z');
  const lines: string[] = [];
  const log = open(
    (line) => lines.push(line),
    () => new Date(at),
  );
  log.step('extract', 'cars');
  for (let pages = 1; pages <= 85; pages++) {
    at += 700;
    log.progress({ ...CARS, pages });
    if (pages === 20) log.warn('attempt 1 failed\nnext in 1.0 s');
  }
  log.part('sales', 3, 54);
  return lines;
}

describe('a log of lines', () => {
  it('has at most one line of progress per ten seconds, and every step and warning, each with its time', () => {
    const lines = minuteOf(textLines);
    expect(lines.every((line) => /^2026-11-20T02:0\d:\d\dZ \S.*\n$/.test(line))).toBe(true);
    expect(lines.slice(0, 5)).toEqual([
      '2026-11-20T02:00:00Z extract    cars\n',
      '2026-11-20T02:00:10Z progress   cars: 15 of 5,120 pages, 411,998 records, 3,880 MB, 1,004 records/s, 3 h 12 min left\n',
      '2026-11-20T02:00:14Z warning    attempt 1 failed\n',
      '2026-11-20T02:00:14Z warning    next in 1.0 s\n',
      '2026-11-20T02:00:21Z progress   cars: 30 of 5,120 pages, 411,998 records, 3,880 MB, 1,004 records/s, 3 h 12 min left\n',
    ]);
    expect(lines.filter((line) => line.includes(' progress ')).length).toBe(5);
  });

  it('has the same content as JSON', () => {
    const lines = minuteOf(jsonLines).map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'progress').length).toBe(5);
    expect(lines[1]).toMatchObject({
      stream: 'cars',
      pages: 15,
      records_per_second: 1004.2,
      seconds_left: 11_520,
    });
    expect(lines[2]).toMatchObject({ level: 40, msg: 'attempt 1 failed\nnext in 1.0 s' });
  });
});

/** Streams of a process that keep what is written to them. */
function streams() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const opened = openStreams({ stdout, stderr });
  const effects: Effects = {
    ...opened,
    ...{ now: () => new Date(), env: {}, cwd: folder.path, width: undefined },
    ...{
      columns: () => undefined,
      input: async () => new Uint8Array(),
      signal: new AbortController().signal,
    },
  };
  return { ...opened, effects, written: (): string => String(stderr.read() ?? '') };
}

describe('the live line', () => {
  it('is replaced in one write, stays below other text, and is removed', () => {
    const { live, err, written } = streams();
    live('cars 1 page');
    live('cars 1 page');
    expect(written()).toBe('\rcars 1 page\u001b[K');
    err('warning: \u001b[31mred\n');
    expect(written()).toBe('\r\u001b[Kwarning: \\u001b[31mred\ncars 1 page');
    live('');
    err('done\n');
    expect(written()).toBe('\r\u001b[Kdone\n');
  });
});

describe('the log file', () => {
  const linesIn = (path: string): string[] => readFileSync(path, 'utf8').trimEnd().split('\n');

  it('is appended to, and holds what --quiet hides from stderr, with the error that ends the run', () => {
    const { effects, failed, written } = streams();
    const logFile = 'night.log';
    for (const quiet of [true, false]) {
      const config = { log: 'info', logFile, logFormat: undefined } as const;
      const reporter = createReporter(effects, { config, json: false, quiet });
      reporter.step('extract', 'cars');
      reporter.warn('slow');
      expect(failed('it broke', {})).toBe(false);
      expect(written().includes('extract')).toBe(!quiet);
    }
    const labels = linesIn(join(folder.path, logFile)).map((line) => line.replace(/^\S+Z /, ''));
    const once = ['extract    cars', 'warning    slow', 'error      it broke'];
    expect(labels).toEqual([...once, ...once]);
  });

  it('is JSON if the log is JSON', () => {
    const { effects, failed, written } = streams();
    const logFile = join(folder.path, 'night.ndjson');
    const config = { log: 'warn', logFile, logFormat: 'json' } as const;
    createReporter(effects, { config, json: false }).step('extract', 'cars');
    expect(failed('it broke', { code: 'LAKE_LOCKED' })).toBe(true);
    const [line] = linesIn(logFile).map((text) => JSON.parse(text));
    expect(line).toMatchObject({ level: 50, code: 'LAKE_LOCKED', msg: 'it broke' });
    expect(JSON.parse(written())).toMatchObject({ msg: 'it broke' });
  });

  it('that cannot be written is refused', () => {
    writeFileSync(join(folder.path, 'file'), '');
    const open = (logFile: string) => () =>
      createReporter(streams().effects, { config: { log: 'info', logFile, logFormat: 'text' }, json: false });
    expect(open('.')).toThrow(/the log file .* cannot be written: EISDIR/);
    expect(open('missing/night.log')).toThrow(/cannot be written: ENOENT/);
    expect(open('file/below.log')).toThrow(/cannot be written: ENOTDIR/);
  });
});

describe('the progress of a pass', () => {
  it('expects the pages of the last complete pass of the same request if the service gives no total', () => {
    const layout = layoutOf(folder.path);
    const open = (per_page: number) =>
      openPass(
        layout.landing,
        {
          stream: 'cars',
          run_id: '20261120T020000Z-00000a',
          sequence: 1,
          origin: null,
          kind: 'full',
          request: { per_page },
          contract: '',
        },
        new Date(),
      );
    const reports: (readonly unknown[])[] = [];
    const reporter = {
      step: () => undefined,
      warn: () => undefined,
      progress: (...given: readonly unknown[]) => reports.push(given),
    };
    const report = (per_page: number, expected: number | null) =>
      progressOf({ reporter, layout }, open(per_page))(landedPage(), expected);
    const last = open(1000);
    const page = landedPage();
    writeFileSync(join(last.folder, page.file), '');
    recordPage(last.folder, page);
    endPass(
      last,
      { state: 'sealed', reason: null, complete: true, total: null, run_id: '20261120T020000Z-00000a' },
      new Date(),
    );
    report(1000, null);
    report(1000, 7);
    report(500, null);
    const after = reports
      .filter((_, i) => i % 2 === 1)
      .map(([, , expected, , , isEstimate]) => [expected, isEstimate]);
    expect(after).toEqual([
      [1, true],
      [7, false],
      [null, true],
    ]);
  });
});
