import { BadRequestError } from './bad-request-error.js';
import { KeyRefusedError } from './key-refused-error.js';
import { NotFoundError } from './not-found-error.js';
import { RateLimitedError } from './rate-limited-error.js';
import { ServerError } from './server-error.js';
import type { AnswerFacts, ServiceError } from './service-error.js';
import { SourceRefusedError } from './source-refused-error.js';
import { UnexpectedAnswerError } from './unexpected-answer-error.js';

const BY_STATUS: Readonly<Record<number, new (answer: AnswerFacts) => ServiceError>> = {
  400: BadRequestError,
  401: SourceRefusedError,
  403: KeyRefusedError,
  404: NotFoundError,
  429: RateLimitedError,
};

/** The error class of an answer's status (service.md, errors). */
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
