import { join } from 'node:path';
import { byName } from '../../base/config/json.js';
import { killPoint } from '../../base/config/kill-point.js';
import { sumOf } from '../../base/config/printable.js';
import type { Job } from '../job/job.js';
import { freeBytes } from '../job/run-records.js';
import type { BaseState } from '../lake/base.js';
import { type DescribedSnapshot, describeSnapshot, syncSnapshot } from '../lake/describe.js';
import { fileSizes } from '../lake/files.js';
import { currentSnapshot } from '../lake/layout.js';
import { linkUnchanged } from '../lake/linked-files.js';
import { allTables, type Manifest } from '../lake/manifest.js';
import { mendViews } from '../lake/views.js';
import type { State } from '../reconcile/step.js';
import { assertTests, isTestedNightly, runDataTests, type TestResult } from './data-tests.js';
import { dictionary } from './dictionary.js';
import { keepFailedRows } from './failed-rows.js';
import { earlierNames } from './mart-files.js';
import type { RunModelling } from './modelling.js';
import { type ModelResult, runModels } from './run-models.js';
import { runOwnModels } from './run-own.js';
import { commentViews, inWarehouse } from './warehouse.js';

/** The marts of a state, as they are computed and tested. */
export interface Marts {
  readonly models: readonly ModelResult[];
  readonly tests: readonly TestResult[];
  /** The models and checks of the user. */
  readonly own: Manifest['own'];
  /** Fingerprint of everything that decides the tables and marts, except the records. */
  readonly recipe: string;
  /** All tables, marts and files of the snapshot. */
  readonly described: DescribedSnapshot;
  /** Paths that are synced to disk: those of the tables. */
  readonly synced: ReadonlySet<string>;
}

/**
 * Computes and tests the marts of a state. Throws MODEL_FAILED, and MODEL_TESTS if a data test of severity `error` fails.
 */
export async function model(job: Job, { folder, base }: State, models: RunModelling): Promise<Marts> {
  job.reporter.step('model', 'marts and data tests');
  killPoint('model.begun');
  const published = currentSnapshot(job.layout);
  if (published !== undefined) await mendViews(job.session.connection, job.layout, published);
  // The tables are final. Those that are as before need no sync; the others are synced while the models compute.
  if (base !== undefined) linkUnchanged(folder, fileSizes(folder, ''), base);
  const syncing = syncSnapshot(folder, published);
  syncing.catch(() => undefined);
  const marts = await job.session.whileWriting(() => modelAndTest(job, models, folder, base));
  const { tests } = marts;
  job.recorder.tested(tests);
  job.recorder.progress({ marts: marts.models.length, rows: sumOf(marts.models, ({ rows }) => rows) });
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
  return { ...marts, synced: await syncing };
}

/** Writes the marts into a snapshot, tests them, and keeps the rows that failed. */
function modelAndTest(
  job: Job,
  modelling: RunModelling,
  folder: string,
  base: BaseState | undefined,
): Promise<Omit<Marts, 'synced'>> {
  const { session, config, schemas, runId, pipeline, startedAt, layout, reporter, recorded } = job;
  const { checks, own, recipe } = modelling;
  const { connection, alone } = session;
  return inWarehouse(session, folder, async (second) => {
    const beside = [second];
    const snapshot = { id: runId, recorded };
    const options = { target: folder, snapshot, alone, onModel: reporter.part };
    const models = await runModels(connection, { ...options, models: modelling.models, beside });
    reporter.part?.('data tests', models.length, models.length);
    const owned = await runOwnModels(connection, own, {
      ...options,
      limits: { seconds: config.modelTimeout, freeBytes: () => freeBytes(layout), signal: job.signal },
      failed: join(job.work, 'failed'),
      warn: reporter.warn,
    });
    const all = [...models, ...owned.models];
    const computed = [...modelling.models, ...own.models];
    const was = new Map(computed.map((one) => [one.name, earlierNames(one)]));
    const marts = all.map((mart) => ({ ...mart, was: was.get(mart.name) ?? {} }));
    const described = await describeSnapshot(connection, folder, schemas, marts, { recorded, base });
    const stored = byName({ ...allTables(described), ...described.views });
    // The database of the snapshot describes its tables and columns.
    const entries = dictionary({ ...described, own: owned.own }).filter(({ name }) => name in stored);
    await commentViews(connection, entries);
    const tested = { checks, models: modelling.models.filter(isTestedNightly) };
    const results = await runDataTests(connection, tested, beside, alone);
    const run = { run_id: runId, pipeline, started_at: startedAt.toISOString() };
    await keepFailedRows(connection, [...results, ...owned.failed], run, layout.failedTests);
    return { models: all, tests: [...results, ...owned.tests], own: owned.own, recipe, described };
  });
}

export { type ModelOptions, readModelling } from './modelling.js';
export { modellingOf } from './own-models.js';
