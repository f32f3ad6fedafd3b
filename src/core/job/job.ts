import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Config, InForce } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, remove } from '../../base/config/owned.js';
import { redacted } from '../../base/config/redact.js';
import { openSession, type Session } from '../../base/duck/session.js';
import { type BaseState, findBase, recordedIds } from '../lake/base.js';
import { assertLink } from '../lake/broken-link.js';
import type { IdRecords } from '../lake/field-ids.js';
import { assertMemory, assertSpace } from '../lake/lake-error.js';
import { currentSnapshot, type Layout, layoutOf } from '../lake/layout.js';
import type { Manifest } from '../lake/manifest.js';
import { listPasses, newId } from '../lake/passes/pass.js';
import { readSchemas } from '../lake/rows/schemas.js';
import type { TableSchema } from '../lake/schema.js';
import { type Client, openClient } from '../service/client.js';
import type { Beside, Observers } from './beside.js';
import { assertAfter, openClock, type RunClock } from './clock.js';
import { nextSequence, removeLeftLookups, settlePasses } from './leftovers.js';
import { lockLake } from './lock-lake.js';
import { openRecorder, type Recorder, recordUnbegun } from './recorder.js';
import { freeBytes, LEAST_FREE } from './run-records.js';

/**
 * Threads of DuckDB, one less than cores: a run has statements on two connections, or one beside its own work, and each
 * statement also takes the thread that called it, which spins while others finish.
 */
const THREADS = Math.max(1, availableParallelism() - 1);

/** Receives the progress and the warnings of a job; the CLI shows them. */
export interface Reporter {
  step(name: string, detail?: string): void;
  /**
   * Pages landed so far, and the expected number if known. The first call of a stream reports what an earlier run landed.
   * @param isEstimate whether the expected number comes from the last pass and not from the service
   */
  progress(
    stream: string,
    pages: number,
    expected: number | null,
    records: number,
    bytes: number,
    isEstimate?: boolean,
  ): void;
  /** Parts of a step that are done, such as marts, and the name of the part that began last. */
  part?(name: string, done: number, all: number): void;
  /** A warning; the run goes on. */
  warn(message: string): void;
}

/** What a pipeline needs from outside; tests replace it. */
export interface JobOptions {
  readonly config: Config;
  /** Settings in force and where each came from, for the record of the run. */
  readonly settings?: readonly InForce[];
  readonly reporter: Reporter;
  readonly now?: (() => Date) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Runs after a successful run, once the lake is free: a push. Returns its error if it fails. */
  readonly after?: () => Promise<unknown>;
  /** What stands beside the run; nothing by default. */
  readonly beside?: Beside | undefined;
}

/** A running pipeline: its settings, its folders, its database, and what it tells. Steps take it and do not change it. */
export interface Job extends Pick<JobOptions, 'config' | 'reporter' | 'beside'> {
  /** Aborted if the run is interrupted or loses its lock. */
  readonly signal: AbortSignal;
  readonly pipeline: string;
  readonly runId: string;
  /** Place of the run in the order of the lake; that of its snapshot and of the passes that it uses. */
  readonly sequence: number;
  readonly startedAt: Date;
  readonly layout: Layout;
  readonly session: Session;
  readonly schemas: ReadonlyMap<string, TableSchema>;
  /** Scratch folder of this run, removed at its end. */
  readonly work: string;
  /** Folder with the rows that the run staged, one folder a table. */
  readonly stage: string;
  /** Folder of the snapshot that the run writes. */
  readonly target: string;
  /** The snapshot that the run builds on; undefined if nothing was published. */
  readonly base: BaseState | undefined;
  /** Ids of columns that were given before; undefined in a new lake. */
  readonly recorded: IdRecords | undefined;
  /** Throws LAKE_OVERTAKEN if another run has taken the lake over. */
  assertOurs(): void;
  /** Makes the record of the run. */
  readonly recorder: Recorder;
  readonly clock: RunClock;
  /** This moment by the clock of the service, once an answer has told it; see {@link openClock}. */
  now(): Date;
  /** The client of the service, opened at the first call. Throws LAKE_ORIGIN. */
  client(): Client;
}

/**
 * Runs a pipeline under the lock of its output folder and always cleans up after it. Throws LAKE_LOCKED, LAKE_OVERTAKEN,
 * LAKE_DISK_FULL, LAKE_OUT_OF_MEMORY, RUN_CLOCK, and the errors of the stages.
 */
export async function runJob<T extends { readonly published: boolean }>(
  pipeline: string,
  options: JobOptions,
  work: (job: Job) => Promise<T>,
): Promise<T> {
  const observers = await options.beside?.observe(options);
  const run = await lockedRun(pipeline, options, observers);
  const { recorder, lock } = run;
  try {
    return await inScratch(run, () =>
      recorded(run, () => {
        observers?.begun(recorder);
        return withSession(run, (session) => withClient(run, session, work));
      }),
    );
  } finally {
    // The scratch space is free again, so the record fits on a disk that was full.
    recorder.close();
    lock.release();
    const error = recorder.record.exit_code === 0 ? await options.after?.() : undefined;
    if (error !== undefined) {
      recorder.fail(error);
      recorder.close();
    }
    await observers?.ended(recorder);
  }
}

/** A run that holds its lake. */
type Run = Awaited<ReturnType<typeof lockedRun>>;

/** Takes the lake and opens the record of the run. A run that cannot take it is recorded, too. */
async function lockedRun(pipeline: string, options: JobOptions, observers: Observers | undefined) {
  const { config } = options;
  const clock = openClock(options.now ?? (() => new Date()), config);
  const { now } = clock;
  const layout = layoutOf(config.output);
  const lost = new AbortController();
  const lock = await lockLake(layout, {
    pipeline,
    now: new Date(),
    lease: config.lease,
    signal: options.signal,
    onWait: options.reporter.warn,
    onLost: () => lost.abort(overtaken(layout)),
  }).catch(async (error: unknown) => {
    throw await recordUnbegun({ ...options, now, pipeline }, error, observers);
  });
  killPoint('job.locked');
  const runId = newId(now());
  const recorder = openRecorder({ ...options, now, pipeline, runId, token: lock.token, lakeId: lock.lakeId });
  clock.whenKnown((_, late) => recorder.shift(late));
  return {
    options,
    pipeline,
    runId,
    sequence: nextSequence(layout),
    layout,
    clock,
    lock,
    lost: lost.signal,
    signal: options.signal === undefined ? lost.signal : AbortSignal.any([options.signal, lost.signal]),
    recorder,
    began: currentSnapshot(layout),
    work: join(layout.work, runId),
    target: join(layout.snapshots, runId),
  };
}

/** Runs work, and removes the scratch folder. */
async function inScratch<T>({ lock, layout, work: folder }: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    // If another run holds the lake now, the shared scratch folder belongs to it. An interrupted statement may still
    // write here for a moment.
    remove(lock.isHeld() ? layout.work : folder);
  }
}

/** Runs work, and records how it ended. Removes a snapshot that was not published. */
async function recorded<T extends { readonly published: boolean }>(
  { recorder, lost, layout, target }: Run,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    recorder.succeed(result.published);
    return result;
  } catch (error) {
    const cause = recorder.fail(lost.aborted ? lost.reason : error);
    if (currentSnapshot(layout) !== target) remove(target);
    throw cause;
  }
}

/** Runs work with the database of the run, in a new scratch folder. */
async function withSession<T>(run: Run, work: (session: Session) => Promise<T>): Promise<T> {
  const { layout, options, signal } = run;
  const { output, memory, threads = THREADS } = options.config;
  assertMemory(memory);
  assertSpace(output, freeBytes(layout), LEAST_FREE);
  remove(layout.work);
  makeFolder(run.work);
  const session = await openSession({ memory, threads, temp: join(run.work, 'spill') });
  try {
    session.interruptOn(signal);
    return await work(session);
  } finally {
    session.close();
  }
}

/** Runs the pipeline, with a client of the service if it asks for one. */
async function withClient<T>(run: Run, session: Session, work: (job: Job) => Promise<T>): Promise<T> {
  let client: Client | undefined;
  try {
    const job = await jobOf(run, session, () => {
      client ??= clientOf(run, job);
      return client;
    });
    return await work(job);
  } finally {
    // Not awaited, because a client that hangs must not keep the lock.
    void client?.close().catch(() => undefined);
  }
}

/** What the steps of a run get. Settles what earlier runs left. */
async function jobOf(run: Run, session: Session, client: () => Client): Promise<Job> {
  const { pipeline, layout, clock, recorder, lock, began, options } = run;
  const { now } = clock;
  const reporter = recording(run);
  const schemas = await readSchemas(session);
  const base = baseOf(pipeline, layout, reporter);
  if (base !== undefined && !options.config.allowSkew)
    clock.whenKnown(() => assertAfter(base.manifest.created_at, now()));
  settlePasses(layout, base);
  removeLeftLookups(layout);
  return {
    pipeline,
    runId: run.runId,
    sequence: run.sequence,
    layout,
    clock,
    signal: run.signal,
    recorder,
    work: run.work,
    target: run.target,
    config: options.config,
    beside: options.beside,
    reporter,
    get startedAt() {
      return new Date(recorder.record.started_at);
    },
    session,
    schemas,
    stage: join(run.work, 'stage'),
    base,
    recorded: recordedIds(layout, base),
    assertOurs: () => {
      if (!lock.isHeld() || currentSnapshot(layout) !== began) throw overtaken(layout);
    },
    now,
    client,
  };
}

/** A reporter whose steps, progress and warnings the record of the run gets, too. */
function recording({ options: { reporter }, signal, recorder }: Run): Reporter {
  return {
    ...reporter,
    // An interrupted run ends at its next step.
    step: (...given) => {
      signal.throwIfAborted();
      reporter.step(...given);
      recorder.step(...given);
    },
    progress: (...given) => {
      reporter.progress(...given);
      const [, pages, , records, bytes] = given;
      recorder.progress({ pages, records, bytes });
    },
    warn: (given) => {
      const message = redacted(given);
      recorder.warned(message);
      reporter.warn(message);
    },
  };
}

/** Opens the client of the service. Its answers tell the time, and the record counts them. */
function clientOf({ options, recorder, clock }: Run, job: Job): Client {
  const { config, reporter } = job;
  assertOrigin(job);
  options.reporter.step('service', String(config.baseUrl));
  return openClient(config, {
    onAnswer: (status, headers) => {
      recorder.answered(status);
      if (headers !== undefined) clock.hear(headers, reporter.warn);
    },
    onRetry: (error, attempt, wait) => {
      recorder.retried();
      // The first of a row says how long that goes on.
      const until = attempt > 1 ? '' : `; asks again for up to ${config.retryBudget} s (retryBudget)`;
      reporter.warn(
        `attempt ${attempt} failed, next in ${(wait / 1000).toFixed(1)} s: ${error.message}${until}`,
      );
    },
  });
}

/** The snapshot that a run builds on. A rebuild needs none, since it repairs a lake with damaged snapshots. */
function baseOf(pipeline: string, layout: Layout, { warn }: Reporter): BaseState | undefined {
  assertLink(layout);
  const isRebuild = pipeline === 'rebuild';
  try {
    return findBase(layout, isRebuild ? () => undefined : warn);
  } catch (error) {
    if (!isRebuild || !(error instanceof LotlakeError) || error.code !== 'LAKE_UNSOUND') throw error;
    return undefined;
  }
}

function overtaken({ output }: Layout): LotlakeError {
  return new LotlakeError(
    'LAKE_OVERTAKEN',
    `another run has taken ${output} over while this one stood still`,
    {
      hint: 'nothing of this run was published; the pages that it landed stay for the next one',
    },
  );
}

/** What decides whether a service may be asked for a lake. */
interface Asking extends Pick<Job, 'layout' | 'config'> {
  readonly base: { readonly manifest: Pick<Manifest, 'origin'> } | undefined;
}

/** The service of the lake in an output folder, or else of its landing; null if neither names one. */
export function knownOrigin({ base, layout }: Pick<Asking, 'base' | 'layout'>): string | null {
  if (base !== undefined && base.manifest.origin !== null) return base.manifest.origin;
  const passes = listPasses(layout.landing);
  const landed = passes.filter(({ record }) => record.state !== 'abandoned' && record.origin !== null);
  return landed[0]?.record.origin ?? null;
}

/**
 * Throws LAKE_ORIGIN if a run would request another service than the one of the lake: the records of that service would be
 * merged into the lake, and the records of the lake archived as absent.
 */
export function assertOrigin(job: Asking): void {
  const { origin } = job.config;
  const known = knownOrigin(job);
  if (origin === undefined || known === null || known === origin) return;
  const isUrl = [known, origin].every((name) => URL.canParse(name));
  const moved = isUrl ? `; if it is the same service under a new address, set LOTLAKE_ORIGIN=${known}` : '';
  throw new LotlakeError(
    'LAKE_ORIGIN',
    `${job.config.output} holds the lake of ${known}, and this run asks ${origin}`,
    {
      outcome: 'usage',
      hint: `nothing was asked and nothing was changed; name another folder with --output or LOTLAKE_OUTPUT${moved}`,
    },
  );
}
