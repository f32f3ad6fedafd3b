import { LotlakeError, type Outcome } from '../../config/lotlake-error.js';

/** A request as errors show it: never with the key. */
export interface RequestFacts {
  readonly method: string;
  /** URL with query, without credentials. */
  readonly url: string;
}

/** What a failed answer carried. */
export interface AnswerFacts extends RequestFacts {
  readonly status: number;
  /** The message of the body, where there was one. */
  readonly detail?: string | undefined;
  /** Milliseconds the service asked to wait. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** Base of every failure of a request to the service. */
export class ServiceError extends LotlakeError {
  override readonly name: string = 'ServiceError';
  readonly request: RequestFacts;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    what: string,
    answer: Omit<AnswerFacts, 'status'> & { readonly status?: number },
    facts: {
      readonly code: string;
      readonly outcome?: Outcome;
      readonly retryable: boolean;
      readonly hint: string;
    },
  ) {
    const detail = answer.detail === undefined || answer.detail === '' ? '' : `: ${answer.detail}`;
    const status = answer.status === undefined ? '' : ` (${answer.status})`;
    super(`${what}${status} from ${answer.method} ${answer.url}${detail}`, {
      ...facts,
      stage: 'service',
      cause: answer.cause,
    });
    this.request = { method: answer.method, url: answer.url };
    this.status = answer.status;
    this.retryAfter = answer.retryAfter;
  }
}
