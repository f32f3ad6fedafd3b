import { type AnswerFacts, ServiceError } from './service-error.js';

/** 429: too many requests for the key. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError';
  constructor(answer: AnswerFacts) {
    super('too many requests', answer, {
      code: 'SERVICE_RATE_LIMITED',
      outcome: 'unavailable',
      retryable: true,
      hint: hintFor(answer.retryAfter ?? 0),
    });
  }
}

/** A wait of minutes and more means that the budget of the day is spent, not that requests came too fast. */
function hintFor(wait: number): string {
  if (wait < 60_000) return 'lower LOTLAKE_RATE; the limit is one budget for every process that uses the key';
  const hours = (wait / 3_600_000).toFixed(1);
  return `the service asks to wait ${hours} hours; run the same command then, what has landed is kept`;
}
