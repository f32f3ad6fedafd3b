import { hostname } from 'node:os';
import type { Config, InForce } from '../../base/config/config.js';
import { exitCodes, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { version } from '../../base/config/package-root.js';
import { sumOf } from '../../base/config/printable.js';
import { diskFullError, outOfMemoryError } from '../lake/lake-error.js';
import { currentId, type Layout, layoutOf } from '../lake/layout.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import { leftOutOf, newId } from '../lake/passes/pass.js';
import { storedBefore, type TableCounts } from '../lake/row-counts.js';
import type { Observers, TestFailures } from './beside.js';
import { describeError } from './describe-error.js';
import {
  diskOf,
  type RunRecord,
  readRuns,
  reasonOf,
  settleKilled,
  standsFor,
  unresolvedRuns,
  writeRun,
} from './run-records.js';

/** Milliseconds after which the progress of a stage is written again. */
const INTERVAL = 10_000;

/** What a record needs of its run. */
interface RecorderOptions {
  readonly config: Config;
  /** Settings with their places. */
  readonly settings?: readonly InForce[] | undefined;
  readonly reporter: { warn(message: string): void };
  readonly signal?: AbortSignal | undefined;
  readonly pipeline: string;
  readonly runId: string;
  readonly now: () => Date;
  /** Token of the lock, and the lake that it is of; undefined if the run did not get the lock. */
  readonly token?: string | undefined;
  readonly lakeId?: string | undefined;
}

/** Makes the record of a run from what happens in it, and keeps it up to date on disk. */
export interface Recorder {
  /** The record so far. */
  readonly record: Readonly<RunRecord>;
  /** Earlier runs, oldest first. */
  readonly before: readonly RunRecord[];
  /** Killed runs among them that no observer was told of. */
  readonly killed: readonly RunRecord[];
  /** Results of the data tests. */
  readonly tests: readonly TestFailures[];
  /** Ends the present stage and begins another. */
  step(name: string, detail?: string | null): void;
  /** Records the progress of the stage. */
  progress(counts: Readonly<Record<string, number>>): void;
  /** Corrects the times so far, which are `late` milliseconds too late. */
  shift(late: number): void;
  /** Counts the answer to a request by its status; `failed` if there was none. */
  answered(status: number | 'failed'): void;
  /** Counts a request that is sent again. */
  retried(): void;
  /** Adds a warning that was shown. */
  warned(message: string): void;
  /** Adds a pass whose records are staged. */
  loaded(pass: LoadedPass): void;
  /** Adds what the run did to the tables, and which runs before it failed. */
  merged(counts: Readonly<Record<string, TableCounts>>): void;
  /** Adds the results of the data tests. */
  tested(tests: readonly TestFailures[]): void;
  /**
   * The rows of the table `runs` that a new state adds: this run as it is once published, and those before it.
   * @param since id of the run that made the base; a rebuild writes all runs
   */
  rows(since: string | undefined): readonly Readonly<Record<string, unknown>>[];
  /** Records that the run succeeded. */
  succeed(isPublished: boolean): void;
  /**
   * Records the error that ended the run, maybe after the snapshot was published. Returns the error to throw, which names
   * a full disk or memory as the cause.
   */
  fail(error: unknown): unknown;
  /** Ends the record. Called again if an error follows the end of the run. */
  close(): void;
}

/** Opens the record of a run. With the lock, it also closes the records of runs that were killed. */
export function openRecorder(options: RecorderOptions): Recorder {
  const { config, reporter, token, signal, now, runId } = options;
  const layout = layoutOf(config.output);
  const orWarn = warningOnce(reporter);
  const before = orWarn(() => readRuns(layout)) ?? [];
  const killed = token === undefined ? [] : (orWarn(() => settleKilled(layout, before)) ?? []);
  const record = newRecord(options, before);
  let written = Number.NEGATIVE_INFINITY;
  const write = (): void => {
    written = performance.now();
    record.updated_at = now().toISOString();
    orWarn(() => writeRun(layout, record));
  };
  const progress = (counts: Readonly<Record<string, number>>): void => {
    Object.assign(record.stages.at(-1)?.counts ?? {}, counts);
    if (performance.now() - written > INTERVAL) write();
  };
  if (token !== undefined) write();
  const tests: TestFailures[] = [];
  return {
    record,
    before,
    killed,
    tests,
    step(name, detail = null) {
      endStage(record, now());
      record.stages.push({ name, detail, started_at: now().toISOString(), ended_at: null, counts: {} });
      write();
    },
    progress,
    shift(late) {
      if (late === 0) return;
      shiftTimes(record, late);
      write();
    },
    answered(status) {
      record.requests[status] = (record.requests[status] ?? 0) + 1;
    },
    retried() {
      record.retries++;
    },
    warned(message) {
      record.warnings.push(message);
    },
    loaded: (pass) => progress(countPass(record, pass)),
    merged: (counts) => {
      noteFailing(record, before);
      progress(countRows(record, counts));
    },
    tested(results) {
      tests.push(...results);
      record.tests = countTests(results);
    },
    rows: (since) => rowsOf(record, before, now(), since),
    succeed(isPublished) {
      record.outcome = isPublished ? 'published' : 'nothing_new';
      record.exit_code = 0;
    },
    fail(error) {
      const cause = diskFullError(error, config.output) ?? outOfMemoryError(error, config.memory) ?? error;
      const described = signal?.aborted === true ? interrupted() : describeError(cause);
      noteError(record, described, currentId(layout) === runId);
      return cause;
    },
    close() {
      endStage(record, now());
      record.ended_at = now().toISOString();
      if (record.outcome === 'published') record.snapshot_id = runId;
      record.disk = diskNow(layout) ?? record.disk;
      write();
    },
  };
}

/** Reads or writes records. The first error is a warning; the run goes on. */
function warningOnce(reporter: RecorderOptions['reporter']) {
  let isLost = false;
  return <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!isLost)
        reporter.warn(`lotlake runs and status will not know all of this run: ${messageOf(error)}`);
      isLost = true;
      return undefined;
    }
  };
}

/** The record of a run at its begin. */
function newRecord(
  { config, settings = [], pipeline, runId, now, token, lakeId }: RecorderOptions,
  before: readonly RunRecord[],
): RunRecord {
  const began = now().toISOString();
  return {
    run_id: runId,
    attempt: 1 + (before.at(-1)?.attempt ?? 0),
    pipeline,
    version,
    lake_id: lakeId ?? null,
    origin: config.origin ?? null,
    outcome: 'running',
    exit_code: null,
    error: null,
    snapshot_id: null,
    started_at: began,
    updated_at: began,
    ended_at: null,
    process: { pid: process.pid, host: hostname(), token: token ?? '' },
    settings: [...settings],
    limits: {
      minimum_group: config.minimumGroup,
      relisting_days: config.relistingDays,
      reject_alarm: config.rejectAlarm,
      estimate_alarm: config.estimateAlarm,
    },
    stages: [],
    requests: {},
    retries: 0,
    records: 0,
    loaded: 0,
    rejected: 0,
    rejected_values: 0,
    drift: [],
    counts: {},
    tests: null,
    warnings: [],
    held: [],
    failing: [],
    disk: null,
  };
}

function endStage({ stages }: RunRecord, now: Date): void {
  const stage = stages.at(-1);
  if (stage !== undefined) stage.ended_at ??= now.toISOString();
}

/** Corrects the times of a record, which are `late` milliseconds too late. */
function shiftTimes(record: RunRecord, late: number): void {
  const corrected = (time: string): string => new Date(Date.parse(time) - late).toISOString();
  record.started_at = corrected(record.started_at);
  for (const stage of record.stages) {
    stage.started_at = corrected(stage.started_at);
    if (stage.ended_at !== null) stage.ended_at = corrected(stage.ended_at);
  }
}

/** Adds a pass to a record. Returns what the stage counts of it. */
function countPass(record: RunRecord, pass: LoadedPass): Readonly<Record<string, number>> {
  record.records += pass.record.records;
  record.loaded += pass.loaded;
  record.rejected += pass.rejected;
  record.rejected_values += pass.rejectedValues;
  record.drift.push(...pass.drift.map(({ stream, path, since }) => ({ stream, path, since })));
  if (pass.record.form === null) return {};
  const leftOut = leftOutOf(pass.record);
  return { landed: pass.record.records - leftOut, left_out: leftOut };
}

/** Adds what a run did to the tables. Returns the sums, for the stage. */
function countRows(
  record: RunRecord,
  counts: Readonly<Record<string, TableCounts>>,
): Readonly<Record<string, number>> {
  record.counts = Object.fromEntries(
    Object.entries(counts).map(([table, { inserted, updated, unchanged, gone }]) => [
      table,
      { inserted, updated, unchanged, gone },
    ]),
  );
  const all = Object.values(counts);
  return {
    inserted: sumOf(all, ({ inserted }) => inserted),
    updated: sumOf(all, ({ updated }) => updated),
    gone: sumOf(all, ({ gone }) => gone),
    compared: sumOf(all, ({ compared }) => compared),
    stored: sumOf(all, storedBefore),
  };
}

/** Notes which runs before failed and were not made good. */
function noteFailing(record: RunRecord, before: readonly RunRecord[]): void {
  const failing = unresolvedRuns(before);
  const published = before.findLast(({ outcome }) => outcome === 'published')?.attempt ?? 0;
  record.held = failing
    .filter(({ outcome, attempt }) => outcome === 'held' && attempt > published)
    .map(reasonOf);
  record.failing = failing
    .filter((other) => !standsFor(record.pipeline, other.pipeline))
    .map((other) => `${other.pipeline} of ${other.started_at}: ${reasonOf(other)}`);
}

function countTests(results: readonly TestFailures[]): RunRecord['tests'] {
  const failed = results.filter(({ failures }) => failures > 0);
  return {
    passed: results.length - failed.length,
    failed: failed.map(({ model, test, failures }) => `${model} ${test}: ${failures}`),
  };
}

/** Notes the error that ended a run, which may have published before. */
function noteError(
  record: RunRecord,
  { code, stage, message, hint, outcome }: ReturnType<typeof describeError>,
  isPublished: boolean,
): void {
  record.error = { code, stage, message, hint: hint ?? null };
  record.outcome = isPublished ? 'published' : outcome;
  record.exit_code = exitCodes[outcome];
}

/** The use of the disk; null if the folder is gone or cannot be read, which the run has reported. */
function diskNow(layout: Layout): RunRecord['disk'] {
  try {
    return diskOf(layout);
  } catch {
    return null;
  }
}

/** The rows of `runs` from the run that made the base on, and this run as it is once published; a rebuild has all runs. */
function rowsOf(record: RunRecord, before: readonly RunRecord[], now: Date, since: string | undefined) {
  const published = { outcome: 'published', exit_code: 0, snapshot_id: record.run_id } as const;
  const own: RunRecord = { ...record, ...published, ended_at: now.toISOString() };
  const first = before.find(({ run_id }) => run_id === since)?.attempt ?? 0;
  const earlier = record.pipeline === 'rebuild' ? before : before.filter(({ attempt }) => attempt >= first);
  return [...earlier, own].map(rowOf);
}

/** A record as a row of `runs`. */
function rowOf({ error, disk, limits, settings, stages, requests, counts, drift, ...run }: RunRecord) {
  return {
    ...run,
    ...limits,
    error_code: error?.code ?? null,
    error: error?.message ?? null,
    drifted: drift.length,
    counts: JSON.stringify(counts),
    settings: JSON.stringify(settings),
    stages: JSON.stringify(stages),
    requests: JSON.stringify(requests),
    used_bytes: disk?.used_bytes ?? null,
    free_bytes: disk?.free_bytes ?? null,
  };
}

/**
 * Records a run that ended before it had the lake, and tells the observers. Returns the error to throw.
 * @param run the settings that are known, which may be defaults
 */
export async function recordUnbegun(
  run: Omit<RecorderOptions, 'runId' | 'token'>,
  error: unknown,
  observers: Observers | undefined,
): Promise<unknown> {
  const recorder = openRecorder({ ...run, runId: newId(run.now()) });
  const cause = recorder.fail(error);
  recorder.close();
  await observers?.ended(recorder);
  return cause;
}

const interrupted = (): LotlakeError =>
  new LotlakeError('RUN_INTERRUPTED', 'the run was interrupted', {
    outcome: 'interrupted',
    hint: 'what has landed is kept; run the same command again to go on',
  });
