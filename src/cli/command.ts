import type { InferredOptionType, PositionalOptions, Options as YargsOptions } from 'yargs';
import { type Config, type ConfigInput, readConfig } from '../base/config/config.js';
import { layoutOf } from '../core/lake/layout.js';
import { lockLake } from '../core/lake/lock-lake.js';
import type { Effects } from './effects.js';

/** `maxBytes` of `max-bytes`. */
type Camel<K> = K extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : K & string;

/** Options and arguments by name. Arguments are those that the usage of the command names. */
type Options = Readonly<Record<string, YargsOptions & PositionalOptions>>;

/** Values of options, by their names in camel case. */
export type Values<O extends Options> = {
  readonly [K in keyof O as Camel<K>]: InferredOptionType<O[K]>;
};

/** Lines for a person. Those that are false or undefined are left out. */
export type Lines = readonly (string | false | undefined)[];

/** What a user types to call lotlake: npm (`npm start`, `npx`) finds it in a clone, and an installed one needs no npm. */
export const calledAs = (env: NodeJS.ProcessEnv): string =>
  env.npm_command === undefined ? 'lotlake' : 'npx lotlake';

/** The lines as one text. */
export const textOf = (lines: Lines): string => lines.filter((line) => typeof line === 'string').join('\n');

/** What the body of a command gets besides its own options. */
export interface Context {
  readonly json: boolean;
  /** `--output` and `--config`. */
  readonly input: ConfigInput;
  /** The settings, read at their first use. A body uses them before it checks its options. */
  readonly config: Config;
  /** Prints a result: as JSON with `--json`, otherwise as text. */
  readonly print: (result: unknown, text: () => string | Lines) => void;
}

/** A command: its options, and what it does. */
export interface Command<Given = Readonly<Record<string, unknown>>> {
  readonly options?: Options;
  /** Set for a command that has no lake, and so none of {@link lakeOptions}. */
  readonly hasNoLake?: true;
  /** @param given values of the options, which yargs checked */
  run(given: Given, effects: Effects): Promise<void> | void;
}

/** Gives the body of a command its options with their types, its settings, and a way to print. */
export function command<const O extends Options = Record<never, never>>(
  parts: Omit<Command<Values<O> & Context>, 'options'> & { readonly options?: O },
): Command {
  return {
    ...parts,
    run({ output, config: configFile, ...values }, effects) {
      const input = { output, configFile } as ConfigInput;
      let settings: Config | undefined;
      const context = {
        ...values,
        input,
        get config() {
          settings ??= readConfig(input, effects);
          return settings;
        },
        print: (result: unknown, text: () => string | Lines) =>
          effects.out(`${values.json ? JSON.stringify(result) : textOf([text()].flat())}\n`),
      };
      return parts.run(context as Values<O> & Context, effects);
    },
  };
}

const LAKE = { group: 'Lake:' };

/** Options of every command over a lake. */
export const lakeOptions = {
  output: { ...LAKE, type: 'string', describe: 'folder of the lake (LOTLAKE_OUTPUT, default output)' },
  config: { ...LAKE, type: 'string', describe: 'file of settings (default lotlake.config.json)' },
  json: { ...LAKE, type: 'boolean', default: false, describe: 'machine-readable results and log' },
} as const satisfies Options;

const WORLD = { group: 'Sandbox:' };

/** Options of the sandbox's world. */
export const worldOptions = {
  vehicles: { ...WORLD, type: 'string', describe: 'vehicles in the sandbox (default 6000)' },
  seed: { ...WORLD, type: 'string', describe: 'seed of the sandbox (default 1)' },
  clock: { ...WORLD, type: 'string', describe: 'time in the sandbox, ISO 8601 (default now)' },
} as const satisfies Options;

/** Options that choose a snapshot. */
export const snapshotOptions = {
  'as-of': {
    type: 'string',
    conflicts: 'snapshot',
    describe: 'ask the snapshot that was current then: an instant, or a date for its end (UTC)',
  },
  snapshot: { type: 'string', describe: 'ask the snapshot of this id' },
} as const satisfies Options;

/** Holds the lock of a lake during some work, so that no run changes it. */
export async function whileLocked<T>(
  config: Config,
  pipeline: string,
  effects: Effects,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await lockLake(layoutOf(config.output), {
    pipeline,
    now: effects.now(),
    lease: config.lease,
    signal: effects.signal,
    onWait: (message) => effects.err(`${message}\n`),
  });
  try {
    return await work();
  } finally {
    lock.release();
  }
}
