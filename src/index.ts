import type { PipelineName } from '../pipelines/index.js';
import type { RunResult } from './core/publish/step.js';
import type { ChangesFeed, ChangesOptions } from './library/changes.js';
import type { Lake, OpenOptions } from './library/lake.js';
import type { LakeSettings } from './library/lake-settings.js';
import type { RunOptions } from './library/start-run.js';
import type { WorldOptions } from './sandbox/world.js';

// To import the package loads nothing else, reads no file and installs no handler.
export type { PipelineName } from '../pipelines/index.js';
export type { TableChanges } from './ask/export/changes.js';
export type { Change } from './ask/export/write-changes.js';
export { ConfigError, LotlakeError, type Outcome, type Stage } from './base/config/lotlake-error.js';
export type { Reporter } from './core/job/job.js';
export type { ColumnEntry, TableEntry } from './core/model/dictionary.js';
export type { RunResult } from './core/publish/step.js';
export type { ChangesFeed, ChangesOptions } from './library/changes.js';
export type { Lake, OpenOptions, SnapshotFacts, StreamFormat } from './library/lake.js';
export type { LakeSettings } from './library/lake-settings.js';
export type { RunOptions } from './library/start-run.js';
export type { WorldOptions as SandboxOptions } from './sandbox/world.js';

/** The embedded service while it listens. */
export interface Sandbox {
  /** Its `baseUrl`. */
  readonly url: string;
  readonly apiKey: string;
  /** Moves the world to another time, such as the next night. */
  setClock(clock: Date): void;
  close(): Promise<void>;
}

/**
 * Opens the published snapshot of a lake for queries, or an earlier one. Close it when done.
 * @throws ConfigError for a wrong setting; LotlakeError (QUERY_NO_SNAPSHOT) if nothing is published
 */
export async function openLake(settings: LakeSettings = {}, options: OpenOptions = {}): Promise<Lake> {
  return (await import('./library/lake.js')).open(settings, options);
}

/**
 * Finds which rows of tables and marts were inserted, updated or left between two snapshots: `for await` reads them, once. Keep
 * `until` and give it as `since` the next time; without `since` every row comes as inserted.
 * @throws ConfigError for a wrong setting; LotlakeError (LAKE_NO_SNAPSHOT) if a snapshot is not kept any more; the reason of
 * the signal
 */
export async function readChanges(
  settings: LakeSettings = {},
  options: ChangesOptions = {},
): Promise<ChangesFeed> {
  return (await import('./library/changes.js')).read(settings, options);
}

/**
 * Runs a pipeline as `lotlake run` does: it extracts, lands, loads, reconciles, models, tests and publishes. It writes no
 * report and pushes to no mirror. One run at a time may change a lake.
 * @throws ConfigError for a wrong setting, before anything is written or requested; LotlakeError with the code of what
 * went wrong, and then the last snapshot stays current; the reason of the signal
 */
export async function runPipeline(
  name: PipelineName,
  settings: LakeSettings = {},
  options: RunOptions = {},
): Promise<RunResult> {
  return (await import('./library/start-run.js')).run(name, settings, options);
}

/** Runs the nightly job. {@link runPipeline} says how. */
export function runNightly(settings: LakeSettings = {}, options: RunOptions = {}): Promise<RunResult> {
  return runPipeline('nightly', settings, options);
}

/** Starts the embedded service on 127.0.0.1: a seeded world of vehicles, to try things on. Close it when done. */
export async function startSandbox(options: WorldOptions = {}): Promise<Sandbox> {
  return (await import('./sandbox/server/start.js')).startSandbox(options);
}
