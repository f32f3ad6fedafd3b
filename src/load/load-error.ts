import { LotlakeError } from '../config/lotlake-error.js';

/** Landed pages could not be turned into tables. */
export class LoadError extends LotlakeError {
  override readonly name = 'LoadError';
  constructor(message: string, rest: { hint?: string; cause?: unknown } = {}) {
    super(message, { code: 'LOAD_FAILED', stage: 'load', ...rest });
  }
}
