import type { RunResult } from '../src/run/finish.js';
import type { JobOptions } from '../src/run/job.js';

/** Pipelines of `lotlake run`. */
export const pipelineNames = ['nightly', 'incremental', 'reference', 'closing', 'rebuild'] as const;

export type PipelineName = (typeof pipelineNames)[number];

/** Options of one pipeline alone. */
export interface PipelineOptions {
  /** `reference`: walk into catalog entries without a vehicle in the feed, too. Default false. */
  readonly everything?: boolean | undefined;
  /** `rebuild`: what types and flattens the landed records. Default `duckdb`. */
  readonly engine?: 'duckdb' | 'spark' | undefined;
}

/** A pipeline is loaded when it is run. */
export const pipelines: Readonly<
  Record<PipelineName, (job: JobOptions, only: PipelineOptions) => Promise<RunResult>>
> = {
  nightly: async (job) => (await import('./nightly.js')).nightly(job),
  incremental: async (job) => (await import('./incremental.js')).incremental(job),
  reference: async (job, { everything = false }) =>
    (await import('./reference.js')).reference({ ...job, everything }),
  closing: async (job) => (await import('./closing.js')).closing(job),
  rebuild: async (job, { engine = 'duckdb' }) => (await import('./rebuild.js')).rebuild({ ...job, engine }),
};
