#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import type { ConfigInput } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import { LotlakeError } from '../config/lotlake-error.js';
import { version } from '../config/version.js';
import type { Choice } from '../lake/snapshots.js';
import { DEFAULT_MAX_BYTES, exportFormats, exportProfiles } from '../share/export/request.js';
import { formats } from '../share/formats.js';
import type { Effects } from './effects.js';
import { exitCodes } from './exit-code.js';
import { openStreams, widthOf } from './streams.js';

const stop = new AbortController();
const streams = openStreams(process);
const effects: Effects = {
  ...streams,
  now: () => new Date(),
  env: process.env,
  cwd: process.cwd(),
  isTerminal: process.stderr.isTTY,
  width: widthOf(process.stdout, process.env),
  input: () => buffer(process.stdin),
  signal: stop.signal,
};

interface Shared {
  readonly output: string | undefined;
  readonly json: boolean;
}

function shared<T>(args: Argv<T>): Argv<T & Shared> {
  return args
    .option('output', { type: 'string', describe: 'folder of the lake (LOTLAKE_OUTPUT, default output)' })
    .option('json', { type: 'boolean', default: false, describe: 'machine-readable results and log' });
}

const worldOptions = {
  vehicles: { type: 'number', default: 6000, describe: 'vehicles in the sandbox' },
  seed: { type: 'number', default: 1, describe: 'seed of the sandbox' },
  clock: { type: 'string', describe: 'time in the sandbox, ISO 8601 (default now)' },
} as const;

const snapshotOptions = {
  'as-of': {
    type: 'string',
    conflicts: 'snapshot',
    describe: 'ask the snapshot that was current then: an instant, or a date for its end (UTC)',
  },
  snapshot: { type: 'string', describe: 'ask the snapshot of this id' },
} as const;

function choiceOf(args: { asOf: string | undefined; snapshot: string | undefined }): Choice | undefined {
  if (args.asOf !== undefined) return { asOf: args.asOf };
  return args.snapshot === undefined ? undefined : { snapshot: args.snapshot };
}

const configOf = (args: { output: string | undefined }): ConfigInput =>
  args.output === undefined ? {} : { output: args.output };

// The list is long and only asked for here, so that no other command pays for loading it.
const endpoints =
  process.argv[2] === 'sandbox' && process.argv.includes('--help')
    ? (await import('../sandbox/endpoints/help.js')).endpointHelp()
    : '';

const cli = yargs(hideBin(process.argv))
  .scriptName('lotlake')
  .usage('$0 <command>\n\nVehicle-auction data feed to a columnar analytics lake.')
  .command(
    'run <pipeline>',
    'run a pipeline: nightly (full pass), incremental (changes since), reference (catalog and lists), closing (prices of lots that left), or rebuild from landing',
    (args) =>
      shared(args)
        .positional('pipeline', {
          choices: ['nightly', 'incremental', 'reference', 'closing', 'rebuild'] as const,
          demandOption: true,
        })
        .option('sandbox', {
          type: 'boolean',
          default: false,
          describe: 'run against the embedded service; writes to output/sandbox unless told otherwise',
        })
        .options(worldOptions)
        .option('everything', {
          type: 'boolean',
          default: false,
          describe: 'reference: walk into catalog entries without a vehicle in the feed, too',
        })
        .option('allow-shrink', { type: 'boolean', describe: 'archive for absence past the shrink guard' })
        .option('sources', {
          type: 'string',
          describe: 'sources to ask for one by one, such as 1,3 (LOTLAKE_SOURCES)',
        }),
    async (args) => {
      const { run } = await import('./commands/run.js');
      const { allowShrink, sources } = args;
      const config = { ...configOf(args), allowShrink, sources };
      await run({ ...args, config }, effects);
    },
  )
  .command(
    'sandbox',
    'serve the embedded service on 127.0.0.1',
    (args) =>
      args
        .epilogue(endpoints)
        .options(worldOptions)
        .options({
          port: { type: 'number', default: 8787, describe: 'port on 127.0.0.1' },
          plan: {
            choices: ['demo', 'small', 'unlimited'] as const,
            default: 'unlimited' as const,
            describe: 'plan of the key',
          },
          rate: { type: 'number', describe: 'requests a second before it answers 429' },
        }),
    async (args) => {
      const { sandbox } = await import('./commands/sandbox.js');
      await sandbox(args, effects);
    },
  )
  .command(
    'query [sql]',
    'answer a query over the published lake',
    (args) =>
      shared(args)
        .positional('sql', {
          type: 'string',
          describe: 'one SELECT; tables and marts by name; - reads it from standard input',
        })
        .option('file', { type: 'string', describe: 'file with the query, instead of the argument' })
        .option('format', { choices: formats, default: 'table' as const, describe: 'form of the result' })
        .option('rows', { type: 'string', describe: 'rows that table and vertical show (default 40)' })
        .options(snapshotOptions),
    async (args) => {
      const { query } = await import('./commands/query.js');
      const format = args.json ? 'json' : args.format;
      const { file, rows } = args;
      // yargs gives a lone dash as an empty text.
      const sql = args.sql === '' && process.argv.includes('-') ? '-' : args.sql;
      await query({ sql, file, format, rows, choice: choiceOf(args), config: configOf(args) }, effects);
    },
  )
  .command(
    'export <tables..>',
    'write tables and marts with dictionary and checksums into a folder to hand over',
    (args) =>
      shared(args)
        .positional('tables', {
          type: 'string',
          array: true,
          demandOption: true,
          describe: 'tables and marts',
        })
        .option('to', { type: 'string', demandOption: true, describe: 'folder to make' })
        .option('where', { type: 'string', describe: 'one SQL expression over the table: rows to export' })
        .option('columns', { type: 'string', describe: 'columns to export, such as lot_id,bid' })
        .option('format', {
          choices: exportFormats,
          default: 'parquet' as const,
          describe: 'format of the data',
        })
        .option('profile', {
          choices: exportProfiles,
          default: 'default' as const,
          describe: 'compat: Parquet that old readers know',
        })
        .option('max-bytes', { type: 'string', default: DEFAULT_MAX_BYTES, describe: 'size of a data file' })
        .option('bom', { type: 'boolean', describe: 'begin CSV with a byte order mark, as Excel wants' })
        .option('zip', { type: 'boolean', describe: 'make one .zip instead of a folder' })
        .option('force', { type: 'boolean', describe: 'replace an earlier export' })
        .options(snapshotOptions),
    async (args) => {
      const { exportTables } = await import('./commands/export.js');
      // An option that is given twice is a list.
      const names = args.columns === undefined ? undefined : String(args.columns).split(',');
      const input = { ...args, columns: names?.flatMap((name) => name.trim() || []) };
      await exportTables({ input, choice: choiceOf(args), json: args.json, config: configOf(args) }, effects);
    },
  )
  .command(
    'report',
    'write the report of the published lake as one HTML file',
    (args) =>
      shared(args).option('to', {
        type: 'string',
        describe: 'file (default report.html in the output folder)',
      }),
    async (args) => {
      const { report } = await import('./commands/report.js');
      await report({ to: args.to, json: args.json, config: configOf(args) }, effects);
    },
  )
  .command(
    'lookup <kind> <id> [domain]',
    'ask the service for one vehicle',
    (args) =>
      shared(args)
        .positional('kind', { choices: ['vin', 'lot', 'car', 'listing'] as const, demandOption: true })
        .positional('id', {
          type: 'string',
          demandOption: true,
          describe: 'VIN, lot number, vehicle id or listing id',
        })
        .positional('domain', { type: 'number', describe: 'source (1, 3 or 12); needed for listing' })
        .option('save', { type: 'boolean', default: false, describe: 'add what comes to the lake' }),
    async (args) => {
      const { lookup } = await import('./commands/lookup.js');
      await lookup({ ...args, config: configOf(args) }, effects);
    },
  )
  .command('audit', "compare the service's counts with the lake's active vehicles", shared, async (args) => {
    const { audit } = await import('./commands/audit.js');
    await audit({ json: args.json, config: configOf(args) }, effects);
  })
  .command('tables', 'list the tables and marts', shared, async (args) => {
    const { tables } = await import('./commands/tables.js');
    tables({ json: args.json, config: configOf(args) }, effects);
  })
  .command(
    'describe <table>',
    'describe a table or mart and its columns',
    (args) => shared(args).positional('table', { type: 'string', demandOption: true }),
    async (args) => {
      const { describe } = await import('./commands/tables.js');
      describe({ table: args.table, json: args.json, config: configOf(args) }, effects);
    },
  )
  .command(
    'docs',
    'write pages about every table and column: lineage, null rates, examples, tests',
    (args) =>
      shared(args)
        .option('to', { type: 'string', describe: 'folder of the pages (default docs in the output folder)' })
        .option('markdown', {
          type: 'string',
          conflicts: 'to',
          describe: 'write what needs no lake as one Markdown file instead',
        }),
    async (args) => {
      const { docs } = await import('./commands/docs.js');
      const { to, markdown, json } = args;
      await docs({ to, markdown, json, config: configOf(args) }, effects);
    },
  )
  .command('status', 'say what is wrong, published, landed and running', shared, async (args) => {
    const { status } = await import('./commands/status.js');
    await status({ json: args.json, config: configOf(args) }, effects);
  })
  .command(
    'runs',
    'list the runs that published, newest first',
    (args) => shared(args).option('limit', { type: 'number', default: 20, describe: 'runs to list' }),
    async (args) => {
      const { runs } = await import('./commands/runs.js');
      await runs({ limit: args.limit, json: args.json, config: configOf(args) }, effects);
    },
  )
  .command(
    'rejects',
    'list the records that break the contract, by place and reason',
    (args) =>
      shared(args)
        .option('run', { type: 'string', describe: 'rejected by this run alone' })
        .option('stream', { type: 'string', describe: 'of this stream alone' }),
    async (args) => {
      const { rejects } = await import('./commands/rejects.js');
      const { run, stream, json } = args;
      await rejects({ run, stream, json, config: configOf(args) }, effects);
    },
  )
  .command(
    'test',
    'run the data tests on a snapshot, and show the rows that fail',
    (args) =>
      shared(args)
        .option('show', {
          type: 'string',
          describe: 'show the failing rows, so many of each test (20 where no number is given)',
        })
        .option('kept', {
          type: 'boolean',
          default: false,
          describe: 'what the last run kept, also one that was held',
        })
        .option('model', { type: 'string', describe: 'tests of this mart alone, or checks' })
        .option('snapshot', { type: 'string', describe: 'id (default the published one)' }),
    async (args) => {
      const { test } = await import('./commands/test.js');
      const { kept, model, snapshot, json } = args;
      const choice = snapshot === undefined ? undefined : { snapshot };
      await test({ show: rowsToShow(args.show), kept, model, choice, json, config: configOf(args) }, effects);
    },
  )
  .command(
    'verify',
    'check every file of a snapshot against its manifest, and its data tests',
    (args) => shared(args).option('snapshot', { type: 'string', describe: 'id (default the published one)' }),
    async (args) => {
      const { verify } = await import('./commands/verify.js');
      await verify({ snapshot: args.snapshot, json: args.json, config: configOf(args) }, effects);
    },
  )
  .command(
    'vacuum',
    'remove snapshots and passes that are past retention, and what dead runs left',
    (args) =>
      shared(args).option('dry-run', { type: 'boolean', default: false, describe: 'say it, remove nothing' }),
    async (args) => {
      const { vacuum } = await import('./commands/vacuum.js');
      await vacuum({ dryRun: args.dryRun, json: args.json, config: configOf(args) }, effects);
    },
  )
  .command(
    'backup',
    'copy the lake to another folder, sound and with the links between its snapshots',
    (args) =>
      shared(args)
        .option('to', { type: 'string', demandOption: true, describe: 'folder to make' })
        .option('force', { type: 'boolean', default: false, describe: 'replace an earlier backup' }),
    async (args) => {
      const { backup } = await import('./commands/backup.js');
      await backup({ to: args.to, force: args.force, json: args.json, config: configOf(args) }, effects);
    },
  )
  .demandCommand(1, 'name a command')
  .strict()
  .version(version)
  .wrap(Math.min(110, process.stdout.columns ?? 110))
  .fail((message, error, args) => {
    if (error !== undefined && error !== null) throw error;
    effects.err(`${message}\n\n`);
    args.showHelp('error');
    process.exitCode = exitCodes.usage;
    throw new UsageShown();
  });

/** Reads `--show`, which may stand without a number. Throws ConfigError for what is no count. */
function rowsToShow(given: string | undefined): number {
  if (given === undefined) return 0;
  const rows = given === '' ? 20 : Number(given);
  if (Number.isInteger(rows) && rows >= 0) return rows;
  throw new ConfigError(`--show: ${given} is no number of rows`);
}

class UsageShown extends Error {}

function fail(error: unknown): void {
  if (error instanceof UsageShown) return;
  if (stop.signal.aborted) {
    tellInterrupted(GO_ON[process.argv[2] ?? ''] ?? 'run the same command again');
    process.exitCode = exitCodes.interrupted;
    return;
  }
  if (process.argv.includes('--json')) {
    const known =
      error instanceof LotlakeError ? { code: error.code, stage: error.stage, hint: error.hint } : {};
    const message = error instanceof Error ? error.message : String(error);
    effects.err(`${JSON.stringify({ error: { message, ...known } })}\n`);
    process.exitCode = error instanceof LotlakeError ? exitCodes[error.outcome] : exitCodes.failed;
    return;
  }
  if (error instanceof LotlakeError) {
    effects.err(`${error.stage}: ${error.message} [${error.code}]\n`);
    if (error.hint !== undefined) effects.err(`  ${error.hint}\n`);
    if (process.env.LOTLAKE_LOG === 'debug') effects.err(`${error.stack}\n`);
    process.exitCode = exitCodes[error.outcome];
    return;
  }
  effects.err(`unexpected: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = exitCodes.failed;
}

/** What to do after an interrupt, by command. */
const GO_ON: Readonly<Record<string, string>> = {
  run: 'the last snapshot stays current and what has landed is kept; run the same command again to go on',
  backup: 'the lake is as it was and nothing is left of the copy; run the same command again',
  vacuum: 'the lake is whole; run the same command again to remove the rest',
};

function tellInterrupted(advice: string): void {
  const message = `interrupted: ${advice}`;
  const isJson = process.argv.includes('--json');
  effects.err(`${isJson ? JSON.stringify({ error: { message } }) : message}\n`);
}

/** A second signal that comes sooner, in milliseconds, is the first one, handed on by npm beside the terminal. */
const SAME_SIGNAL = 1000;
let interruptedAt: number | undefined;

/** Ends the command at the next safe point, and at once where the user asks again. */
function interrupt(): void {
  const now = performance.now();
  interruptedAt ??= now;
  stop.abort();
  if (now - interruptedAt < SAME_SIGNAL) return;
  tellInterrupted('ended at once; lotlake status tells what is published, and vacuum removes what is left');
  process.exit(exitCodes.interrupted);
}

for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);

try {
  await cli.parseAsync();
  await streams.finish();
} catch (error) {
  fail(error);
  // What a reader has not taken would keep the process until it does.
  if (stop.signal.aborted && process.stdout.writableLength > 0) process.exit();
}
