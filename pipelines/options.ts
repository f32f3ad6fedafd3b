import type { JobOptions } from '../src/core/job/job.js';
import type { ModelOptions } from '../src/core/model/step.js';

/** What a pipeline needs from outside; tests replace it. */
export interface PipelineOptions extends JobOptions, ModelOptions {
  /** `reference`: walk into catalog entries without a vehicle in the feed, too. Default false. */
  readonly everything?: boolean | undefined;
}
