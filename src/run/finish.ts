import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { killPoint } from '../config/kill-point.js';
import { messageOf } from '../config/lotlake-error.js';
import { dictionary } from '../docs/dictionary.js';
import type { BaseState } from '../lake/base.js';
import { compareFiles, type FileUse } from '../lake/files.js';
import { currentSnapshot } from '../lake/layout.js';
import type { Manifest } from '../lake/manifest.js';
import { removePass } from '../lake/vacuum.js';
import { mendViews } from '../lake/views.js';
import { syncFolders } from '../land/files.js';
import { abandonPass, listPasses, markPublished, passFolder } from '../land/pass.js';
import type { LoadedPass } from '../load/loader.js';
import { assertTests, runDataTests, type TestResult } from '../model/data-tests.js';
import { keepFailedRows } from '../model/failed-rows.js';
import { type ModelResult, runModels } from '../model/run-models.js';
import { sealSnapshot, switchCurrent, syncSnapshot } from '../publish/publish.js';
import { commentViews, inWarehouse, readViews } from '../publish/warehouse.js';
import { ReconcileError, type TableCounts } from '../reconcile/context.js';
import type { ClosingRow } from '../reconcile/own-rows.js';
import { parquetOf } from '../reconcile/write.js';
import { streamNames } from '../service/streams.js';
import { type Balance, balance } from './balance.js';
import { recordFingerprints } from './fingerprints.js';
import type { Job } from './job.js';
import { type Merged, reconcileInto, recordRun } from './merge.js';
import { isNothingNew, recipeOf } from './nothing-new.js';
import { knownOrigin } from './origin.js';
import { passTimes } from './window.js';

/** What a run leaves behind, for the summary. */
export interface RunResult {
  readonly runId: string;
  /** Whether the run published a snapshot; one that brought nothing new leaves the current one, which is told instead. */
  readonly published: boolean;
  readonly snapshotId: string;
  readonly snapshot: string;
  readonly manifest: Manifest;
  readonly passes: readonly LoadedPass[];
  readonly counts: Readonly<Record<string, TableCounts>>;
  readonly balance: Balance;
  readonly lotChanges: number;
  readonly files: FileUse;
  readonly models: readonly ModelResult[];
  readonly tests: readonly TestResult[];
  readonly drift: Job['drift'];
  readonly warnings: readonly string[];
  readonly seconds: number;
}

const resultOf = (
  job: Job,
  rest: Omit<RunResult, 'runId' | 'snapshotId' | 'drift' | 'warnings' | 'seconds'>,
): RunResult => ({
  ...rest,
  runId: job.runId,
  snapshotId: rest.manifest.snapshot_id,
  drift: job.drift,
  warnings: job.warnings,
  seconds: (job.now().getTime() - job.startedAt.getTime()) / 1000,
});

/** The end of every pipeline: reconcile with the last snapshot, model, test, publish. */
export async function reconcileModelPublish(
  job: Job,
  stage: string,
  passes: readonly LoadedPass[],
  closings: readonly ClosingRow[] = [],
): Promise<RunResult> {
  const target = join(job.layout.snapshots, job.runId);
  try {
    job.reporter.step('reconcile', 'merge with the last snapshot');
    killPoint('reconcile.begun');
    const { base } = job;
    settle(job, base);
    if (base !== undefined && (await isNothingNew(job, base, passes, closings)))
      return keepCurrent(job, base, passes);
    const { runId, config } = job;
    const startedAt = job.startedAt.toISOString();
    const { allowShrink } = config;
    const merged = await reconcileInto(
      job,
      { target, stage, base, passes, runId, startedAt, allowShrink },
      closings,
    );
    await recordRun(job, passes, merged);
    const fingerprints = await recordFingerprints(job, merged.context, passes);
    return await modelAndPublish(job, target, passes, merged, fingerprints);
  } catch (error) {
    discard(job, target);
    // A held run does not trust its passes: the next run starts new ones.
    if (error instanceof ReconcileError && error.outcome === 'held') {
      for (const { manifest } of passes)
        abandonPass(job.layout.landing, manifest, `held: ${error.message}`, job.now());
    }
    throw error;
  }
}

/** Ends a run that brought nothing: its passes, which hold no record, go, and the current snapshot stays. */
function keepCurrent(job: Job, { folder, manifest }: BaseState, passes: readonly LoadedPass[]): RunResult {
  job.reporter.step('publish', `nothing is new; ${manifest.snapshot_id} stays current`);
  try {
    for (const pass of passes) removePass(job.layout, passFolder(job.layout.landing, pass.manifest));
  } catch (error) {
    job.reporter.warn(
      `a pass without a record stays in landing, and the next run goes on with it: ${messageOf(error)}`,
    );
  }
  return resultOf(job, {
    ...{ published: false, snapshot: folder, manifest, passes, counts: {}, lotChanges: 0 },
    balance: balance(passes, manifest.tables, {}, manifest.tables, false),
    files: { writtenFiles: 0, writtenBytes: 0, linkedFiles: 0, linkedBytes: 0 },
    ...{ models: [], tests: [] },
  });
}

/** Removes the folder of a snapshot that was not published. */
export function discard(job: Job, target: string): void {
  if (currentSnapshot(job.layout) !== target) rmSync(target, { recursive: true, force: true });
}

/** Marks passes as published that an earlier run left unmarked because it died right after the switch. */
function settle(job: Job, base: BaseState | undefined): void {
  const made = new Set(base?.manifest.pass_ids);
  for (const stream of made.size === 0 ? [] : streamNames) {
    for (const { folder, manifest } of listPasses(job.layout.landing, stream))
      if (made.has(manifest.pass_id) && !manifest.published) markPublished(folder);
  }
}

/**
 * Computes and tests the marts of a new state, and publishes it.
 * @param times starts of the last whole passes that the state holds
 */
export async function modelAndPublish(
  job: Job,
  target: string,
  passes: readonly LoadedPass[],
  merged: Merged,
  fingerprints: Manifest['fingerprints'],
  times = passTimes(merged.context.base, passes),
): Promise<RunResult> {
  const { connection } = job.session;
  const { base } = merged.context;
  job.reporter.step('model', 'marts and data tests');
  killPoint('model.begun');
  const published = currentSnapshot(job.layout);
  if (published !== undefined) await mendViews(connection, job.layout, published);
  // The tables are final. Sync them while the models compute.
  const tables = syncSnapshot(target, published);
  tables.catch(() => undefined);
  const { models, tests } = await job.session.whileWriting(() => modelAndTest(job, target));
  assertTests(
    tests,
    'nothing was published and the last snapshot stays current; lotlake test --kept --show shows the rows',
  );
  const { timesAlone } = job.session;
  if (timesAlone > 0)
    job.reporter.warn(
      `${timesAlone} ${timesAlone === 1 ? 'step' : 'steps'} of merging and modelling did not fit into ${job.config.memory} beside others and ran again alone; more memory (LOTLAKE_MEMORY) spares that`,
    );
  killPoint('model.tested');
  job.reporter.step('publish', job.runId);
  const manifest = await sealSnapshot(
    connection,
    target,
    {
      snapshot_id: job.runId,
      run_id: job.runId,
      pipeline: job.pipeline,
      created_at: job.now().toISOString(),
      origin:
        passes.map((pass) => pass.manifest.origin).find((origin) => origin !== null) ?? knownOrigin(job),
      ...times,
      pass_ids: passes.map(({ manifest: pass }) => pass.pass_id),
      fingerprints,
      recipe: recipeOf(job),
    },
    job.schemas,
    models.map((model) => ({ name: model.name, key: model.key })),
    base,
    job.signal,
  );
  killPoint('publish.sealed');
  const before = base?.manifest.tables ?? {};
  const accounts = balance(passes, before, merged.counts, manifest.tables, job.pipeline === 'rebuild');
  for (const { stream, served, landed } of accounts.streams)
    if (served !== landed)
      job.reporter.warn(`the answers of ${stream} number ${served} records, and ${landed} came in them`);
  const files = compareFiles(target, published);
  await syncSnapshot(target, published, await tables);
  await syncFolders([target, ...foldersAbove(job, target, passes)]);
  await hearSignals(job);
  job.assertOurs();
  // The switch is the end of the run: a later failure only warns.
  switchCurrent(job.layout, target);
  killPoint('publish.switched');
  await syncSwitch(job);
  noteInLanding(job, passes);
  killPoint('job.published');
  const { counts, lotChanges } = merged;
  return resultOf(job, {
    ...{ published: true, snapshot: target, manifest, passes, counts, lotChanges },
    ...{ balance: accounts, files, models, tests },
  });
}

/** Writes the marts into a snapshot and tests them; keeps rows that fail. */
async function modelAndTest(
  job: Job,
  target: string,
): Promise<{ readonly models: ModelResult[]; readonly tests: TestResult[] }> {
  const { connection } = job.session;
  return inWarehouse(job.session, target, async (second) => {
    const { alone } = job.session;
    const beside = [second];
    const parquet = (mart: string): string => parquetOf(mart, { snapshot: job.runId });
    const models = await runModels(connection, { ...job.modelling, target, parquet, beside, alone });
    await describeWarehouse(connection);
    const tests = await runDataTests(connection, job.modelling, beside, alone);
    const run = { run_id: job.runId, pipeline: job.pipeline, started_at: job.startedAt.toISOString() };
    await keepFailedRows(connection, tests, run, job.layout.failedTests);
    return { models, tests };
  });
}

/** Says in the database of a snapshot itself what its tables and columns mean. */
async function describeWarehouse(connection: DuckDBConnection): Promise<void> {
  const views = await readViews(connection);
  const entries = dictionary({ tables: views, marts: views }).filter(({ name }) => name in views);
  await commentViews(connection, entries);
}

/** Ends the run if the user asked for it. Node delivers signals between two turns of the event loop. */
async function hearSignals(job: Job): Promise<void> {
  await setImmediate();
  await setImmediate();
  job.signal?.throwIfAborted();
}

/** Folders that lead to a snapshot and to the passes of its run, up to the one in which the output folder is. */
function foldersAbove({ layout }: Job, target: string, passes: readonly LoadedPass[]): string[] {
  const ofPasses = passes.map(({ manifest: pass }) => passFolder(layout.landing, pass));
  const above = [...ofPasses, ...ofPasses.map(dirname), layout.landing, dirname(target), layout.lake];
  return [...new Set(above), layout.output, dirname(layout.output)].filter(existsSync);
}

/** Syncs the switched link. A failure only warns: the switch is done. */
async function syncSwitch(job: Job): Promise<void> {
  try {
    await syncFolders([job.layout.lake]);
  } catch (error) {
    job.reporter.warn(
      `the snapshot is published, but ${job.layout.lake} cannot be synced, so that a power cut may bring the one before back: ${messageOf(error)}`,
    );
  }
}

/** Marks the passes of a snapshot that is published. Where that fails, the next run makes it good. */
function noteInLanding(job: Job, passes: readonly LoadedPass[]): void {
  try {
    for (const { manifest: pass } of passes) {
      markPublished(passFolder(job.layout.landing, pass));
      killPoint('publish.pass-marked');
    }
  } catch (error) {
    job.reporter.warn(`the snapshot is published, but landing could not be told: ${messageOf(error)}`);
  }
}
