import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { killPoint } from '../../base/config/kill-point.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import { type Job, knownOrigin } from '../job/job.js';
import { removePass } from '../job/leftovers.js';
import type { BaseState } from '../lake/base.js';
import { syncSnapshot } from '../lake/describe.js';
import { syncFolders } from '../lake/disk.js';
import { currentSnapshot } from '../lake/layout.js';
import { compareFiles, type FileUse } from '../lake/linked-files.js';
import type { Manifest } from '../lake/manifest.js';
import type { DatedDrift, LoadedPass } from '../lake/passes/loaded-pass.js';
import { changePass } from '../lake/passes/pass.js';
import { findPublished } from '../lake/snapshots.js';
import type { Marts } from '../model/step.js';
import { abandonHeld, type State } from '../reconcile/step.js';
import { type Balance, balance } from './balance.js';
import { sealSnapshot, switchCurrent } from './snapshot.js';

/**
 * The result of a run, for the summary. If the run brought nothing new, `published` is false, and the result describes the
 * current snapshot.
 */
export interface RunResult
  extends Pick<State, 'passes' | 'counts' | 'lotChanges'>,
    Pick<Marts, 'models' | 'tests'> {
  readonly published: boolean;
  readonly runId: string;
  readonly snapshotId: string;
  /** Folder of the snapshot. */
  readonly snapshot: string;
  readonly manifest: Manifest;
  readonly balance: Balance;
  /** Files of the snapshot that are new, and those that it shares with the one before. */
  readonly files: FileUse;
  /** Members that the contract does not know. */
  readonly drift: readonly DatedDrift[];
  readonly warnings: readonly string[];
  readonly seconds: number;
}

type Made = Omit<RunResult, 'runId' | 'snapshotId' | 'drift' | 'warnings' | 'seconds'>;

/** Adds the facts of the run to what it did to the lake. */
const resultOf = ({ runId, recorder, now, startedAt }: Job, made: Made): RunResult => ({
  ...made,
  runId,
  snapshotId: made.manifest.snapshot_id,
  drift: made.passes.flatMap(({ drift }) => drift),
  warnings: recorder.record.warnings,
  seconds: (now().getTime() - startedAt.getTime()) / 1000,
});

/**
 * Publishes a state with its marts: seals the snapshot as `model` described it, checks the accounts, syncs every file, and switches the
 * link. Throws RECONCILE_UNBALANCED, LAKE_OVERTAKEN and PUBLISH_FAILED; then the last snapshot stays current.
 */
export async function publish(job: Job, state: State, marts: Marts): Promise<RunResult> {
  const { passes, counts, folder } = state;
  const { models, tests, own, recipe, described } = marts;
  job.reporter.step('publish', job.runId);
  const published = currentSnapshot(job.layout);
  const manifest = {
    snapshot_id: job.runId,
    run_id: job.runId,
    sequence: job.sequence,
    pipeline: job.pipeline,
    created_at: job.now().toISOString(),
    origin: passes.find(({ record }) => record.origin !== null)?.record.origin ?? knownOrigin(job),
    last_pass_at: state.times,
    pass_ids: passes.map(({ record: pass }) => pass.pass_id),
    fingerprints: state.fingerprints,
    recipe,
    own,
    ...described,
  };
  await sealSnapshot(folder, manifest, state.base, job.signal);
  killPoint('publish.sealed');
  const accounts = accountsOf(job, state, manifest);
  const files = compareFiles(folder, published);
  job.recorder.progress({
    files: files.writtenFiles,
    bytes: files.writtenBytes,
    linked_files: files.linkedFiles,
  });
  await writeIceberg(job, { folder, manifest });
  await syncSnapshot(folder, published, marts.synced);
  await syncFolders([folder, ...foldersAbove(job, passes)]);
  // Node delivers signals between two turns of the event loop.
  await setImmediate();
  await setImmediate();
  job.signal.throwIfAborted();
  job.assertOurs();
  // The switch is the end of the run: a later failure only warns.
  switchCurrent(job.layout, folder);
  killPoint('publish.switched');
  await orWarn(
    job,
    `the snapshot is published, but ${job.layout.lake} cannot be synced, so that a power cut may bring the one before back`,
    () => syncFolders([job.layout.lake]),
  );
  // If that fails, the next run marks them.
  await orWarn(job, 'the snapshot is published, but landing could not be told', () => {
    for (const pass of passes) {
      changePass(pass.folder, { published: true });
      killPoint('publish.pass-marked');
    }
  });
  killPoint('job.published');
  return resultOf(job, {
    published: true,
    snapshot: folder,
    manifest,
    passes,
    counts,
    lotChanges: state.lotChanges,
    balance: accounts,
    files,
    models,
    tests,
  });
}

/** Ends a run that brought nothing new: removes its passes, which have no record, and keeps the current snapshot. */
export async function keepCurrent(job: Job, passes: readonly LoadedPass[]): Promise<RunResult> {
  const { base } = job;
  if (base === undefined) throw new TypeError('there is no snapshot to keep');
  const { folder, manifest } = base;
  job.reporter.step('keep', `nothing is new; ${manifest.snapshot_id} stays current`);
  await writeIceberg(job, base);
  await orWarn(job, 'a pass without a record stays in landing, and the next run goes on with it', () => {
    for (const pass of passes) removePass(pass.folder);
  });
  return resultOf(job, {
    published: false,
    snapshot: folder,
    manifest,
    passes,
    counts: {},
    lotChanges: 0,
    balance: balance(job, passes, {}, manifest.tables),
    files: { writtenFiles: 0, writtenBytes: 0, linkedFiles: 0, linkedBytes: 0 },
    models: [],
    tests: [],
  });
}

/** The accounts of the run. Warns if an answer numbers other records than came. Throws RECONCILE_UNBALANCED. */
function accountsOf(job: Job, { passes, counts }: State, { tables }: Manifest): Balance {
  try {
    const accounts = balance(job, passes, counts, tables);
    for (const { stream, served, landed } of accounts.streams)
      if (served !== landed)
        job.reporter.warn(`the answers of ${stream} number ${served} records, and ${landed} came in them`);
    return accounts;
  } catch (error) {
    throw abandonHeld(job, passes, error);
  }
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
 * Writes Iceberg metadata for a snapshot and the kept ones that were current before it, if the configuration asks for that.
 * A snapshot is sound without metadata, so a failure only warns.
 */
async function writeIceberg(job: Job, last: BaseState): Promise<void> {
  const { config, layout, beside } = job;
  const { connection } = job.session;
  if (!config.iceberg || beside === undefined) return;
  await orWarn(
    job,
    'Iceberg metadata could not be written; the data files are sound, and the next run writes it again',
    async () => {
      const { kept } = await findPublished(connection, layout);
      const before = kept.filter(({ id }) => id !== last.manifest.snapshot_id);
      await beside.describe(connection, [...before, last]);
    },
  );
}

/** The parent folders of a snapshot and of the passes of its run, up to the parent of the output folder. */
function foldersAbove({ layout }: Job, passes: readonly LoadedPass[]): string[] {
  const ofPasses = passes.map(({ folder }) => folder);
  const above = [...ofPasses, ...ofPasses.map(dirname), layout.landing, layout.snapshots, layout.lake];
  return [...new Set(above), layout.output, dirname(layout.output)].filter(existsSync);
}
