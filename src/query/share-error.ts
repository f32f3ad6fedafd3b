import { LotlakeError, type Outcome } from '../config/lotlake-error.js';

/** A question to the lake that cannot be answered. */
export class ShareError extends LotlakeError {
  override readonly name = 'ShareError';
  constructor(
    code:
      | 'SHARE_NO_SNAPSHOT'
      | 'SHARE_QUERY'
      | 'SHARE_NO_TABLE'
      | 'SHARE_NO_COLUMN'
      | 'SHARE_EXPORT_OPTIONS'
      | 'SHARE_EXPORT_EXISTS'
      | 'SHARE_DOCS'
      | 'SHARE_OUTPUT'
      | 'SHARE_PLACE',
    message: string,
    { hint, ...rest }: { hint?: string | undefined; cause?: unknown; outcome?: Outcome } = {},
  ) {
    super(message, { code, stage: 'share', ...rest, ...(hint === undefined ? {} : { hint }) });
  }
}
