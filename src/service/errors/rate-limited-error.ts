import { type AnswerFacts, ServiceError } from './service-error.js';

/** 429: too many requests for the key. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError';
  constructor(answer: AnswerFacts) {
    super('too many requests', answer, {
      code: 'SERVICE_RATE_LIMITED',
      outcome: 'unavailable',
      retryable: true,
      hint: 'lower LOTLAKE_RATE; the limit is one budget for every process that uses the key',
    });
  }
}
