import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** New rows could not be merged with the last state, or a guard holds the run. */
export class ReconcileError extends LotlakeError {
  override readonly name = 'ReconcileError';
  constructor(
    code: 'RECONCILE_FAILED' | 'RECONCILE_SHRINK' | 'RECONCILE_UNBALANCED',
    message: string,
    rest: { outcome?: Outcome; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { code, stage: 'reconcile', ...rest });
  }
}
