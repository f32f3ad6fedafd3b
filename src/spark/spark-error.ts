import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** Spark is missing or too old, or ended before its script did. */
export class SparkError extends LotlakeError {
  override readonly name = 'SparkError';
  constructor(
    code: 'SPARK_NOT_FOUND' | 'SPARK_VERSION' | 'SPARK_TYPE' | 'SPARK_FAILED',
    message: string,
    rest: { hint: string; cause?: unknown; outcome?: Outcome },
  ) {
    super(message, { code, stage: 'spark', ...rest });
  }
}
