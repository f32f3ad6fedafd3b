import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** The lake on disk is not as it should be, or cannot be written. */
export class LakeError extends LotlakeError {
  override readonly name = 'LakeError';
  constructor(
    code: string,
    message: string,
    rest: { hint?: string; cause?: unknown; outcome?: Outcome } = {},
  ) {
    super(message, { code, stage: 'lake', ...rest });
  }
}
