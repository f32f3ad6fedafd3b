import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** A question to the lake that cannot be answered. */
export class ShareError extends LotlakeError {
  override readonly name = 'ShareError';
  constructor(
    code: 'SHARE_NO_SNAPSHOT' | 'SHARE_QUERY' | 'SHARE_NO_TABLE',
    message: string,
    rest: { hint?: string; cause?: unknown; outcome?: Outcome } = {},
  ) {
    super(message, { code, stage: 'share', ...rest });
  }
}
