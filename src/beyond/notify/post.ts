import { interceptors, request } from 'undici';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import { clip, printable } from '../../base/config/printable.js';
import { agentFor } from '../../core/service/proxy.js';

/** Milliseconds for all attempts together. */
const TIMEOUT = 5000;
/** Milliseconds between two attempts. */
const WAIT = 500;

/** Bytes of an answer that says why it refuses. */
const MOST_BYTES = 10_000;

const reasonSchema = z.object({ description: z.string().optional(), error: z.string().optional() });

/**
 * Posts JSON through the proxy of the environment, and retries once after a temporary failure. Throws an Error with the
 * reason, without the URL, which may hold a secret.
 * @param headers sent beside those of JSON, such as an authorization
 */
export async function post(
  url: string,
  body: object,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const agent = agentFor(url);
  const retry = { maxRetries: 1, methods: ['POST' as const], minTimeout: WAIT, throwOnError: false };
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
    if (answer.statusCode >= 300)
      throw new Error(`it answers ${answer.statusCode}${await reasonOf(answer.body)}`);
  } catch (error) {
    throw new Error(ended.aborted ? 'it did not answer in time' : messageOf(error));
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
