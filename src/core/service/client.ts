import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { Config } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { ConfigError, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { hideKey, redactedBody } from '../../base/config/redact.js';
import { decoded, EncodingError, isZstd, peeked } from './decoding.js';
import { endpoints } from './endpoints.js';
import { beginningOf, errorFromAnswer, ServiceError, typeOf } from './errors.js';
import { createRateLimit, parseRetryAfter, type RetryOptions, withRetry } from './pacing.js';
import { agentFor } from './proxy.js';
import type { ServiceRequest } from './requests.js';

/**
 * Settings of a client and of its retries. `timeout` is in seconds without a byte, and a request ends after `MOST_TIMEOUTS`
 * times that in any case; `retryBudget` is in seconds, `firstWait` in milliseconds.
 */
export interface ClientOptions
  extends Pick<Config, 'timeout' | 'retryBudget'>,
    Pick<RetryOptions, 'onRetry' | 'firstWait'> {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Called with the status and headers of every answer; with `failed` if none came. What it throws ends the request. */
  readonly onAnswer?: (status: number | 'failed', headers?: IncomingHttpHeaders) => void;
  /** Requests a second; undefined sets no limit. */
  readonly rate?: number | undefined;
}

type Query = ServiceRequest['query'];

/** A successful answer whose body is still coming. */
export interface Answer {
  /** URL of its request, without the key. */
  readonly url: string;
  /** Body, decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Records of the page that the service cannot serve, if it was asked for in pieces. */
  readonly unserved?: readonly UnservedRecord[];
}

/** A record that the service cannot serve, though it serves the others of its page. */
export interface UnservedRecord {
  /** Position in the page, from 0. */
  readonly position: number;
  /** What came instead. */
  readonly error: string;
}

/** Sends requests to the service within one rate budget, and retries those that may succeed later. */
export type Client = ReturnType<typeof createClient>;

/** Reads the whole body of an answer. If the body fails, the request is sent again. */
type Consume<T> = (answer: Answer) => Promise<T>;

/** A request ends after so many times its time-out, however steadily its bytes come. */
const MOST_TIMEOUTS = 5;

/** Longest time of a timer in milliseconds; Node fires a longer one at once. */
const MOST_TIMER = 2 ** 31 - 1;

/** Bytes of an answer, decompressed: more than ten times the largest page of the service. */
const MOST_BODY_BYTES = 1 << 29;

/** Bytes of an answer that is held whole, such as one vehicle. */
const MOST_WHOLE_BYTES = 1 << 26;

/** A page without records, which names no next one. */
const EMPTY_PAGE = Buffer.from('{"data":[],"links":{"next":null}}');

/** Bytes of an error body that are read for what it says. */
const MOST_ERROR_BYTES = 1 << 16;

/** Creates a client. From now on its answers, and all messages and files of the process, hide a key of 8 characters and more. */
export function createClient(options: ClientOptions) {
  hideKey(options.apiKey);
  const base = new URL(options.baseUrl);
  const limit = createRateLimit(options.rate);
  const agent = agentFor(options.baseUrl, {
    connect: { timeout: 30_000 },
    headersTimeout: options.timeout * 1000,
    bodyTimeout: options.timeout * 1000,
    pipelining: 1,
  });

  let isReached = false;

  const attempt = async <T>(url: URL, consume: Consume<T>, outer: AbortSignal | undefined): Promise<T> => {
    await limit.take(outer);
    killPoint('extract.page-asked');
    const seconds = options.timeout * MOST_TIMEOUTS;
    const late = AbortSignal.timeout(Math.min(Math.ceil(seconds * 1000), MOST_TIMER));
    const signal = outer === undefined ? late : AbortSignal.any([outer, late]);
    const headers = { 'x-api-key': options.apiKey, accept: 'application/json', 'accept-encoding': 'gzip' };
    let response: Awaited<ReturnType<typeof request>> | undefined;
    try {
      response = await request(url, { dispatcher: agent, headers, signal });
      const { statusCode: status, headers: facts } = response;
      // An abort may come before anyone reads. A later reader gets the error; without one it must not end the process.
      response.body.on('error', () => undefined);
      options.onAnswer?.(status, facts);
      const body = redactedBody(decoded(response.body, header(facts['content-encoding'])));
      // A list past its end may be answered without a body.
      if (status === 204) return await consume({ url: url.href, body: Readable.from([EMPTY_PAGE]) });
      // 203 is a 200 that a proxy has changed (RFC 9110).
      if (status !== 200 && status !== 203) {
        const retryAfter = parseRetryAfter(header(facts['retry-after']), Date.now());
        if (status === 429 && retryAfter !== undefined) limit.pause(Date.now() + retryAfter);
        // If the body cannot be read, the status alone says what happened.
        const text = await firstBytes(body, MOST_ERROR_BYTES).then(
          (bytes) => unreadable(bytes, facts) ?? String(bytes),
          (error) => (error instanceof EncodingError ? error.message : ''),
        );
        const answer = { url: url.href, status, retryAfter, body: text, headers: facts };
        throw errorFromAnswer({ ...answer, isReached });
      }
      const consumed = await consume({ url: url.href, body: limited(asJson(body, url, response)) });
      isReached = true;
      return consumed;
    } catch (error) {
      if (response === undefined) options.onAnswer?.('failed');
      response?.body.destroy();
      // If `consume` cannot write a file, the service is not to blame.
      const isOfConsumer =
        response !== undefined &&
        error instanceof Error &&
        'syscall' in error &&
        error !== response.body.errored;
      if (outer?.aborted || error instanceof LotlakeError || isOfConsumer) throw error;
      const detail = late.aborted ? `no end within ${seconds} s` : messageOf(error);
      throw new ServiceError('SERVICE_UNREACHABLE', { url: url.href, detail, cause: error });
    }
  };

  return {
    /**
     * Sends one GET. Throws ServiceError.
     * @param attempts most attempts that may fail; by default as many as the retry budget allows
     */
    get<T>(
      path: string,
      query: Query,
      consume: Consume<T>,
      signal?: AbortSignal,
      attempts?: number,
    ): Promise<T> {
      const { retryBudget: budget, onRetry, firstWait } = options;
      const work = (): Promise<T> => attempt(urlOf(base, path, query), consume, signal);
      return withRetry(work, { budget, signal, onRetry, firstWait, attempts });
    },
    // Nobody waits for requests that are still under way.
    close: (): Promise<void> => agent.destroy(),
  };
}

/** The first parts of all paths below the base URL. */
const ENDPOINTS = new Set(Object.values(endpoints).map(({ path }) => /^\/([\w-]+)/.exec(path)?.[1] ?? ''));

/** Base URL and key of the service. Throws ConfigError if one of them is missing or wrong; sends no request. */
export function assertService({ baseUrl, apiKey }: Config): Pick<ClientOptions, 'baseUrl' | 'apiKey'> {
  const hint =
    'set LOTLAKE_BASE_URL, or baseUrl in lotlake.config.json (lotlake init writes one), or try lotlake run nightly --sandbox';
  if (baseUrl === undefined) throw new ConfigError('there is no base URL', hint);
  const [end = ''] = /[^/]*(?=\/*$)/.exec(new URL(baseUrl).pathname) ?? [];
  if (ENDPOINTS.has(end))
    throw new ConfigError(
      `baseUrl ${baseUrl} ends with /${end}, which is an endpoint of the service`,
      `lotlake adds the endpoints itself: end baseUrl before /${end}, such as https://host/api`,
    );
  if (apiKey === undefined)
    throw new ConfigError('there is no key', 'set LOTLAKE_API_KEY or LOTLAKE_API_KEY_FILE');
  return { baseUrl, apiKey };
}

/** The client that a configuration describes. Throws ConfigError if base URL or key are missing. */
export function openClient(
  config: Config,
  callbacks: Pick<ClientOptions, 'onRetry' | 'onAnswer'> = {},
): Client {
  const { rate, timeout, retryBudget } = config;
  return createClient({ ...assertService(config), rate, timeout, retryBudget, ...callbacks });
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** URL of a path below the base with its parameters; always on the configured origin. */
export function urlOf(base: URL, path: string, query: Query): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}/${path.replace(/^[/\\]+/, '')}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value));
  return url;
}

/** What a JSON text can begin with, after white space and a byte order mark. */
const JSON_BEGINS = /^(?:\ufeff|\s)*(?:["{[\-0-9]|true|false|null|$)/;

/** Bytes that no text has. */
const BINARY = /[\u0000\ufffd]/;

/** Bytes of an answer that show what it is. */
const MOST_PEEKED = 64;
const MOST_SHOWN = 1024;

/**
 * The body of a good answer. Throws SERVICE_FOREIGN if it cannot be JSON, such as the page of a portal or of maintenance, or
 * bytes in an encoding that cannot be read.
 */
async function* asJson(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  { statusCode: status, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
): AsyncGenerator<Uint8Array> {
  const { begin, whole } = await peeked(body, MOST_PEEKED);
  if (JSON_BEGINS.test(begin.toString('utf8'))) return yield* whole;
  const first = await firstBytes(whole, MOST_SHOWN);
  const detail = unreadable(first, headers) ?? beginningOf(first.toString('utf8'));
  throw new ServiceError('SERVICE_FOREIGN', { url: url.href, status, type: typeOf(headers), detail });
}

/** Names the encoding of bytes that are no text; undefined for a text. */
function unreadable(bytes: Buffer, headers: Dispatcher.ResponseData['headers']): string | undefined {
  if (!BINARY.test(bytes.subarray(0, MOST_PEEKED).toString('utf8'))) return undefined;
  const encoding = header(headers['content-encoding']) ?? (isZstd(bytes) ? 'zstd' : 'unknown');
  return `its encoding (${encoding}) was not asked for and cannot be read`;
}

/** A body up to the most bytes that lotlake reads of one. */
async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) throw new Error(`a body of more than ${MOST_BODY_BYTES >> 20} MiB`);
    yield chunk;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads a small answer whole, such as one vehicle, without a byte order mark. Throws if it has more than
 * `MOST_WHOLE_BYTES`.
 */
export async function readBody({ body }: Pick<Answer, 'body'>): Promise<Buffer> {
  const bytes = await firstBytes(body, MOST_WHOLE_BYTES + 1);
  if (bytes.length > MOST_WHOLE_BYTES) throw new Error(`a body of more than ${MOST_WHOLE_BYTES >> 20} MiB`);
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

/** Reads a small answer as JSON, such as one vehicle. */
export async function readJson(answer: Pick<Answer, 'body'>): Promise<unknown> {
  return JSON.parse((await readBody(answer)).toString('utf8'));
}

async function firstBytes(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}
