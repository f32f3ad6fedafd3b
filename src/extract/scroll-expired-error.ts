import { LotlakeError } from '../config/lotlake-error.js';

/** The service no longer knows the scroll that a walk would go on with; a new one has to be started. */
export class ScrollExpiredError extends LotlakeError {
  override readonly name = 'ScrollExpiredError';
  constructor(page: number, cause: LotlakeError) {
    super(`the scroll was refused at page ${page}: ${cause.message}`, {
      code: 'EXTRACT_SCROLL_EXPIRED',
      stage: 'extract',
      cause,
      hint: 'a new scroll starts from the beginning; where it happens again, raise LOTLAKE_RATE or page by number',
    });
  }
}
