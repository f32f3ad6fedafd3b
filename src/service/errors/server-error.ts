import { type AnswerFacts, ServiceError } from './service-error.js';

/** 5xx: the service failed. */
export class ServerError extends ServiceError {
  override readonly name = 'ServerError';
  constructor(answer: AnswerFacts) {
    super('the service failed', answer, {
      code: 'SERVICE_FAILED',
      outcome: 'unavailable',
      retryable: true,
      hint: 'run the same command again later; what has landed is kept',
    });
  }
}
