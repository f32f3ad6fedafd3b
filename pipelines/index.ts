import type { RunResult } from '../src/core/publish/step.js';
import type { PipelineOptions } from './options.js';

/** Pipelines of `lotlake run`. */
export const pipelineNames = ['nightly', 'incremental', 'reference', 'closing', 'rebuild'] as const;

export type PipelineName = (typeof pipelineNames)[number];

/** The pipelines. Each is imported when it runs. */
export const pipelines: Readonly<Record<PipelineName, (options: PipelineOptions) => Promise<RunResult>>> = {
  nightly: async (options) => (await import('./nightly.js')).nightly(options),
  incremental: async (options) => (await import('./incremental.js')).incremental(options),
  reference: async (options) => (await import('./reference.js')).reference(options),
  closing: async (options) => (await import('./closing.js')).closing(options),
  rebuild: async (options) => (await import('./rebuild.js')).rebuild(options),
};
