import { existsSync } from 'node:fs';
import { type ConfigInput, readOutput, readSettings, type Settings } from '../base/config/config.js';
import { ConfigError, messageOf } from '../base/config/lotlake-error.js';
import { beside } from '../beyond/beside.js';
import { recordUnbegun } from '../core/job/recorder.js';
import type { Effects } from './effects.js';

/** A run that its settings or options refused before it began. */
interface Refused {
  readonly pipeline: string;
  readonly input: ConfigInput;
  /** Other defaults, as those of the sandbox. */
  readonly defaults: Settings;
}

/**
 * Records a run that was refused before it began, in the folder where it would have run: otherwise a night that a wrong
 * setting stops would raise no alarm. It makes no folder. Returns the error to throw, whose hint says why if there is no
 * record.
 */
export async function recordRefused(
  { pipeline, input, defaults }: Refused,
  error: unknown,
  effects: Effects,
): Promise<unknown> {
  const problems: string[] = [];
  try {
    const { config, inForce } = settingsFor(input, defaults, effects);
    if (existsSync(config.output)) {
      const reporter = { warn: (message: string) => void problems.push(message) };
      const run = { config, settings: inForce, reporter, pipeline, now: effects.now };
      await recordUnbegun(run, error, await beside.observe(run));
    } else problems.push(`there is no folder ${config.output} for a record of this run`);
  } catch (unread) {
    problems.push(
      `there is no record of this run, since its output folder cannot be read from the settings: ${messageOf(unread)}`,
    );
  }
  if (!(error instanceof ConfigError) || problems.length === 0) return error;
  return new ConfigError(error.message, [error.hint ?? [], problems].flat().join('; '));
}

/** The settings; if they cannot be read, the defaults with the output folder. */
function settingsFor(input: ConfigInput, defaults: Settings, effects: Effects) {
  try {
    return readSettings(input, effects, { defaults });
  } catch {
    return { config: readOutput(input, effects, defaults), inForce: [] };
  }
}
