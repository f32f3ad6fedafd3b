import { hostname } from 'node:os';
import type { Config, InForce } from '../config/config.js';
import { exitCodes, LotlakeError, messageOf } from '../config/lotlake-error.js';
import { version } from '../config/package-root.js';
import { currentId, type Layout } from '../lake/layout.js';
import { diskOf, type RunRecord, readRuns, settleKilled, writeRun } from '../lake/run-records.js';
import type { TestFailures } from '../model/data-tests.js';
import { describeError } from './describe-error.js';

/** Milliseconds between two records of the progress of a stage. */
const INTERVAL = 10_000;

/** What a record begins with. */
interface Attempt {
  readonly layout: Layout;
  readonly runId: string;
  readonly pipeline: string;
  readonly config: Config;
  readonly settings: readonly InForce[];
  /** Token of the lock; undefined for a run that did not get it. */
  readonly token?: string;
  readonly now: () => Date;
  /** Told once if the record cannot be written. The run goes on. */
  readonly warn: (message: string) => void;
}

/** Keeps the record of a run on disk up to date while it runs. */
export type Recorder = Readonly<ReturnType<typeof openRecorder>>;

/** Opens the record of a run. With the lock, it also closes the records of runs that were killed. */
export function openRecorder({ layout, runId, pipeline, config, settings, token, now, warn }: Attempt) {
  let isLost = false;
  /** Reads or writes records, or does without them. */
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!isLost) warn(`lotlake runs and status will not know all of this run: ${messageOf(error)}`);
      isLost = true;
      return undefined;
    }
  };
  const before = attempt(() => readRuns(layout)) ?? [];
  const killed = token === undefined ? [] : (attempt(() => settleKilled(layout, before)) ?? []);
  const began = now().toISOString();
  const record: RunRecord = {
    ...{ run_id: runId, attempt: 1 + (before.at(-1)?.attempt ?? 0), pipeline, version },
    ...{ origin: config.origin ?? null, outcome: 'running', exit_code: null, error: null, snapshot_id: null },
    ...{ started_at: began, updated_at: began, ended_at: null },
    process: { pid: process.pid, host: hostname(), token: token ?? '' },
    settings: [...settings],
    limits: {
      minimum_group: config.minimumGroup,
      relisting_days: config.relistingDays,
      reject_alarm: config.rejectAlarm,
      estimate_alarm: config.estimateAlarm,
    },
    ...{ stages: [], requests: {}, retries: 0, records: 0, loaded: 0, rejected: 0, rejected_values: 0 },
    ...{ drift: [], counts: {}, tests: null, warnings: [], held: [], failing: [], disk: null },
  };
  let written = Number.NEGATIVE_INFINITY;
  const write = (): void => {
    written = performance.now();
    record.updated_at = now().toISOString();
    attempt(() => writeRun(layout, record));
  };
  const endStage = (): void => {
    const stage = record.stages.at(-1);
    if (stage !== undefined) stage.ended_at ??= now().toISOString();
  };
  if (token !== undefined) write();
  return {
    record,
    /** Runs that began before, oldest first. */
    before,
    /** Those of them whose end nobody has told, since they were killed. */
    killed,
    /** What the data tests found. */
    tests: [] as TestFailures[],
    /** Begins a stage and ends the one before. */
    step(name: string, detail: string | null = null): void {
      endStage();
      record.stages.push({ name, detail, started_at: now().toISOString(), ended_at: null, counts: {} });
      write();
    },
    /** Notes how far the stage is. */
    progress(counts: Readonly<Record<string, number>>): void {
      Object.assign(record.stages.at(-1)?.counts ?? {}, counts);
      if (performance.now() - written > INTERVAL) write();
    },
    /** Notes the answer to a request by its status; `failed` for none. */
    answered(status: number | 'failed'): void {
      record.requests[status] = (record.requests[status] ?? 0) + 1;
    },
    /** Notes that the run ended as it should. */
    succeed(isPublished: boolean): void {
      record.outcome = isPublished ? 'published' : 'nothing_new';
      record.exit_code = 0;
    },
    /** Notes the error that ended the run; it may have come after the snapshot was published. */
    fail(cause: unknown, isInterrupted: boolean): void {
      const { code, stage, message, hint, outcome } = isInterrupted ? interrupted() : describeError(cause);
      record.error = { code, stage, message, hint: hint ?? null };
      record.outcome = currentId(layout) === runId ? 'published' : outcome;
      record.exit_code = exitCodes[outcome];
    },
    /** Ends the record; again after what came later than the end of the run. */
    close(): void {
      endStage();
      record.ended_at = now().toISOString();
      if (record.outcome === 'published') record.snapshot_id = runId;
      try {
        record.disk = diskOf(layout);
      } catch {
        // The folder is gone, or cannot be read; the run has said so.
      }
      write();
    },
  };
}

const interrupted = (): LotlakeError =>
  new LotlakeError('RUN_INTERRUPTED', 'the run was interrupted', {
    outcome: 'interrupted',
    hint: 'what has landed is kept; run the same command again to go on',
  });
