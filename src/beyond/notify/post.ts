import { interceptors, request } from 'undici';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { codeOf, messageOf } from '../../base/config/lotlake-error.js';
import { clip, printable } from '../../base/config/printable.js';
import { agentFor } from '../../core/service/proxy.js';

/** Milliseconds for all attempts together. */
const TIMEOUT = 10_000;
/** Milliseconds between two attempts, and until a host that does not connect is given up. */
const WAIT = 500;
const CONNECT = 4000;

/** A message that may have arrived: it was handed over, and nobody said whether it was taken. */
export class Unsure extends Error {}

/** What happens before a request is written, so that it did not arrive. */
const UNSENT: readonly unknown[] = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN'],
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Statuses of a gateway that does not know what the server behind it did. */
const UNKNOWN: readonly number[] = [502, 504];

/** Statuses that say that the same message will never be taken. */
const NEVER: readonly number[] = [400, 413, 414, 422];

/** Bytes of an answer that says why it refuses. */
const MOST_BYTES = 10_000;

const reasonSchema = z.object({ description: z.string().optional(), error: z.string().optional() });

/**
 * Posts JSON through the proxy of the environment, and retries once after a failure before which nothing was sent, and where the server
 * says that it did not take it (429, 503). Throws Unsure if it may have arrived or never will, and an Error with the reason otherwise,
 * without the URL, which may hold a secret.
 * @param headers sent beside those of JSON, such as an authorization
 * @param says whether an answer says why it refuses
 */
export async function post(
  url: string,
  body: object,
  signal: AbortSignal,
  {
    headers = {},
    says = false,
  }: { readonly headers?: Readonly<Record<string, string>>; readonly says?: boolean } = {},
): Promise<void> {
  const agent = agentFor(url, { connect: { timeout: CONNECT } });
  const retry = {
    maxRetries: 1,
    methods: ['POST' as const],
    minTimeout: WAIT,
    maxTimeout: WAIT,
    throwOnError: false,
    statusCodes: [429, 503],
    errorCodes: UNSENT.map(String),
  };
  const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]);
  try {
    const answer = await request(url, {
      method: 'POST',
      signal: ended,
      dispatcher: agent.compose(interceptors.retry(retry)),
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    // It fails once the connection is closed.
    answer.body.on('error', () => undefined);
    const { statusCode } = answer;
    if (statusCode < 300) return;
    const problem = `it answers ${statusCode}${says ? await reasonOf(answer.body) : ''}`;
    throw UNKNOWN.includes(statusCode) || NEVER.includes(statusCode)
      ? new Unsure(problem)
      : new Error(problem);
  } catch (error) {
    if (ended.aborted) throw new Unsure('it did not answer in time');
    if (error instanceof Unsure || UNSENT.includes(codeOf(error)) || codeOf(error) === undefined) throw error;
    throw new Unsure(messageOf(error));
  } finally {
    void agent.destroy().catch(() => undefined);
  }
}

/** What an answer in JSON says of a refusal, as ntfy and Telegram do; empty if it says nothing. */
async function reasonOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MOST_BYTES) return '';
  }
  const found = reasonSchema.safeParse(jsonIn(Buffer.concat(pieces).toString())).data;
  const reason = found?.description ?? found?.error;
  return reason === undefined ? '' : `: ${clip(printable(reason), 200)}`;
}
