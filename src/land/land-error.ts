import { LotlakeError, messageOf } from '../config/lotlake-error.js';

/** Landing on disk cannot be read or written. */
export class LandError extends LotlakeError {
  override readonly name = 'LandError';
  constructor(message: string, rest: { hint?: string; cause?: unknown } = {}) {
    super(message, { code: 'LAND_FAILED', stage: 'land', ...rest });
  }
}

/** The error of a file of landing that could not be written, so that nobody takes it for one of the service. */
export function unwritable(path: string, cause: unknown): LandError {
  return new LandError(`${path} cannot be written: ${messageOf(cause)}`, {
    cause,
    hint: 'the last snapshot stays current and landing keeps every page that was whole; run the same command again when the folder can be written',
  });
}
