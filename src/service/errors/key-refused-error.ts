import { type AnswerFacts, ServiceError } from './service-error.js';

/** 403: the key is missing, invalid, expired or inactive. */
export class KeyRefusedError extends ServiceError {
  override readonly name = 'KeyRefusedError';
  constructor(answer: AnswerFacts) {
    super('the key is refused', answer, {
      code: 'SERVICE_KEY_REFUSED',
      outcome: 'refused',
      retryable: false,
      hint: 'check LOTLAKE_API_KEY',
    });
  }
}
