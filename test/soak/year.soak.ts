import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { executeVacuum, planVacuum } from '../../src/beyond/keep/vacuum-lake.js';
import { diskUse, filesBelow } from '../../src/core/lake/files.js';
import { currentSnapshot, layoutOf } from '../../src/core/lake/layout.js';
import { allFiles, allTables, readManifest } from '../../src/core/lake/manifest.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_MARTS } from '../pipelines/support.js';

/** Nights of the lake, at least 60. The 365 nights of a year take half an hour on a quiet machine. */
const NIGHTS = Number(process.env.LOTLAKE_NIGHTS ?? 365);
/** The lake after its first month is compared with the later lake. */
const MONTH = Math.min(30, NIGHTS >> 1);
/** Number of nights of each lake whose time is compared. */
const COMPARED = Math.min(7, NIGHTS);
const START = Date.parse('2025-11-20T02:00:00Z');

const sandbox = await startSandbox({ vehicles: 250, seed: 7, clock: new Date(START) });
const folder = temporaryFolder();
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

const copy = (from: string, to: string): void => {
  execFileSync('cp', ['-a', join(folder.path, from), join(folder.path, to)]);
};

/** Runs a night of a lake, with its vacuum. Returns the seconds of processor time. */
async function live(lake: string, night: number, only: typeof WITHOUT_MARTS | object): Promise<number> {
  const config = configFor(sandbox.url, join(folder.path, lake), { shrinkGuard: 1 });
  const layout = layoutOf(config.output);
  const clock = new Date(START + night * 86_400_000);
  sandbox.setClock(clock);
  const before = process.cpuUsage();
  await nightly({ config, reporter: silentReporter(), now: () => clock, ...only });
  const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  const retention = { ...config, keepPasses: 3 };
  const plan = await planVacuum(opened.session.connection, layout, retention).finally(opened.close);
  await executeVacuum(layout, plan, new AbortController().signal);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Bytes of a lake on disk, in all and without what history adds: tables, and the records of runs. */
function measure(lake: string) {
  const layout = layoutOf(join(folder.path, lake));
  const manifest = readManifest(currentSnapshot(layout) ?? '');
  const tables = Object.values(allTables(manifest));
  // A manifest lists the files of the tables.
  const isHistory = (path: string): boolean =>
    /\.parquet$|\/manifest\.json$/.test(path) && path.startsWith(layout.lake);
  const files = filesBelow(layout.output);
  const others = files.filter((path) => !isHistory(path) && !path.startsWith(layout.runs));
  const month = manifest.created_at.slice(0, 7);
  const past = allFiles(manifest).filter(({ path }) => /\/month=/.test(path) && !path.includes(month));
  return {
    files: files.length,
    other_files: others.length,
    bytes: diskUse(layout.output),
    other_bytes: others.reduce((sum, path) => sum + diskUse(path), 0),
    snapshots: readdirSync(layout.snapshots).length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    table_bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    table_files: allFiles(manifest).length,
    past_files: past.length,
    past_partitions: new Set(past.map(({ path }) => path.replace(/[^/]*$/, ''))).size,
  };
}

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

describe('a lake after a year of nights, each with a vacuum', () => {
  let young: ReturnType<typeof measure>;
  let old: ReturnType<typeof measure>;
  const times = { year: [] as number[], month: [] as number[], history: [] as number[] };

  beforeAll(async () => {
    // Marts keep nothing from night to night. The nights of the year run without them, in half the time.
    for (let night = 0; night < NIGHTS; night++) {
      await live('year', night, WITHOUT_MARTS);
      if (night + 1 === MONTH) copy('year', 'month');
      if (night % 10 === 0) process.stdout.write(`night ${night}\n`);
    }
    // The same history without the rest of the year: the current snapshot and its landing.
    copy('year', 'history');
    const { runs, failedTests, snapshots, ...layout } = layoutOf(join(folder.path, 'history'));
    const current = basename(currentSnapshot({ runs, failedTests, snapshots, ...layout }) ?? '');
    for (const id of readdirSync(snapshots).filter((id) => id !== current))
      rmSync(join(snapshots, id), { recursive: true });
    for (const path of [runs, failedTests].filter(existsSync)) rmSync(path, { recursive: true });
    // The lakes take turns, so that a busy machine slows all of them alike.
    for (let i = 0; i < COMPARED; i++) {
      times.year.push(await live('year', NIGHTS + i, {}));
      times.history.push(await live('history', NIGHTS + i, {}));
      times.month.push(await live('month', MONTH + i, {}));
    }
    young = measure('month');
    old = measure('year');
    const seconds = Object.entries(times).map(([lake, each]) => `${lake} ${median(each).toFixed(2)} s`);
    process.stdout.write(`${JSON.stringify({ young, old }, null, 1)}\n${seconds.join(', ')}\n`);
  }, 7_200_000);

  it('takes no more time than its history explains', () => {
    expect(median(times.year) / median(times.history)).toBeLessThan(1.2);
  });

  it('has one file in each partition whose month is over', () => {
    expect(old.past_files).toBe(old.past_partitions);
  });

  it('takes no more disk than after a month, apart from tables and records', () => {
    expect(old.snapshots).toBe(young.snapshots);
    expect(old.other_files / young.other_files).toBeLessThan(1.2);
    expect(old.other_bytes / young.other_bytes).toBeLessThan(1.2);
  });
});
