import type { Config } from '../../base/config/config.js';
import { ConfigError, messageOf } from '../../base/config/lotlake-error.js';
import { post } from './post.js';
import { withoutMarkup } from './webhook.js';

/** Posts a text to the webhook of the settings. Throws ConfigError if none is set, or if it does not take the text. */
export async function tell({ notify }: Config, text: string, signal: AbortSignal): Promise<void> {
  if (notify.url === undefined)
    throw new ConfigError(
      'no webhook is set (notify.url, LOTLAKE_NOTIFY_URL)',
      'set it, or leave --notify out',
    );
  try {
    await post(notify.url, { text: withoutMarkup(text) }, signal);
  } catch (error) {
    throw new ConfigError(
      `the webhook of notify.url was not told: ${messageOf(error)}`,
      'correct LOTLAKE_NOTIFY_URL, or see whether this machine reaches its host; lotlake doctor --notify tries it',
    );
  }
}
