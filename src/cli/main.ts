#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import type { Argv } from 'yargs';
import type { Command } from './command.js';
import type { Effects } from './effects.js';
// First, so that a signal is handled while the other modules load.
import { end, fail, stopSignal, streams } from './ending.js';
import type { Known } from './usage-error.js';

const { default: yargs } = await import('yargs');
const { hideBin } = await import('yargs/helpers');
const { version } = await import('../config/package-root.js');
const { lakeOptions } = await import('./command.js');
const { UsageError, usageError } = await import('./usage-error.js');

const columns = Number(process.env.COLUMNS);
const { CI = '', TERM } = process.env;
const isLive = process.stderr.isTTY && TERM !== 'dumb' && (CI === '' || CI === 'false');
const effects: Effects = {
  ...streams,
  now: () => new Date(),
  env: process.env,
  cwd: process.cwd(),
  columns: () => (isLive ? process.stderr.columns || 80 : undefined),
  width: process.stdout.columns ?? (Number.isInteger(columns) && columns > 0 ? columns : undefined),
  input: () => buffer(process.stdin),
  signal: stopSignal,
};

/** A command of any options; yargs has checked what it is given. */
type AnyCommand = Command<never>;

/** The sentence of each command, by its name and arguments. */
const COMMANDS = {
  'run <pipeline>':
    'run a pipeline: nightly (full pass), incremental (changes since), reference (catalog and lists), closing (prices of lots that left), or rebuild from landing',
  sandbox: 'serve the embedded service on 127.0.0.1',
  init: 'write a file of settings with comments, lotlake.config.json',
  config: 'list the settings in force and where each comes from',
  doctor: 'check machine, configuration, lake and service, and say what to do',
  'query [sql]': 'answer a query over the published lake',
  'export <tables..>': 'write tables and marts with dictionary and checksums into a folder to hand over',
  report: 'write the report of the published lake as one HTML file',
  'lookup <kind> <id> [domain]': 'ask the service for one vehicle',
  'value [id]': 'say what a lot, or a car of a make, model and year, is worth, and how sure that is',
  audit: "compare the service's counts with the lake's active vehicles",
  tables: 'list the tables and marts',
  'describe <table>': 'describe a table or mart and its columns',
  docs: 'write pages about every table and column: lineage, null rates, examples, tests',
  status: 'say what is wrong, published, landed and running',
  runs: 'list the runs that published, newest first',
  rejects: 'list the records that break the contract, by place and reason',
  test: 'run the data tests on a snapshot, and show the rows that fail',
  'model [mirror]': 'compute the marts of a snapshot beside it, on DuckDB or Spark, and run the data tests',
  'diff <before> [after]':
    'say which rows and columns differ between two snapshots, or a snapshot and what lotlake model computed',
  verify: 'check every file of a snapshot against its manifest, and its data tests',
  vacuum: 'remove snapshots and passes that are past retention, and what dead runs left',
  backup: 'copy the lake to another folder, sound and with the links between its snapshots',
  'push [to]': 'copy the published lake to its mirror in object storage',
  'pull [to]': 'make the lake from its mirror in object storage',
} as const;

/** A command is loaded when it is named, so that no other one pays for it. */
const LOADERS: Readonly<Record<keyof typeof COMMANDS, () => Promise<AnyCommand>>> = {
  'run <pipeline>': async () => (await import('./commands/run.js')).run,
  sandbox: async () => (await import('./commands/sandbox.js')).sandbox,
  init: async () => (await import('./commands/init.js')).init,
  config: async () => (await import('./commands/config.js')).config,
  doctor: async () => (await import('./commands/doctor.js')).doctor,
  'query [sql]': async () => (await import('./commands/query.js')).query,
  'export <tables..>': async () => (await import('./commands/export.js')).exportTables,
  report: async () => (await import('./commands/report.js')).report,
  'lookup <kind> <id> [domain]': async () => (await import('./commands/lookup.js')).lookup,
  'value [id]': async () => (await import('./commands/value.js')).value,
  audit: async () => (await import('./commands/audit.js')).audit,
  tables: async () => (await import('./commands/tables.js')).tables,
  'describe <table>': async () => (await import('./commands/tables.js')).describe,
  docs: async () => (await import('./commands/docs.js')).docs,
  status: async () => (await import('./commands/status.js')).status,
  runs: async () => (await import('./commands/runs.js')).runs,
  rejects: async () => (await import('./commands/rejects.js')).rejects,
  test: async () => (await import('./commands/test.js')).test,
  'model [mirror]': async () => (await import('./commands/model.js')).model,
  'diff <before> [after]': async () => (await import('./commands/diff.js')).diff,
  verify: async () => (await import('./commands/verify.js')).verify,
  vacuum: async () => (await import('./commands/vacuum.js')).vacuum,
  backup: async () => (await import('./commands/backup.js')).backup,
  'push [to]': async () => (await import('./commands/push.js')).push,
  'pull [to]': async () => (await import('./commands/pull.js')).pull,
};

async function withOptions(args: Argv, usage: string, load: () => Promise<AnyCommand>): Promise<void> {
  const { options = {}, hasNoLake, epilogue } = await load();
  if (hasNoLake !== true) args.options(lakeOptions);
  if (epilogue !== undefined && process.argv.includes('--help')) args.epilogue(await epilogue());
  for (const [name, about] of Object.entries(options))
    if (new RegExp(`[<[]${name}\\W`).test(usage)) args.positional(name, about);
    else args.option(name, about);
}

async function run(load: () => Promise<AnyCommand>, args: Readonly<Record<string, unknown>>): Promise<void> {
  const { output, config: configFile } = args;
  const config = { ...(output === undefined ? {} : { output }), configFile };
  const { run: body } = await load();
  await Reflect.apply(body, undefined, [{ ...args, config }, effects]);
}

/** Arguments that are lists; `--columns` may be given twice. */
const LISTS: ReadonlySet<string> = new Set(['_', 'tables', 'columns']);

const cli = yargs(hideBin(process.argv))
  .scriptName('lotlake')
  .usage('$0 <command>\n\nVehicle-auction data feed to a columnar analytics lake.');
for (const [usage, load] of Object.entries(LOADERS))
  cli.command(
    usage,
    Reflect.get(COMMANDS, usage),
    (args) => withOptions(args, usage, load),
    (args) => run(load, args),
  );
cli
  .demandCommand(1)
  .strict()
  .detectLocale(false)
  .version(version)
  .wrap(Math.min(110, process.stdout.columns ?? 110))
  .check((args) => {
    for (const [name, value] of Object.entries(args))
      if (Array.isArray(value) && !LISTS.has(name))
        throw new UsageError(`--${name} is given twice`, 'give it once');
    return true;
  })
  .fail((message, error, usage) => {
    if (error !== undefined && error !== null) throw error;
    throw usageError(message, hideBin(process.argv), knownTo(usage));
  });

/** What yargs knows about the command line when it fails; its types lack these methods. */
function knownTo(usage: object): Known {
  const of = (object: object, method: string): unknown =>
    Reflect.apply(Reflect.get(object, method), object, []);
  const named = (list: unknown): string[] => (Array.isArray(list) ? list.map(([name]) => String(name)) : []);
  const options = Object.keys(Object(Reflect.get(Object(of(cli, 'getOptions')), 'key')));
  const [command = ''] = named(of(usage, 'getUsage'));
  return { commands: named(of(usage, 'getCommands')), command: command.replace('$0 ', ''), options };
}

try {
  await cli.parseAsync();
  await streams.finish();
} catch (error) {
  fail(error);
}
await end();
