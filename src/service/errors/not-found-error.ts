import { type AnswerFacts, ServiceError } from './service-error.js';

/** 404: there is no such vehicle, lot or endpoint. */
export class NotFoundError extends ServiceError {
  override readonly name = 'NotFoundError';
  constructor(answer: AnswerFacts) {
    super('not found', answer, {
      code: 'SERVICE_NOT_FOUND',
      retryable: false,
      hint: 'check the id, or LOTLAKE_BASE_URL where a whole endpoint is missing',
    });
  }
}
