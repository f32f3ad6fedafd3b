import { inspect } from 'node:util';
import { type Code, type ErrorFacts, LotlakeError } from '../config/lotlake-error.js';

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

type Facts = Omit<ErrorFacts, 'cause'> & { readonly code: Code };

/** Base of every failure of a request to the service. */
export class ServiceError extends LotlakeError {
  override readonly name: string = 'ServiceError';
  readonly request: RequestFacts;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(what: string, answer: RequestFacts & Partial<AnswerFacts>, { code, ...facts }: Facts) {
    const { method, url, status, detail = '', retryAfter, cause } = answer;
    const [number, why] = [status === undefined ? '' : ` (${status})`, detail === '' ? '' : `: ${detail}`];
    super(code, `${what}${number} from ${method} ${url}${why}`, { ...facts, cause });
    this.request = { method, url };
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Makes the class of one kind of failed answer. */
const failure = (name: string, what: string, facts: Facts, hintOf?: (answer: AnswerFacts) => string) =>
  class extends ServiceError {
    static override readonly name = name;
    override readonly name = name;
    constructor(answer: AnswerFacts) {
      super(what, answer, hintOf === undefined ? facts : { ...facts, hint: hintOf(answer) });
    }
  };

/** 400: the service does not accept a parameter or a page size. */
export const BadRequestError = failure('BadRequestError', 'bad request', {
  code: 'SERVICE_BAD_REQUEST',
  hint: 'correct the parameter; the same request will fail again',
});

/** 401: the key is not enabled for the source. */
export const SourceRefusedError = failure('SourceRefusedError', 'the source is refused', {
  code: 'SERVICE_SOURCE_REFUSED',
  outcome: 'refused',
  hint: 'ask for the source to be enabled for the key, or leave it out',
});

/** 403: the key is missing, invalid, expired or inactive. */
const KeyRefusedError = failure('KeyRefusedError', 'the key is refused', {
  code: 'SERVICE_KEY_REFUSED',
  outcome: 'refused',
  hint: 'check LOTLAKE_API_KEY',
});

/** 404: there is no such vehicle, lot or endpoint. */
export const NotFoundError = failure('NotFoundError', 'not found', {
  code: 'SERVICE_NOT_FOUND',
  hint: 'check the id, or LOTLAKE_BASE_URL where a whole endpoint is missing',
});

/** 429: too many requests for the key. */
export const RateLimitedError = failure(
  'RateLimitedError',
  'too many requests',
  { code: 'SERVICE_RATE_LIMITED', outcome: 'unavailable', retryable: true },
  hintFor,
);

/** A wait of minutes and more means that the budget of the day is spent, not that requests came too fast. */
function hintFor({ retryAfter: wait = 0 }: AnswerFacts): string {
  if (wait < 60_000) return 'lower LOTLAKE_RATE; the limit is one budget for every process that uses the key';
  const hours = (wait / 3_600_000).toFixed(1);
  return `the service asks to wait ${hours} hours; run the same command then, what has landed is kept`;
}

/** 5xx: the service failed. */
export const ServerError = failure('ServerError', 'the service failed', {
  code: 'SERVICE_FAILED',
  outcome: 'unavailable',
  retryable: true,
  hint: 'run the same command again later; what has landed is kept',
});

/** An answer that the service does not describe: another status, a redirect, or a body that is no page. */
export const UnexpectedAnswerError = failure('UnexpectedAnswerError', 'unexpected answer', {
  code: 'SERVICE_UNEXPECTED',
  outcome: 'failed',
  hint: 'check LOTLAKE_BASE_URL; what has landed is kept',
});

/** The service could not be reached, did not answer in time, or closed the connection. */
export class ConnectionError extends ServiceError {
  override readonly name = 'ConnectionError';
  constructor(request: RequestFacts, detail: string, cause?: unknown) {
    const hint =
      'check the network and LOTLAKE_BASE_URL, then run the same command again; what has landed is kept';
    const facts = { code: 'SERVICE_UNREACHABLE', outcome: 'unavailable', retryable: true, hint } as const;
    super('no complete answer', { ...request, detail, cause }, facts);
  }
}

const BY_STATUS: Readonly<Record<number, new (answer: AnswerFacts) => ServiceError>> = {
  400: BadRequestError,
  401: SourceRefusedError,
  403: KeyRefusedError,
  404: NotFoundError,
  429: RateLimitedError,
};

/** The error of an answer, by its status (service.md, errors). */
export function errorFromAnswer(answer: AnswerFacts): ServiceError {
  const known = BY_STATUS[answer.status];
  if (known !== undefined) return new known(answer);
  return answer.status >= 500 ? new ServerError(answer) : new UnexpectedAnswerError(answer);
}

/** The message of an error body: `message`, or `error`, as text or as an object with a message (field-notes.md). */
export function messageOfBody(text: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text.trim().slice(0, 200) || undefined;
  }
  if (typeof body !== 'object' || body === null) return undefined;
  return textOf(Reflect.get(body, 'message')) ?? textOf(Reflect.get(body, 'error'));
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const message: unknown = Reflect.get(value, 'message');
  return typeof message === 'string' ? message : JSON.stringify(value).slice(0, 200);
}

/** Which parameter is beyond its limit. */
interface RequestLimitFacts {
  /** Path of the endpoint with its parameters in braces, such as `/cars/{car_id}`. */
  readonly endpoint: string;
  readonly parameter: string;
  /** What was given; undefined for a parameter that is missing. */
  readonly given: unknown;
  /** What is allowed, as the end of a sentence: `must be an integer from 1 to 4320`. */
  readonly limit: string;
  readonly hint: string;
}

const LONGEST = 80;

/** A parameter that the service would refuse: found before anything was sent. */
export class RequestLimitError extends LotlakeError {
  override readonly name = 'RequestLimitError';
  readonly endpoint: string;
  readonly parameter: string;

  constructor({ endpoint, parameter, given, limit, hint }: RequestLimitFacts) {
    const message = `${parameter} of GET ${endpoint} ${limit}; ${shown(given)}`;
    super('SERVICE_REQUEST_LIMIT', message, { outcome: 'usage', hint });
    this.endpoint = endpoint;
    this.parameter = parameter;
  }
}

function shown(given: unknown): string {
  if (given === undefined) return 'it is missing';
  const text = inspect(given, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: LONGEST });
  return `it is ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}
