import type { Config } from '../../base/config/config.js';
import { ConfigError, messageOf } from '../../base/config/lotlake-error.js';
import { redacted } from '../../base/config/redact.js';
import { channelsOf } from './channels.js';

/**
 * Sends a text to every channel of the settings. Returns their names. Throws ConfigError if none is set, or with all that do not take
 * it.
 */
export async function tell(config: Config, text: string, signal: AbortSignal): Promise<readonly string[]> {
  const channels = channelsOf(config);
  if (channels.length === 0)
    throw new ConfigError(
      'no channel is set (notify.url, LOTLAKE_NOTIFY_URL, notify.channels)',
      'set one, or leave --notify out',
    );
  const notice = {
    subject: text.split('\n')[0] ?? '',
    isUrgent: true,
    parts: [{ head: text, lines: [] }],
    facts: {},
  };
  const id = `told-${Date.now()}`;
  const failed = await Promise.all(
    channels.map(async ({ place, send }) => {
      try {
        const problem = await send({ id, notice, signal });
        return problem === undefined ? [] : [`${place}: ${problem}`];
      } catch (error) {
        return [redacted(`${place} was not told: ${messageOf(error)}`)];
      }
    }),
  );
  const problems = failed.flat();
  if (problems.length > 0)
    throw new ConfigError(
      problems.join('; '),
      'correct the channel, or see whether this machine reaches its host; lotlake doctor --notify tries it',
    );
  return channels.map(({ name }) => name);
}
