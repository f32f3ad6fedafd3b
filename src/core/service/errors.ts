import { isObject, jsonIn } from '../../base/config/json.js';
import { type ErrorFacts, LotlakeError } from '../../base/config/lotlake-error.js';

/** Facts about a failed request; every request is a GET. */
export interface AnswerFacts {
  /** URL with query, without credentials and never with the key. */
  readonly url: string;
  /** Undefined if no whole answer came. */
  readonly status?: number;
  /** The message of the body, or what came instead of an answer. */
  readonly detail?: string | undefined;
  /** Milliseconds the service asked to wait. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

type Failure = Omit<ErrorFacts, 'cause'> & { readonly what: string };

/** Failures of requests by the code of their error. */
const failures = {
  /** 400: the service does not accept a parameter or a page size. */
  SERVICE_BAD_REQUEST: {
    what: 'bad request',
    hint: 'correct the parameter; the same request will fail again',
  },
  /** 401: the key is not enabled for the source. */
  SERVICE_SOURCE_REFUSED: {
    what: 'the source is refused',
    outcome: 'refused',
    hint: 'ask for the source to be enabled for the key, or leave it out',
  },
  /** 403: the key is missing, invalid, expired or inactive. */
  SERVICE_KEY_REFUSED: { what: 'the key is refused', outcome: 'refused', hint: 'check LOTLAKE_API_KEY' },
  /** 404: there is no such vehicle, lot or endpoint. */
  SERVICE_NOT_FOUND: {
    what: 'not found',
    hint: 'check the id, or LOTLAKE_BASE_URL where a whole endpoint is missing',
  },
  /** 429: too many requests for the key. */
  SERVICE_RATE_LIMITED: { what: 'too many requests', outcome: 'unavailable', retryable: true },
  /** 5xx: the service failed. */
  SERVICE_FAILED: {
    what: 'the service failed',
    outcome: 'unavailable',
    retryable: true,
    hint: 'run the same command again later; what has landed is kept',
  },
  /** An answer that the service does not document: another status, a redirect, or a body that is not a page. */
  SERVICE_UNEXPECTED: {
    what: 'unexpected answer',
    hint: 'check LOTLAKE_BASE_URL; what has landed is kept',
  },
  /** The service could not be reached, did not answer in time, or closed the connection. */
  SERVICE_UNREACHABLE: {
    what: 'no complete answer',
    outcome: 'unavailable',
    retryable: true,
    hint: 'check the network and LOTLAKE_BASE_URL, then run the same command again; what has landed is kept',
  },
} satisfies Record<string, Failure>;

type FailureCode = keyof typeof failures;

/** A request to the service failed; the code says how. */
export class ServiceError extends LotlakeError {
  override readonly name = 'ServiceError';
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: FailureCode, { url, status, detail = '', retryAfter, cause }: AnswerFacts) {
    const { what, ...facts }: Failure = failures[code];
    const [number, why] = [status === undefined ? '' : ` (${status})`, detail === '' ? '' : `: ${detail}`];
    const hint = code === 'SERVICE_RATE_LIMITED' ? hintFor(retryAfter) : facts.hint;
    super(code, `${what}${number} from GET ${url}${why}`, { ...facts, hint, cause });
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Whether a request failed in one of these ways. */
export const isFailure = <C extends FailureCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ServiceError & { readonly code: C } =>
  error instanceof ServiceError && codes.some((code) => code === error.code);

/** A wait of minutes and more means that the budget of the day is spent, not that requests came too fast. */
function hintFor(wait = 0): string {
  if (wait < 60_000) return 'lower LOTLAKE_RATE; the limit is one budget for every process that uses the key';
  const hours = (wait / 3_600_000).toFixed(1);
  return `the service asks to wait ${hours} hours; run the same command then, what has landed is kept`;
}

const BY_STATUS: Readonly<Record<number, FailureCode>> = {
  400: 'SERVICE_BAD_REQUEST',
  401: 'SERVICE_SOURCE_REFUSED',
  403: 'SERVICE_KEY_REFUSED',
  404: 'SERVICE_NOT_FOUND',
  429: 'SERVICE_RATE_LIMITED',
};

/** The error of an answer, by its status (service.md#errors). */
export function errorFromAnswer(answer: AnswerFacts & { readonly status: number }): ServiceError {
  const other = answer.status >= 500 ? 'SERVICE_FAILED' : 'SERVICE_UNEXPECTED';
  return new ServiceError(BY_STATUS[answer.status] ?? other, answer);
}

/** The message of an error body: `message`, or `error`, as text or as an object with a message (service.md#errors). */
export function messageOfBody(text: string): string | undefined {
  const body = jsonIn(text);
  if (body === undefined) return text.trim().slice(0, 200) || undefined;
  return isObject(body) ? (textOf(body.message) ?? textOf(body.error)) : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const message = isObject(value) ? value.message : undefined;
  return typeof message === 'string' ? message : JSON.stringify(value).slice(0, 200);
}
