import { LotlakeError, messageOf } from '../config/lotlake-error.js';

/** A body that is no page: cut off, malformed, or an error in disguise. The request is worth another try. */
export class PageError extends LotlakeError {
  override readonly name = 'PageError';
  constructor(url: string, message: string, cause?: unknown) {
    super('LAND_PAGE_BROKEN', `${message}, in the answer to ${url}`, {
      outcome: 'unavailable',
      retryable: true,
      hint: 'the page was not landed; run the same command again to go on from the pages that were',
      cause,
    });
  }
}

/** Does what writes a file of landing. Throws LAND_FAILED where that fails. */
export function writing<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The error of a file of landing that could not be written, so that nobody takes it for one of the service. */
export function unwritable(path: string, cause: unknown): LotlakeError {
  return new LotlakeError('LAND_FAILED', `${path} cannot be written: ${messageOf(cause)}`, {
    cause,
    hint: 'the last snapshot stays current and landing keeps every page that was whole; run the same command again when the folder can be written',
  });
}
