import { inspect } from 'node:util';
import { LotlakeError } from '../../config/lotlake-error.js';

/** Which parameter of which endpoint is beyond its limit. */
export interface RequestLimitFacts {
  /** Path of the endpoint with its parameters in braces, such as `/cars/{car_id}`. */
  readonly endpoint: string;
  /** Name of the parameter in the service's words, such as `per_page`. */
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
  readonly limit: string;

  constructor({ endpoint, parameter, given, limit, hint }: RequestLimitFacts) {
    super(`${parameter} of GET ${endpoint} ${limit}; ${shown(given)}`, {
      code: 'SERVICE_REQUEST_LIMIT',
      stage: 'service',
      outcome: 'usage',
      retryable: false,
      hint,
    });
    this.endpoint = endpoint;
    this.parameter = parameter;
    this.limit = limit;
  }
}

function shown(given: unknown): string {
  if (given === undefined) return 'it is missing';
  const text = inspect(given, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: LONGEST });
  return `it is ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}
