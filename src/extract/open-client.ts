import type { Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import { hideKey, redactedBody } from '../config/redact.js';
import { type Answer, type Client, type ClientOptions, createClient, readBody } from './client.js';

/**
 * The client that a configuration describes. Nothing that the process says or keeps from now on holds the key. Throws
 * ConfigError where base URL or key are missing.
 */
export function openClient(config: Config, onRetry?: ClientOptions['onRetry']): Client {
  if (config.baseUrl === undefined)
    throw new ConfigError(
      'there is no base URL',
      'set LOTLAKE_BASE_URL, or try lotlake run nightly --sandbox',
    );
  if (config.apiKey === undefined)
    throw new ConfigError('there is no key', 'set LOTLAKE_API_KEY or LOTLAKE_API_KEY_FILE');
  hideKey(config.apiKey);
  const client = createClient({
    baseUrl: config.baseUrl,
    apiKey: config.apiKey,
    rate: config.rate ?? 1,
    timeout: config.timeout,
    retryBudget: config.retryBudget,
    ...(onRetry === undefined ? {} : { onRetry }),
  });
  return {
    ...client,
    get: (path, query, consume, signal) =>
      client.get(path, query, (answer) => consume({ ...answer, body: redactedBody(answer.body) }), signal),
  };
}

/** Reads a whole answer as JSON; for answers that are small, such as one vehicle. */
export async function readJson(answer: Pick<Answer, 'body'>): Promise<unknown> {
  return JSON.parse((await readBody(answer)).toString('utf8'));
}
