import { existsSync, readdirSync, readFileSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { exitCodes } from '../../base/config/lotlake-error.js';
import { isLink, makeFolder, replaceFile } from '../../base/config/owned.js';
import { diskUse } from '../lake/files.js';
import { ID } from '../lake/ids.js';
import { currentId, type Layout } from '../lake/layout.js';
import { holderAtWork } from './lock.js';

/** Instants are texts in ISO 8601 (UTC), sizes are bytes. */
const runRecord = z.object({
  run_id: z.string().regex(ID),
  /** Counts the attempts on an output folder: a clock that is set back does not change their order. */
  attempt: z.int(),
  pipeline: z.string(),
  /** Version of lotlake. */
  version: z.string(),
  /** The lake that it worked on; null if it did not get the lock,. */
  lake_id: z.string().nullable(),
  /** Service that the run requests; null if it requests none. */
  origin: z.string().nullable(),
  outcome: z.enum([
    ...(['running', 'published', 'nothing_new', 'killed'] as const),
    // What an error makes of a run; see Outcome.
    ...(['held', 'failed', 'refused', 'unavailable', 'locked', 'usage', 'interrupted'] as const),
  ]),
  /** Null while the run is at work, and for one that was killed. */
  exit_code: z.int().nullable(),
  error: z
    .object({ code: z.string(), stage: z.string(), message: z.string(), hint: z.string().nullable() })
    .nullable(),
  /** Snapshot that the run published. */
  snapshot_id: z.string().regex(ID).nullable(),
  started_at: z.string(),
  /** When the record was last written. */
  updated_at: z.string(),
  /** Null while the run is at work. For a killed run, the time at which its record was last written. */
  ended_at: z.string().nullable(),
  /** Whether a later run has noted the end of one that was killed. */
  is_settled: z.boolean().optional(),
  process: z.object({ pid: z.int(), host: z.string(), token: z.string() }),
  /** Settings in force, and the place that each came from; without secrets. */
  settings: z.array(z.object({ name: z.string(), value: z.unknown(), from: z.string() })),
  /** Settings that the marts are computed with, by the names of their columns in \`runs\`. */
  limits: z.object({
    minimum_group: z.number(),
    relisting_days: z.number(),
    reject_alarm: z.number(),
    estimate_alarm: z.number(),
  }),
  stages: z.array(
    z.object({
      name: z.string(),
      detail: z.string().nullable(),
      started_at: z.string(),
      ended_at: z.string().nullable(),
      /** Such as pages, records and bytes. */
      counts: z.record(z.string(), z.number()),
    }),
  ),
  /** Requests by the status of their answer; `failed` had none. */
  requests: z.record(z.string(), z.int()),
  /** Requests that were sent again. */
  retries: z.int(),
  records: z.int(),
  loaded: z.int(),
  rejected: z.int(),
  rejected_values: z.int(),
  /** Members that the contract does not know, and the run that first reported each; null for this run. */
  drift: z.array(z.object({ stream: z.string(), path: z.string(), since: z.string().nullable() })),
  /** Rows inserted, updated, unchanged and gone, by table. */
  counts: z.record(z.string(), z.record(z.string(), z.number())),
  tests: z.object({ passed: z.int(), failed: z.array(z.string()) }).nullable(),
  warnings: z.array(z.string()),
  /** Reasons of runs that were held since the last one that published. */
  held: z.array(z.string()),
  /** Runs of other pipelines that were held, failed or killed, if no later run of their pipeline has published. */
  failing: z.array(z.string()),
  /** The whole output folder at the end of the run, and the free space of its disk; null if not known. */
  disk: z.object({ used_bytes: z.number(), free_bytes: z.number() }).nullable(),
});

/** `run.json`: one attempt to run a pipeline, whatever came of it. */
export type RunRecord = z.output<typeof runRecord>;

/** Days for which vacuum keeps the records of runs; the table `runs` keeps all that were there when a run published. */
export const KEPT_DAYS = 400;

const pathOf = (layout: Layout, runId: string): string => join(layout.runs, runId, 'run.json');

/** Writes a record. A reader finds the whole earlier one or the whole new one. */
export function writeRun(layout: Layout, record: RunRecord): void {
  const path = pathOf(layout, record.run_id);
  makeFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(record, null, 1)}\n`);
}

/**
 * The records of all runs in the order in which they began. A running one whose process no longer has the lock was killed,
 * maybe after it had published. A file that is not a valid record is left out.
 */
export function readRuns(layout: Layout): RunRecord[] {
  const token = holderAtWork(layout.lock)?.holder.token;
  const isGone = ({ outcome, process }: RunRecord): boolean =>
    outcome === 'running' && process.token !== token;
  return storedRuns(layout)
    .map((run) => (isGone(run) ? ended(layout, run) : run))
    .sort((a, b) => a.attempt - b.attempt || (a.run_id < b.run_id ? -1 : 1));
}

/**
 * Writes the ends that {@link readRuns} found for killed runs, while the lake is still as they left it. Returns the runs whose
 * end was not written before.
 */
export function settleKilled(layout: Layout, runs: readonly RunRecord[]): RunRecord[] {
  const killed = runs.filter((run) => run.exit_code === null && run.ended_at !== null && !run.is_settled);
  for (const run of killed) writeRun(layout, { ...run, is_settled: true });
  return killed;
}

/** The folders of `runs` with what each holds: its record, or why that is none. */
function runFolders(layout: Layout): { readonly folder: string; readonly run: RunRecord | string }[] {
  const names = existsSync(layout.runs) ? readdirSync(layout.runs) : [];
  return names.flatMap((name) => {
    const path = pathOf(layout, name);
    if (!existsSync(path)) return [];
    const folder = dirname(path);
    if (isLink(layout.runs) || isLink(folder) || isLink(path)) return { folder, run: 'it is a link' };
    const run = runRecord.safeParse(jsonIn(readFileSync(path, 'utf8'))).data;
    // A record decides by its id what is written and removed.
    const found =
      run === undefined ? 'its run.json is no record of a run' : `its record is that of ${run.run_id}`;
    return { folder, run: run?.run_id === name ? run : found };
  });
}

const storedRuns = (layout: Layout): RunRecord[] =>
  runFolders(layout).flatMap(({ run }) => (typeof run === 'string' ? [] : run));

/** Folders of `runs` that no run left as they are, such as a renamed one. They count as no run. */
export const strangeRuns = (layout: Layout): { readonly folder: string; readonly reason: string }[] =>
  runFolders(layout).flatMap(({ folder, run }) => (typeof run === 'string' ? { folder, reason: run } : []));

/** The record of a run whose process is gone. Only the holder of the lock publishes, so `current` shows if the run did. */
function ended(layout: Layout, run: RunRecord): RunRecord {
  const over = { ...run, ended_at: run.updated_at };
  if (currentId(layout) === run.run_id) return { ...over, outcome: 'published', snapshot_id: run.run_id };
  return {
    ...over,
    outcome: 'killed',
    error: {
      code: 'RUN_KILLED',
      stage: run.stages.at(-1)?.name ?? 'run',
      message: `process ${run.process.pid} on ${run.process.host} ended before the run did: it was killed, or the machine went down`,
      hint: 'the last snapshot stays current and what has landed is kept; the next run goes on',
    },
  };
}

/** Outcomes after which a run of the pipeline has to publish before all is well. */
const FAILURES: ReadonlySet<string> = new Set(['held', 'failed', 'refused', 'unavailable', 'killed']);

/** Outcomes that raise no alarm. */
const GOOD: ReadonlySet<string> = new Set(['published', 'nothing_new', 'running']);

/** Pipelines that a schedule starts. Nobody sees how one of their runs ends, so every end without a snapshot is a failure. */
const SCHEDULED: ReadonlySet<string> = new Set(['nightly', 'incremental']);

/** Whether a run of one pipeline brings all that a run of another one would have brought. */
export const standsFor = (pipeline: string, other: string): boolean =>
  pipeline === other || (pipeline === 'nightly' && other === 'incremental');

/**
 * Runs that were held, failed or were killed, oldest first, unless a later run that {@link standsFor} them published. Runs
 * of the nightly and of the incremental also count after wrong usage, an interrupt and a locked lake, unless the run that
 * had the lake stands for them. Somebody started the runs of other pipelines, and caused such an end.
 */
export function unresolvedRuns(runs: readonly RunRecord[]): RunRecord[] {
  const lastPublished = (of: string): number =>
    runs.findLast(({ outcome, pipeline }) => outcome === 'published' && standsFor(pipeline, of))?.attempt ??
    0;
  const pipelines = new Set(runs.map(({ pipeline }) => pipeline));
  const last = new Map([...pipelines].map((pipeline) => [pipeline, lastPublished(pipeline)]));
  const isBehind = (locked: RunRecord): boolean =>
    runs.some(
      ({ outcome, pipeline, started_at, ended_at }) =>
        outcome !== 'locked' &&
        standsFor(pipeline, locked.pipeline) &&
        started_at <= locked.started_at &&
        (ended_at ?? locked.started_at) >= locked.started_at,
    );
  return runs.filter((run) => {
    const { outcome, pipeline, attempt, error, exit_code } = run;
    const published = last.get(pipeline) ?? 0;
    // A push after the last published run may have failed.
    if (outcome === 'published')
      return attempt === published && error !== null && exit_code !== exitCodes.interrupted;
    if (attempt < published || (outcome === 'locked' && isBehind(run))) return false;
    return SCHEDULED.has(pipeline) ? !GOOD.has(outcome) : FAILURES.has(outcome);
  });
}

type Ended = {
  readonly outcome: string;
  readonly error: Pick<NonNullable<RunRecord['error']>, 'code' | 'message'> | null;
};

/** Why a run did not publish, as its error says. */
export const reasonOf = ({ outcome, error }: Ended): string =>
  error === null ? outcome : `${error.code}: ${error.message}`;

/** Bytes that an output folder takes, files with several names once, and those that its disk has left. */
export function diskOf(layout: Layout): NonNullable<RunRecord['disk']> {
  return { used_bytes: diskUse(realpathSync(layout.output)), free_bytes: freeIn(layout) };
}

function freeIn({ output }: Layout): number {
  const { bavail, bsize } = statfsSync(output);
  return bavail * bsize;
}

/** Bytes without which no run can begin, however little a night adds. */
export const LEAST_FREE = 16e6;

/** Bytes that the disk of an output folder has left; null if the folder cannot be read. */
export function freeBytes(layout: Layout): number | null {
  try {
    return freeIn(layout);
  } catch {
    return null;
  }
}

/** Nights over which growth is measured. */
const NIGHTS = 14;

/** Days with a published nightly that tell how fast a lake grows. */
const FEWEST_DAYS = 3;

/** Bytes by which the output folder grew a night, by the last nightly of each day that published; null for fewer than three days. */
export function growthOf(runs: readonly RunRecord[]): number | null {
  const nights = runs.filter(({ pipeline, outcome }) => pipeline === 'nightly' && outcome === 'published');
  const ofDays = new Map(nights.map(({ started_at, disk }) => [started_at.slice(0, 10), disk?.used_bytes]));
  const sizes = [...ofDays.values()].flatMap((bytes) => bytes ?? []).slice(-NIGHTS - 1);
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (sizes.length < FEWEST_DAYS || first === undefined || last === undefined) return null;
  return (last - first) / (sizes.length - 1);
}

/** Folders of records that a vacuum removes. */
export function oldRuns(layout: Layout): string[] {
  // By the clock of the disk, because the clock of a sandbox may be years behind.
  return storedRuns(layout)
    .map(({ run_id }) => pathOf(layout, run_id))
    .filter((path) => Date.now() - statSync(path).mtimeMs > KEPT_DAYS * 86_400_000)
    .map(dirname);
}
