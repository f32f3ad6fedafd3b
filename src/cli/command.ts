import type { InferredOptionType, Options, PositionalOptions } from 'yargs';
import type { Config, ConfigInput } from '../config/config.js';
import { layoutOf } from '../lake/layout.js';
import { takeLock } from '../lake/lock.js';
import type { Choice } from '../lake/snapshots.js';
import type { Effects } from './effects.js';

type Named<T> = Readonly<Record<string, T>>;

/** `maxBytes` of `max-bytes`. */
type Camel<K> = K extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : K & string;

/** Values of options or arguments, by their names in camel case. */
type Values<O extends Named<Options | PositionalOptions>> = {
  readonly [K in keyof O as Camel<K>]: InferredOptionType<O[K]>;
};

/** What every command over a lake is given besides its own options. */
export interface LakeValues {
  readonly json: boolean;
  /** `--output` and `--config`. */
  readonly config: ConfigInput;
}

/** A command: what it can be given, and what it does. */
export interface Command<Given = LakeValues> {
  readonly positionals?: Named<PositionalOptions>;
  readonly options?: Named<Options>;
  /** Set for a command that has no lake, and so none of {@link lakeOptions}. */
  readonly hasNoLake?: true;
  /** Stands at the end of its help. */
  readonly epilogue?: () => Promise<string>;
  run(given: Given, effects: Effects): Promise<void> | void;
}

/** Gives the body of a command the types of its options. */
export function command<
  const P extends Named<PositionalOptions> = Record<never, never>,
  const O extends Named<Options> = Record<never, never>,
>(
  parts: Pick<Command, 'hasNoLake' | 'epilogue'> & {
    readonly positionals?: P;
    readonly options?: O;
    run(given: Values<P> & Values<O> & LakeValues, effects: Effects): Promise<void> | void;
  },
): Command<Values<P> & Values<O> & LakeValues> {
  return parts;
}

/** Options of every command over a lake. */
export const lakeOptions = {
  output: { type: 'string', describe: 'folder of the lake (LOTLAKE_OUTPUT, default output)' },
  config: { type: 'string', describe: 'file of settings (default lotlake.config.json)' },
  json: { type: 'boolean', default: false, describe: 'machine-readable results and log' },
} as const satisfies Named<Options>;

/** Options of the sandbox's world. */
export const worldOptions = {
  vehicles: { type: 'string', default: '6000', describe: 'vehicles in the sandbox' },
  seed: { type: 'string', default: '1', describe: 'seed of the sandbox' },
  clock: { type: 'string', describe: 'time in the sandbox, ISO 8601 (default now)' },
} as const satisfies Named<Options>;

/** Options that choose a snapshot. */
export const snapshotOptions = {
  'as-of': {
    type: 'string',
    conflicts: 'snapshot',
    describe: 'ask the snapshot that was current then: an instant, or a date for its end (UTC)',
  },
  snapshot: { type: 'string', describe: 'ask the snapshot of this id' },
} as const satisfies Named<Options>;

/** The snapshot that {@link snapshotOptions} choose; undefined for the published one. */
export function choiceOf(given: {
  readonly asOf?: string | undefined;
  readonly snapshot: string | undefined;
}): Choice | undefined {
  if (given.asOf !== undefined) return { asOf: given.asOf };
  return given.snapshot === undefined ? undefined : { snapshot: given.snapshot };
}

/** Prints a result: as JSON if that is asked for, otherwise as text. */
export function print(effects: Effects, json: boolean, result: unknown, text: () => string): void {
  effects.out(`${json ? JSON.stringify(result) : text()}\n`);
}

/** Does work on a lake while no run changes it. */
export async function whileLocked<T>(
  config: Config,
  pipeline: string,
  effects: Effects,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await takeLock(layoutOf(config.output).lock, {
    ...{ pipeline, now: effects.now(), lease: config.lease, signal: effects.signal },
    onWait: (message) => effects.err(`${message}\n`),
  });
  try {
    return await work();
  } finally {
    lock.release();
  }
}
