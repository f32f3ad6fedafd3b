import { LotlakeError } from '../config/lotlake-error.js';

/** A snapshot could not be finished or switched to. */
export class PublishError extends LotlakeError {
  override readonly name = 'PublishError';
  constructor(message: string, rest: { hint?: string; cause?: unknown } = {}) {
    super(message, { code: 'PUBLISH_FAILED', stage: 'publish', ...rest });
  }
}
