import { type AnswerFacts, ServiceError } from './service-error.js';

/** 400: the service does not accept a parameter or a page size. */
export class BadRequestError extends ServiceError {
  override readonly name = 'BadRequestError';
  constructor(answer: AnswerFacts) {
    super('bad request', answer, {
      code: 'SERVICE_BAD_REQUEST',
      retryable: false,
      hint: 'correct the parameter; the same request will fail again',
    });
  }
}
