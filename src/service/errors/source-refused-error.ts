import { type AnswerFacts, ServiceError } from './service-error.js';

/** 401: the key is not enabled for the source. */
export class SourceRefusedError extends ServiceError {
  override readonly name = 'SourceRefusedError';
  constructor(answer: AnswerFacts) {
    super('the source is refused', answer, {
      code: 'SERVICE_SOURCE_REFUSED',
      outcome: 'refused',
      retryable: false,
      hint: 'ask for the source to be enabled for the key, or leave it out',
    });
  }
}
