import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** A model is not well defined, cannot be computed, or its data tests failed. */
export class ModelError extends LotlakeError {
  override readonly name = 'ModelError';
  constructor(
    code: 'MODEL_DEFINITION' | 'MODEL_GRAPH' | 'MODEL_FAILED' | 'MODEL_TESTS_FAILED' | 'MODEL_UNKNOWN',
    message: string,
    rest: { hint?: string; cause?: unknown; outcome?: Outcome } = {},
  ) {
    super(message, { code, stage: 'model', ...rest });
  }
}
