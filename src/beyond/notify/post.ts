import { interceptors, request } from 'undici';
import { messageOf } from '../../base/config/lotlake-error.js';
import { agentFor } from '../../core/service/proxy.js';

/** Milliseconds for all attempts together. */
const TIMEOUT = 5000;
/** Milliseconds between two attempts. */
const WAIT = 500;

/**
 * Posts JSON through the proxy of the environment, and retries once after a temporary failure. Throws an Error with the
 * reason, without the URL, which may hold a secret.
 * @param key sent as bearer token
 */
export async function post(url: string, body: object, signal: AbortSignal, key?: string): Promise<void> {
  const agent = agentFor(url);
  const retry = { maxRetries: 1, methods: ['POST' as const], minTimeout: WAIT, throwOnError: false };
  const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]);
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  try {
    const answer = await request(url, {
      method: 'POST',
      signal: ended,
      dispatcher: agent.compose(interceptors.retry(retry)),
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify(body),
    });
    // Nobody reads the body. It fails once the connection is closed.
    answer.body.on('error', () => undefined);
    if (answer.statusCode >= 300) throw new Error(`it answers ${answer.statusCode}`);
  } catch (error) {
    throw new Error(ended.aborted ? 'it did not answer in time' : messageOf(error));
  } finally {
    void agent.destroy().catch(() => undefined);
  }
}
