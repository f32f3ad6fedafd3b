import type { Config } from '../config/config.js';
import { ConfigError } from '../config/lotlake-error.js';
import { type Answer, type Client, type ClientOptions, createClient, readBody } from './client.js';

/** Base URL and key of the service. Throws ConfigError where one of them is missing; nothing is asked. */
export function assertService({ baseUrl, apiKey }: Config): {
  readonly baseUrl: string;
  readonly apiKey: string;
} {
  if (baseUrl === undefined)
    throw new ConfigError(
      'there is no base URL',
      'set LOTLAKE_BASE_URL, or try lotlake run nightly --sandbox',
    );
  if (apiKey === undefined)
    throw new ConfigError('there is no key', 'set LOTLAKE_API_KEY or LOTLAKE_API_KEY_FILE');
  return { baseUrl, apiKey };
}

/** The client that a configuration describes. Throws ConfigError where base URL or key are missing. */
export function openClient(config: Config, onRetry?: ClientOptions['onRetry']): Client {
  return createClient({
    ...assertService(config),
    rate: config.rate ?? 1,
    timeout: config.timeout,
    retryBudget: config.retryBudget,
    ...(onRetry === undefined ? {} : { onRetry }),
  });
}

/** Reads a whole answer as JSON; for answers that are small, such as one vehicle. */
export async function readJson(answer: Pick<Answer, 'body'>): Promise<unknown> {
  return JSON.parse((await readBody(answer)).toString('utf8'));
}
