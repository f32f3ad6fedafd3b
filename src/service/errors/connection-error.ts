import { type RequestFacts, ServiceError } from './service-error.js';

/** The service could not be reached, did not answer in time, or closed the connection. */
export class ConnectionError extends ServiceError {
  override readonly name = 'ConnectionError';
  constructor(request: RequestFacts, detail: string, cause?: unknown) {
    super(
      'no complete answer',
      { ...request, detail, cause },
      {
        code: 'SERVICE_UNREACHABLE',
        outcome: 'unavailable',
        retryable: true,
        hint: 'check the network and LOTLAKE_BASE_URL, then run the same command again; what has landed is kept',
      },
    );
  }
}
