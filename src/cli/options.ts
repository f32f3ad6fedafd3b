import type { PositionalOptions, Options as YargsOptions } from 'yargs';

/** Options and arguments by name. Arguments are those that the usage of the command names. */
export type Options = Readonly<Record<string, YargsOptions & PositionalOptions>>;

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
