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
  /** The `Content-Type` of an answer that is not the service's own. */
  readonly type?: string | undefined;
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
  /** 404 and 410: there is no such vehicle, lot or endpoint. */
  SERVICE_NOT_FOUND: {
    what: 'not found',
    hint: 'check the id',
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
  /** An answer that does not come from the service, as its body tells: a proxy, a CDN or a portal in between gave it. */
  SERVICE_FOREIGN: {
    what: "an answer that is not the service's own",
    outcome: 'unavailable',
    retryable: true,
    hint: 'something between here and the service gave this answer; run the same command again later, or check LOTLAKE_BASE_URL and the proxy if it stays; what has landed is kept',
  },
  /** An answer that the service does not document: another status, a redirect, or a body that is not a page. */
  SERVICE_UNEXPECTED: {
    what: 'unexpected answer',
    hint: 'check LOTLAKE_BASE_URL; what has landed is kept',
  },
  /** The record of another vehicle than the one that was asked for. */
  SERVICE_OTHER_RECORD: {
    what: 'another record',
    hint: 'nothing of the answer is taken',
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

  constructor(code: FailureCode, { url, status, type, detail = '', retryAfter, cause }: AnswerFacts) {
    const { what, ...facts }: Failure = failures[code];
    const shown = [status, type].filter((fact) => fact !== undefined).join(', ');
    const [number, why] = [shown === '' ? '' : ` (${shown})`, detail === '' ? '' : `: ${detail}`];
    const foreign = code === 'SERVICE_FOREIGN' && status !== undefined ? FOREIGN_HINTS[status] : undefined;
    const missing =
      code === 'SERVICE_NOT_FOUND' && !ASKS_ONE.test(url.replace(/[?#].*/, '')) ? NO_ENDPOINT : undefined;
    const hint = code === 'SERVICE_RATE_LIMITED' ? hintFor(retryAfter) : (foreign ?? missing ?? facts.hint);
    super(code, `${what}${number} from GET ${url}${why}`, { ...facts, hint, retryAfter, cause });
    this.status = status;
  }
}

/** Whether a request failed in one of these ways. */
export const isFailure = <C extends FailureCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ServiceError & { readonly code: C } =>
  error instanceof ServiceError && codes.some((code) => code === error.code);

/** Paths that end with the id of a record; a 404 of another one says that the endpoint is not there. */
const ASKS_ONE =
  /\/(?:cars|listing\/[^/]+|search-vin|search-lot|models|generations|usa\/cities)\/[^/]+(?:\/[a-z]+)?$/;
const NO_ENDPOINT =
  'the service has no such list at this address: check LOTLAKE_BASE_URL, which ends before the endpoint, such as https://host/api';

/** A wait of minutes and more means that the budget of the day is spent, not that requests came too fast. */
function hintFor(wait = 0): string {
  if (wait < 60_000) return 'lower LOTLAKE_RATE; the limit is one budget for every process that uses the key';
  const hours = (wait / 3_600_000).toFixed(1);
  return `the service asks to wait ${hours} hours; run the same command then, what has landed is kept`;
}

/** What to check if an answer of this status stays, though the service did not say it in its own words. */
const FOREIGN_HINTS: Readonly<Record<number, string>> = {
  401: 'a proxy or CDN asks for other credentials; if it stays, the key may lack the source, or be refused: check LOTLAKE_API_KEY; what has landed is kept',
  403: 'a proxy or CDN refuses the request; if it stays, the service may refuse the key: check LOTLAKE_API_KEY; what has landed is kept',
  404: 'if it stays, LOTLAKE_BASE_URL leads to another place than the service; what has landed is kept',
  407: 'the proxy asks for credentials: check HTTPS_PROXY; what has landed is kept',
  511: 'the network asks to log in first; do so, and run the same command again; what has landed is kept',
};

const BY_STATUS: Readonly<Record<number, FailureCode>> = {
  400: 'SERVICE_BAD_REQUEST',
  401: 'SERVICE_SOURCE_REFUSED',
  403: 'SERVICE_KEY_REFUSED',
  404: 'SERVICE_NOT_FOUND',
  410: 'SERVICE_NOT_FOUND',
  429: 'SERVICE_RATE_LIMITED',
};

/** Statuses below 500 by which a server says "not now": time-outs, and requests that came too early or to a busy place. */
const NOT_NOW: readonly number[] = [408, 421, 423, 425, 499];

/** Redirects for good: where the first answer is one, the base URL is wrong. */
const MOVED: readonly number[] = [301, 308];

/** An answer other than a page. */
export interface FailedAnswer extends Pick<AnswerFacts, 'url' | 'retryAfter'> {
  readonly status: number;
  /** Body, or its beginning; empty if it could not be read. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether the service has answered this client before. */
  readonly isReached?: boolean;
}

/**
 * The error of an answer, by its status and by whose it is (service.md#errors). Only the service's own words refuse a key, a
 * source or a parameter, or say that something is not there. Such a status with another body comes from something in
 * between, and may pass.
 */
export function errorFromAnswer(answer: FailedAnswer): ServiceError {
  const { url, status, retryAfter, body = '', headers = {}, isReached = false } = answer;
  if (isOwnError(body)) {
    const other = status >= 500 || NOT_NOW.includes(status) ? 'SERVICE_FAILED' : 'SERVICE_UNEXPECTED';
    const detail = messageOfBody(body);
    return new ServiceError(BY_STATUS[status] ?? other, { url, status, retryAfter, detail });
  }
  const type = typeOf(headers);
  const to = MOVED.includes(status) || status < 400 ? headers.location : undefined;
  const detail = [to === undefined ? '' : `it leads to ${to}`, beginningOf(body)].filter(Boolean).join(': ');
  const facts = { url, status, retryAfter, type, detail };
  if (status === 429) return new ServiceError('SERVICE_RATE_LIMITED', facts);
  if (MOVED.includes(status) && !isReached) return new ServiceError('SERVICE_UNEXPECTED', facts);
  const isServer = status >= 500 && status !== 511;
  return new ServiceError(isServer ? 'SERVICE_FAILED' : 'SERVICE_FOREIGN', facts);
}

/**
 * Whether an error body is the service's: an object with `message` or `error` (service.md#errors). If it is too long to be
 * read to its end, its beginning tells.
 */
function isOwnError(text: string): boolean {
  const body = jsonIn(text.trim());
  if (isObject(body)) return (body.message ?? body.error ?? null) !== null;
  return body === undefined && /^\s*\{\s*"(?:message|error)"\s*:/.test(text);
}

/** The media type of an answer, without its parameters. */
export function typeOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const type = String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim();
  return type === '' ? undefined : type;
}

/** Most characters of a body in a message. */
const MOST_WORDS = 200;

/** The first words of a body, on one line. */
export const beginningOf = (text: string): string =>
  text
    .trim()
    .slice(0, 2 * MOST_WORDS)
    .replaceAll(/\s+/g, ' ')
    .slice(0, MOST_WORDS);

/** The message of an error body: `message`, or `error`, as text or as an object with a message (service.md#errors). */
export function messageOfBody(text: string): string | undefined {
  const body = jsonIn(text.trim());
  if (body === undefined) return beginningOf(text) || undefined;
  return isObject(body) ? (textOf(body.message) ?? textOf(body.error)) : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const message = isObject(value) ? value.message : undefined;
  return typeof message === 'string' ? message : JSON.stringify(value).slice(0, MOST_WORDS);
}
