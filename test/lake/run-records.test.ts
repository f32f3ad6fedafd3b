import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placeOf } from '../../src/core/job/lock.js';
import {
  growthOf,
  oldRuns,
  type RunRecord,
  readRuns,
  settleKilled,
  unresolvedRuns,
  writeRun,
} from '../../src/core/job/run-records.js';
import { type Layout, layoutOf } from '../../src/core/lake/layout.js';
import { temporaryFolder } from '../pipelines/support.js';
import { runId, runRecord } from './run-record.js';

let folder: ReturnType<typeof temporaryFolder>;
let layout: Layout;
beforeEach(() => {
  folder = temporaryFolder();
  layout = layoutOf(folder.path);
});
afterEach(() => folder.remove());

let attempts = 0;
const ran = (pipeline: string, outcome: RunRecord['outcome'], more: Partial<RunRecord> = {}): void =>
  writeRun(layout, runRecord({ attempt: ++attempts, pipeline, outcome, exit_code: null, ...more }));

/** Leaves the lock of a process that runs, or ran, a pipeline. */
function leaveLock(token: string, pid: number): void {
  rmSync(layout.lock, { force: true });
  const started_at = '2026-11-20T02:00:00.000Z';
  symlinkSync(JSON.stringify({ token, pid, place: placeOf(), pipeline: 'nightly', started_at }), layout.lock);
}

const outcomes = (): string[] => readRuns(layout).map(({ pipeline, outcome }) => `${pipeline} ${outcome}`);
const unresolved = (): string[] =>
  unresolvedRuns(readRuns(layout)).map(({ pipeline, outcome }) => `${pipeline} ${outcome}`);

it('a run that was held or failed stays unresolved until a run of its pipeline publishes', () => {
  ran('nightly', 'failed');
  expect(unresolved()).toEqual(['nightly failed']);
  ran('nightly', 'published');
  expect(unresolved()).toEqual([]);
  for (const outcome of ['held', 'refused', 'unavailable'] as const) ran('nightly', outcome);
  ran('closing', 'failed');
  ran('incremental', 'published');
  ran('nightly', 'nothing_new');
  expect(unresolved()).toEqual(['nightly held', 'nightly refused', 'nightly unavailable', 'closing failed']);
  // Only a push after the last published run may still have failed; earlier pushes no longer count.
  const error = { code: 'MIRROR_FAILED', stage: 'mirror', message: 'no', hint: null };
  ran('incremental', 'published', { error });
  expect(unresolved().at(-1)).toBe('incremental published');
  ran('incremental', 'published');
  // The clock does not matter here, because it may be set back.
  ran('nightly', 'published', { started_at: '2020-01-01T00:00:00.000Z' });
  expect(unresolved()).toEqual(['closing failed']);
});

describe('a run that a schedule starts stays unresolved', () => {
  it.each(['usage', 'interrupted', 'locked'] as const)('however it ended: %s', (outcome) => {
    for (const pipeline of ['nightly', 'incremental', 'closing', 'rebuild', 'lookup']) ran(pipeline, outcome);
    // Somebody started the others, and saw how they ended.
    expect(unresolved()).toEqual([`nightly ${outcome}`, `incremental ${outcome}`]);
    ran('nightly', 'published');
    expect(unresolved()).toEqual([]);
  });

  it('until a night publishes, which brings what an incremental would have brought', () => {
    ran('incremental', 'failed');
    ran('nightly', 'held');
    ran('incremental', 'published');
    expect(unresolved()).toEqual(['nightly held']);
    ran('incremental', 'failed');
    ran('nightly', 'published');
    expect(unresolved()).toEqual([]);
    ran('nightly', 'failed');
    ran('incremental', 'published');
    expect(unresolved()).toEqual(['nightly failed']);
  });

  it('unless it found the lake locked by a run whose own end says all', () => {
    const night = { started_at: '2026-11-20T02:00:00.000Z', ended_at: '2026-11-20T02:40:00.000Z' };
    const during = { started_at: '2026-11-20T02:20:00.000Z', ended_at: '2026-11-20T02:20:00.000Z' };
    ran('nightly', 'published', night);
    ran('nightly', 'locked', during);
    ran('incremental', 'locked', during);
    expect(unresolved()).toEqual([]);
    // An incremental does not do the work of a night.
    ran('incremental', 'published', { ...night, started_at: '2026-11-20T02:10:00.000Z' });
    ran('nightly', 'locked', {
      started_at: '2026-11-20T02:45:00.000Z',
      ended_at: '2026-11-20T02:45:00.000Z',
    });
    expect(unresolved()).toEqual(['nightly locked']);
  });
});

describe('a record of a run at work', () => {
  const begin = (): void =>
    ran('nightly', 'running', { process: { pid: 4711, host: 'here', token: 'mine' } });

  it('says that it runs while its process has the lock', () => {
    begin();
    leaveLock('mine', process.ppid);
    expect(outcomes()).toEqual(['nightly running']);
    settleKilled(layout, readRuns(layout));
    leaveLock('another', process.ppid);
    expect(outcomes()).toEqual(['nightly killed']);
  });

  it('says that it was killed once its process is gone, even after the lock is gone', () => {
    begin();
    leaveLock('mine', 2 ** 22 + 1);
    expect(unresolved()).toEqual(['nightly killed']);
    expect(readRuns(layout)[0]).toMatchObject({ error: { code: 'RUN_KILLED' }, exit_code: null });
    settleKilled(layout, readRuns(layout));
    rmSync(layout.lock);
    expect(unresolved()).toEqual(['nightly killed']);
  });

  it('says that it published if it was killed afterwards, even once another run has published', () => {
    begin();
    mkdirSync(layout.lake, { recursive: true });
    symlinkSync(join('snapshots', runId(attempts)), layout.current);
    settleKilled(layout, readRuns(layout));
    rmSync(layout.current);
    expect(readRuns(layout)[0]).toMatchObject({ outcome: 'published', snapshot_id: runId(attempts) });
  });
});

it('a file that is not a record is ignored', () => {
  ran('nightly', 'published');
  mkdirSync(join(layout.runs, 'torn'));
  writeFileSync(join(layout.runs, 'torn', 'run.json'), '{"run_id": "torn"');
  mkdirSync(join(layout.runs, 'empty'));
  expect(outcomes()).toEqual(['nightly published']);
});

it('growth counts the last night of each day that published, of three days at least', () => {
  const sized = (day: number, used_bytes: number, more: Partial<RunRecord> = {}) =>
    runRecord({
      attempt: ++attempts,
      started_at: `2026-11-0${day}T02:00:00.000Z`,
      disk: { used_bytes, free_bytes: 1 },
      ...more,
    });
  const first = [sized(1, 20), sized(1, 100)];
  expect(growthOf(first)).toBeNull();
  const second = [sized(2, 1e9, { pipeline: 'rebuild' }), sized(2, 130), sized(2, 0, { outcome: 'held' })];
  expect(growthOf([...first, ...second])).toBeNull();
  expect(growthOf([...first, ...second, sized(3, 180)])).toBe(40);
});

it('a vacuum removes records older than 400 days', () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const OLD = runId(1);
  for (const [run_id, days] of [
    [OLD, 401],
    [runId(2), 399],
  ] as const) {
    // The clock of a sandbox may be years behind the clock of the disk.
    ran('nightly', 'published', { run_id, updated_at: '2020-01-01T00:00:00.000Z' });
    utimesSync(join(layout.runs, run_id, 'run.json'), ago(days), ago(days));
  }
  expect(oldRuns(layout)).toEqual([join(layout.runs, OLD)]);
});
