import { join } from 'node:path';
import { type Config, readConfig, readSettings, type Settings } from '../base/config/config.js';
import { count } from '../base/config/printable.js';
import type { Context, Values } from './command.js';
import type { Effects } from './effects.js';
import { worldOf } from './option-values.js';
import { worldOptions } from './options.js';
import { UsageError } from './usage-error.js';

/** Options of a command that can request the embedded service. */
export const sandboxOptions = {
  sandbox: {
    group: 'Sandbox:',
    type: 'boolean',
    default: false,
    describe: 'use the embedded service, and output/sandbox unless told otherwise',
  },
  ...worldOptions,
} as const;

/** Defaults of settings with `--sandbox`, so that a first run against a real service finds an empty folder. */
export const SANDBOX: Settings = { output: join('output', 'sandbox') };

/** The world of `--sandbox`; undefined without it. Throws UsageError for an option of the world without `--sandbox`. */
export function sandboxOf(given: Values<typeof sandboxOptions>, now: Date) {
  if (given.sandbox) return worldOf(given, now);
  const stray = (['vehicles', 'seed', 'clock'] as const).filter((name) => given[name] !== undefined);
  if (stray.length === 0) return undefined;
  throw new UsageError(
    `${stray.map((name) => `--${name}`).join(' and ')} ${stray.length === 1 ? 'describes' : 'describe'} the world of the sandbox, and --sandbox is not given`,
    'nothing was asked and nothing was changed; add --sandbox, or leave it out for the service of the settings',
  );
}

/**
 * Runs work against a sandbox without a rate limit, and stops it.
 * @param work gets the settings of the service, and the clock of its world, whose windows and prices fit its records
 */
export async function onSandbox<T>(
  { vehicles, seed, clock }: ReturnType<typeof worldOf>,
  effects: Effects,
  work: (service: Settings, now: () => Date) => Promise<T>,
): Promise<T> {
  const { startSandbox } = await import('../sandbox/server/start.js');
  const sandbox = await startSandbox({ vehicles, seed, clock });
  const started = effects.now().getTime();
  const now = (): Date => new Date(clock.getTime() + effects.now().getTime() - started);
  const service = {
    baseUrl: sandbox.url,
    origin: `sandbox of ${vehicles} vehicles, seed ${seed}`,
    apiKey: sandbox.apiKey,
    rate: 1e6,
  };
  return work(service, now).finally(() => sandbox.close());
}

/**
 * Runs work of a command that requests the service once: that of the settings, or with `--sandbox` the embedded one.
 * @param work gets the settings, and the clock
 */
export async function onService<T>(
  given: Values<typeof sandboxOptions> & Pick<Context, 'input'>,
  effects: Effects,
  work: (asked: { readonly config: Config; readonly now: () => Date }) => Promise<T>,
): Promise<T> {
  const world = sandboxOf(given, effects.now());
  if (world === undefined) return work({ config: readConfig(given.input, effects), now: effects.now });
  return onSandbox(world, effects, (service, now) =>
    work({ config: readSettings(given.input, effects, { defaults: SANDBOX, service }).config, now }),
  );
}

/** A world for a person. */
export const worldText = ({ vehicles, seed, clock }: ReturnType<typeof worldOf>): string =>
  `${count(vehicles)} vehicles, seed ${seed}, clock ${clock.toISOString()}`;
