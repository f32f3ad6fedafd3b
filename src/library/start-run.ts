import { type PipelineName, pipelines } from '../../pipelines/index.js';
import type { PipelineOptions } from '../../pipelines/options.js';
import { assertWritable } from '../base/config/folder.js';
import type { Reporter } from '../core/job/job.js';
import type { RunResult } from '../core/publish/step.js';
import { assertService } from '../core/service/client.js';
import { type LakeSettings, settingsOf } from './lake-settings.js';

/** Options of `runPipeline`. */
export interface RunOptions extends Pick<PipelineOptions, 'everything'> {
  /** Gets the progress and warnings of the run. Default: none. */
  readonly reporter?: Partial<Reporter> | undefined;
  /** Ends the run at the next safe point. Landed pages are kept, and the next run goes on with them. */
  readonly signal?: AbortSignal | undefined;
  /** The clock of the run. Default: the clock of the machine. */
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
  const job = { ...only, config, settings: inForce, reporter: complete(reporter), signal, now };
  try {
    return await pipelines[name](job);
  } catch (error) {
    // An interrupted statement fails with an error of its own.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Completes a reporter: the methods that it lacks do nothing. */
const complete = (reporter: Partial<Reporter> = {}): Reporter => ({
  step: (...given) => reporter.step?.(...given),
  progress: (...given) => reporter.progress?.(...given),
  warn: (message) => reporter.warn?.(message),
});
