import { LotlakeError } from '../config/lotlake-error.js';

/** A body that is no page: cut off, malformed, or an error in disguise. The request is worth another try. */
export class PageError extends LotlakeError {
  override readonly name = 'PageError';
  constructor(url: string, message: string, cause?: unknown) {
    super(`${message}, in the answer to ${url}`, {
      code: 'LAND_PAGE_BROKEN',
      stage: 'land',
      outcome: 'unavailable',
      retryable: true,
      hint: 'the page was not landed; run the same command again to go on from the pages that were',
      cause,
    });
  }
}
