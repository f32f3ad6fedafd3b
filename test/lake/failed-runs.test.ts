import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteFailedRun, settleFailedRuns, unresolvedRuns } from '../../src/lake/failed-runs.js';
import { type Layout, layoutOf } from '../../src/lake/layout.js';
import { placeOf } from '../../src/lake/lock.js';
import { writeManifest } from '../../src/lake/manifest.js';
import { temporaryFolder } from '../pipelines/support.js';

let folder: ReturnType<typeof temporaryFolder>;
let layout: Layout;
beforeEach(() => {
  folder = temporaryFolder();
  layout = layoutOf(folder.path);
});
afterEach(() => folder.remove());

/** Publishes an empty snapshot, as a run of a pipeline does: it settles first. */
function publish(pipeline: string): void {
  settleFailedRuns(layout);
  const id = `s${existsSync(layout.snapshots) ? readdirSync(layout.snapshots).length : 0}`;
  const snapshot = join(layout.snapshots, id);
  mkdirSync(snapshot, { recursive: true });
  const facts = {
    snapshot_id: id,
    run_id: id,
    pipeline,
    schema_version: 2,
    lotlake_version: null,
    origin: null,
    created_at: '',
    fingerprints: null,
  };
  writeManifest(snapshot, { ...facts, last_pass_at: {}, pass_ids: [], tables: {}, marts: {} });
  rmSync(layout.current, { force: true });
  symlinkSync(join('snapshots', basename(snapshot)), layout.current);
}

const fail = (pipeline: string, reason: string): void =>
  noteFailedRun(layout, { pipeline, started_at: '2026-11-20T02:00:00.000Z', outcome: 'failed', reason });

const reasons = (): string[] => unresolvedRuns(layout).map(({ reason }) => reason);

describe('a run that failed', () => {
  it('stays unresolved until a run of its pipeline publishes', () => {
    fail('nightly', 'first');
    expect(reasons()).toEqual(['first']);
    publish('nightly');
    expect(reasons()).toEqual([]);
    fail('nightly', 'second');
    fail('closing', 'third');
    publish('lookup');
    publish('lookup');
    fail('nightly', 'fourth');
    expect(reasons()).toEqual(['second', 'third', 'fourth']);
    publish('nightly');
    publish('incremental');
    expect(reasons()).toEqual(['third']);
    publish('closing');
    publish('lookup');
    expect(reasons()).toEqual([]);
    expect(readdirSync(layout.lake).sort()).toEqual(['current', 'snapshots']);
  });

  it('is read even where a crash tore the line before it', () => {
    fail('nightly', 'first');
    const ledger = join(layout.lake, 'failed-runs.ndjson');
    writeFileSync(ledger, readFileSync(ledger, 'utf8').slice(0, -20));
    fail('nightly', 'second');
    expect(reasons()).toEqual(['second']);
  });
});

describe('a run that was killed', () => {
  const leaveLock = (pipeline: string, startedAt: Date, pid = spawnSync('true').pid): void =>
    symlinkSync(
      JSON.stringify({ pid, place: placeOf(), pipeline, started_at: startedAt.toISOString() }),
      layout.lock,
    );

  it('is known from its lock', () => {
    publish('nightly');
    leaveLock('incremental', new Date(Date.now() + 1000));
    expect(unresolvedRuns(layout)).toMatchObject([{ pipeline: 'incremental', outcome: 'failed' }]);
  });

  it('does not count where it had published, is alive, or was a vacuum', () => {
    leaveLock('nightly', new Date(Date.now() - 60_000));
    publish('nightly');
    expect(unresolvedRuns(layout)).toEqual([]);
    rmSync(layout.lock);
    leaveLock('nightly', new Date(Date.now() + 1000), process.ppid);
    expect(unresolvedRuns(layout)).toEqual([]);
    rmSync(layout.lock);
    leaveLock('vacuum', new Date(Date.now() + 1000));
    expect(unresolvedRuns(layout)).toEqual([]);
  });
});
