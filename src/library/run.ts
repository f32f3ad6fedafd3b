import { type PipelineName, pipelines } from '../../pipelines/index.js';
import { assertWritable } from '../config/folder.js';
import { assertService } from '../extract/client.js';
import type { RunResult } from '../run/finish.js';
import type { JobOptions, Reporter } from '../run/job.js';
import { type LakeSettings, settingsOf } from './settings.js';

/** How a run is watched and ended. */
export interface RunOptions extends Pick<JobOptions, 'everything' | 'engine'> {
  /** Told what the run does. Default: nobody. */
  readonly reporter?: Partial<Reporter> | undefined;
  /** Ends the run at the next safe point. What has landed is kept, and the next run goes on with it. */
  readonly signal?: AbortSignal | undefined;
  /** The clock of the run. Default: that of the machine. */
  readonly now?: (() => Date) | undefined;
}

/** Runs a pipeline and publishes what it brought; `index.ts` describes it. */
export async function run(
  name: PipelineName,
  settings: LakeSettings,
  { reporter, signal, now, ...only }: RunOptions,
): Promise<RunResult> {
  signal?.throwIfAborted();
  const { config, inForce } = settingsOf(settings);
  assertWritable('the output folder', config.output);
  if (name !== 'rebuild') assertService(config);
  const job = { ...only, config, settings: inForce, reporter: listening(reporter), signal, now };
  try {
    return await pipelines[name](job);
  } catch (error) {
    // An interrupted statement fails with an error of its own.
    signal?.throwIfAborted();
    throw error;
  }
}

/** A reporter that tells another one what that wants to hear. */
const listening = (reporter: Partial<Reporter> = {}): Reporter => ({
  step: (...given) => reporter.step?.(...given),
  progress: (...given) => reporter.progress?.(...given),
  warn: (message) => reporter.warn?.(message),
});
