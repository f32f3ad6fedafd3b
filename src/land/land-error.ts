import { LotlakeError } from '../config/lotlake-error.js';

/** Landing on disk cannot be read or written. */
export class LandError extends LotlakeError {
  override readonly name = 'LandError';
  constructor(message: string, rest: { hint?: string; cause?: unknown } = {}) {
    super(message, { code: 'LAND_FAILED', stage: 'land', ...rest });
  }
}
