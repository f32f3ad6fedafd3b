import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { killPoint } from '../config/kill-point.js';
import { LotlakeError, messageOf } from '../config/lotlake-error.js';
import { dictionary } from '../docs/dictionary.js';
import { writeLocalMetadata } from '../iceberg/local.js';
import type { BaseState } from '../lake/base.js';
import { giveIds, recordIn } from '../lake/field-ids.js';
import { compareFiles } from '../lake/files.js';
import { currentSnapshot } from '../lake/layout.js';
import { removePass } from '../lake/leftovers.js';
import { allTables, type Manifest } from '../lake/manifest.js';
import { findPublished } from '../lake/snapshots.js';
import { mendViews } from '../lake/views.js';
import { syncFolders } from '../land/files.js';
import { changePass, endPass } from '../land/pass.js';
import { assertTests, isTestedNightly, runDataTests } from '../model/data-tests.js';
import { keepFailedRows } from '../model/failed-rows.js';
import { type Model, readModels } from '../model/model-files.js';
import { type RunModelsOptions, runModels } from '../model/run-models.js';
import { describeSnapshot, sealSnapshot, switchCurrent, syncSnapshot } from '../publish/publish.js';
import { commentViews, inWarehouse } from '../publish/warehouse.js';
import { count, counted, sumOf } from '../query/printable.js';
import type { ClosingRow } from '../reconcile/own-rows.js';
import { copyOptions } from '../reconcile/write.js';
import { setFutureAside } from './find-pass.js';
import { recordFingerprints } from './fingerprints.js';
import { type Job, knownOrigin } from './job.js';
import { balance, type Merged, reconcileInto, recordRun } from './merge.js';
import { isNothingNew, recipeOf } from './nothing-new.js';
import { runOwnModels } from './own-models.js';
import { passTimes } from './window.js';

/**
 * The result of a run, for the summary. If the run brought nothing new, `published` is false, and the result describes the
 * current snapshot.
 */
export type RunResult = Readonly<Awaited<ReturnType<typeof modelAndPublish>>>;

/** Adds the facts of the run to what it did to the lake. */
const resultOf = <T>({ runId, drift, recorder, now, startedAt }: Job, manifest: Manifest, made: T) => ({
  ...made,
  manifest,
  runId,
  snapshotId: manifest.snapshot_id,
  drift,
  warnings: recorder.record.warnings,
  seconds: (now().getTime() - startedAt.getTime()) / 1000,
});

/** The end of every pipeline but rebuild: reconcile with the last snapshot, model, test, publish. */
export async function reconcileModelPublish(
  job: Job,
  closings: readonly ClosingRow[] = [],
): Promise<RunResult> {
  try {
    job.reporter.step('reconcile', 'with the last snapshot');
    killPoint('reconcile.begun');
    const { base, target, runId } = job;
    assertKnown(job);
    assertReadable(job);
    setFutureAside(job);
    if (base !== undefined && (await isNothingNew(job, base, closings))) return await keepCurrent(job, base);
    const startedAt = job.startedAt.toISOString();
    const given = { target, base, runId, startedAt, allowShrink: job.config.allowShrink };
    const merged = await reconcileInto(job, given, closings);
    await recordRun(job, merged);
    const fingerprints = await recordFingerprints(merged.context);
    return await modelAndPublish(job, merged, fingerprints);
  } catch (error) {
    // The passes of a held run cannot be trusted, so the next run starts new ones. Passes with unknown members can be.
    if (
      error instanceof LotlakeError &&
      error.stage === 'reconcile' &&
      error.outcome === 'held' &&
      error.code !== 'RECONCILE_DRIFT'
    ) {
      const end = { state: 'abandoned', reason: `held: ${error.message}`, complete: false } as const;
      for (const pass of job.passes) endPass(pass, end, job.now());
    }
    throw error;
  }
}

/** Holds a run that brings unknown members which no earlier run reported, if the configuration asks for that. */
function assertKnown({ config, drift }: Job): void {
  const fresh = drift.filter(({ since }) => since === null);
  if (config.onDrift === 'report' || fresh.length === 0) return;
  throw new LotlakeError(
    'RECONCILE_DRIFT',
    `the service sends ${counted(fresh.length, 'member')} that lotlake does not know: ${fresh.map(({ stream, path }) => `${path} of ${stream}`).join(', ')}`,
    {
      outcome: 'held',
      hint: 'the last snapshot stays current and the pages stay in landing; to take the members into the column extra, run again with LOTLAKE_ON_DRIFT=report',
    },
  );
}

/** Fewer rejected records hold no run: a short list may have a few that are broken. */
const LEAST_REJECTED = 20;

/** Holds a run that could not read a large share of the records of a list: the lake would publish what little is left. */
function assertReadable({ config, passes }: Job): void {
  const unread = passes.filter(
    ({ rejected, records }) => rejected >= LEAST_REJECTED && rejected > config.rejectGuard * records,
  );
  if (unread.length === 0) return;
  const shares = unread.map(
    ({ manifest, rejected, records }) =>
      `${count(rejected)} of ${count(records)} records of ${manifest.stream}`,
  );
  throw new LotlakeError('RECONCILE_REJECTS', `${shares.join(', ')} cannot be read and were rejected whole`, {
    outcome: 'held',
    hint: `the last snapshot stays current and the pages stay in ${passes[0]?.folder}; lotlake doctor shows what the service sends; to publish without these records, run again with LOTLAKE_REJECT_GUARD=1`,
  });
}

/** Ends a run that brought nothing new: removes its passes, which have no record, and keeps the current snapshot. */
async function keepCurrent(job: Job, { folder, manifest }: BaseState): Promise<RunResult> {
  const { passes } = job;
  job.reporter.step('keep', `nothing is new; ${manifest.snapshot_id} stays current`);
  await writeIceberg(job, { folder, manifest });
  await orWarn(job, 'a pass without a record stays in landing, and the next run goes on with it', () => {
    for (const { folder: landed } of passes) removePass(landed);
  });
  return resultOf(job, manifest, {
    ...{ published: false, snapshot: folder, passes, counts: {}, lotChanges: 0 },
    balance: balance(job, {}, manifest.tables),
    files: { writtenFiles: 0, writtenBytes: 0, linkedFiles: 0, linkedBytes: 0 },
    ...{ models: [], tests: [] },
  });
}

/** Does work that the run does not depend on. If it fails, the run warns and goes on. */
async function orWarn({ reporter }: Job, warning: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    reporter.warn(`${warning}: ${messageOf(error)}`);
  }
}

/**
 * Computes and tests the marts of a new state, and publishes it.
 * @param times starts of the last whole passes in the state
 */
export async function modelAndPublish(
  job: Job,
  merged: Merged,
  fingerprints: Manifest['fingerprints'],
  times = passTimes(merged.context.base, job.passes),
) {
  const { target, passes } = job;
  const { connection } = job.session;
  const { base } = merged.context;
  job.reporter.step('model', 'marts and data tests');
  killPoint('model.begun');
  const published = currentSnapshot(job.layout);
  if (published !== undefined) await mendViews(connection, job.layout, published);
  // The tables are final, so they are synced while the models compute.
  const tables = syncSnapshot(target, published);
  tables.catch(() => undefined);
  const { models, tests, own, described } = await job.session.whileWriting(() => modelAndTest(job));
  const failed = tests.filter(({ failures }) => failures > 0);
  job.recorder.tests.push(...tests);
  job.recorder.record.tests = {
    passed: tests.length - failed.length,
    failed: failed.map(({ model, test, failures }) => `${model} ${test}: ${failures}`),
  };
  job.recorder.progress({ marts: models.length, rows: sumOf(models, ({ rows }) => rows) });
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
  const manifest = {
    snapshot_id: job.runId,
    run_id: job.runId,
    pipeline: job.pipeline,
    created_at: job.now().toISOString(),
    origin: passes.find(({ manifest }) => manifest.origin !== null)?.manifest.origin ?? knownOrigin(job),
    last_pass_at: times,
    pass_ids: passes.map(({ manifest: pass }) => pass.pass_id),
    fingerprints,
    recipe: recipeOf(job),
    own,
    ...described,
  };
  await sealSnapshot(target, manifest, base, job.signal);
  killPoint('publish.sealed');
  const accounts = balance(job, merged.counts, manifest.tables);
  for (const { stream, served, landed } of accounts.streams)
    if (served !== landed)
      job.reporter.warn(`the answers of ${stream} number ${served} records, and ${landed} came in them`);
  const files = compareFiles(target, published);
  job.recorder.progress({
    files: files.writtenFiles,
    bytes: files.writtenBytes,
    linked_files: files.linkedFiles,
  });
  await writeIceberg(job, { folder: target, manifest });
  await syncSnapshot(target, published, await tables);
  await syncFolders([target, ...foldersAbove(job)]);
  // Node delivers signals between two turns of the event loop.
  await setImmediate();
  await setImmediate();
  job.signal.throwIfAborted();
  job.assertOurs();
  // The switch is the end of the run: a later failure only warns.
  switchCurrent(job.layout, target);
  killPoint('publish.switched');
  await orWarn(
    job,
    `the snapshot is published, but ${job.layout.lake} cannot be synced, so that a power cut may bring the one before back`,
    () => syncFolders([job.layout.lake]),
  );
  // If that fails, the next run marks them.
  await orWarn(job, 'the snapshot is published, but landing could not be told', () => {
    for (const { folder } of passes) {
      changePass(folder, { published: true });
      killPoint('publish.pass-marked');
    }
  });
  killPoint('job.published');
  const { counts, lotChanges } = merged;
  return resultOf(job, manifest, {
    ...{ published: true, snapshot: target, passes, counts, lotChanges },
    ...{ balance: accounts, files, models, tests },
  });
}

/**
 * Writes Iceberg metadata for a snapshot and the kept ones that were current before it, if the configuration asks for that.
 * A snapshot is sound without metadata, so a failure only warns.
 */
async function writeIceberg(job: Job, last: BaseState): Promise<void> {
  const { config, layout } = job;
  const { connection } = job.session;
  if (!config.iceberg) return;
  await orWarn(
    job,
    'Iceberg metadata could not be written; the data files are sound, and the next run writes it again',
    async () => {
      const { kept } = await findPublished(connection, layout);
      const before = kept.filter(({ id }) => id !== last.manifest.snapshot_id);
      await writeLocalMetadata(connection, [...before, last], dictionary(last.manifest));
    },
  );
}

/** Earlier names of the columns of a model by their names. */
const earlierNames = ({ columns }: Model) =>
  Object.fromEntries(Object.entries(columns).map(([name, { was }]) => [name, was]));

/** Writes the marts into a snapshot, tests them, and keeps the rows that failed. */
function modelAndTest(job: Job) {
  const { session, target, schemas, modelling, own, runId, pipeline, startedAt, layout, reporter, recorded } =
    job;
  const { connection, alone } = session;
  return inWarehouse(session, target, async (second) => {
    const beside = [second];
    const parquet: RunModelsOptions['parquet'] = (model, columns) => {
      const was = earlierNames(model);
      const named = columns ?? Object.keys(was).map((name) => ({ name }));
      const wanted = named.map((column) => ({ ...column, was: was[column.name] }));
      return copyOptions(model.name, runId, giveIds(wanted, recordIn(recorded, model.name), false).columns);
    };
    const options = { target, parquet, alone, onModel: reporter.part };
    const models = await runModels(connection, { ...options, ...modelling, beside });
    reporter.part?.('data tests', models.length, models.length);
    const owned = await runOwnModels(connection, own, options, reporter.warn);
    const all = [...models, ...owned.models];
    const modelled = [...(modelling.models ?? readModels()), ...own.models];
    const marts = all.map((mart) => {
      const model = modelled.find(({ name }) => name === mart.name);
      return { ...mart, ...(model === undefined ? {} : { was: earlierNames(model) }) };
    });
    const described = await describeSnapshot(connection, target, schemas, marts, undefined, recorded);
    const stored = { ...allTables(described), ...described.views };
    // The database of the snapshot describes its tables and columns.
    const entries = dictionary({ ...described, own: owned.own }).filter(({ name }) => name in stored);
    await commentViews(connection, entries);
    const tested = { ...modelling, models: (modelling.models ?? readModels()).filter(isTestedNightly) };
    const tests = [...(await runDataTests(connection, tested, beside, alone)), ...owned.tests];
    const run = { run_id: runId, pipeline, started_at: startedAt.toISOString() };
    await keepFailedRows(connection, tests, run, layout.failedTests);
    return { models: all, tests, own: owned.own, described };
  });
}

/** The parent folders of a snapshot and of the passes of its run, up to the parent of the output folder. */
function foldersAbove({ layout, passes }: Job): string[] {
  const ofPasses = passes.map(({ folder }) => folder);
  const above = [...ofPasses, ...ofPasses.map(dirname), layout.landing, layout.snapshots, layout.lake];
  return [...new Set(above), layout.output, dirname(layout.output)].filter(existsSync);
}
