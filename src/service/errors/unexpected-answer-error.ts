import { type AnswerFacts, ServiceError } from './service-error.js';

/** An answer that the service does not describe: another status, a redirect, or a body that is no page. */
export class UnexpectedAnswerError extends ServiceError {
  override readonly name = 'UnexpectedAnswerError';
  constructor(answer: AnswerFacts) {
    super('unexpected answer', answer, {
      code: 'SERVICE_UNEXPECTED',
      outcome: 'failed',
      retryable: false,
      hint: 'check LOTLAKE_BASE_URL; what has landed is kept',
    });
  }
}
