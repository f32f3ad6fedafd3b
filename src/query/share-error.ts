import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** A question to the lake that cannot be answered. */
export class ShareError extends LotlakeError {
  override readonly name = 'ShareError';
  constructor(
    code: `SHARE_${string}`,
    message: string,
    { hint, ...rest }: { hint?: string | undefined; cause?: unknown; outcome?: Outcome } = {},
  ) {
    super(message, { code, stage: 'share', ...rest, ...(hint === undefined ? {} : { hint }) });
  }
}
