#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import type { Argv } from 'yargs';
import type { ConfigInput } from '../config/config.js';
import type { Choice } from '../lake/snapshots.js';
import type { Effects } from './effects.js';
// First: a signal that comes while the other modules load is met, too.
import { end, fail, stopSignal, streams } from './ending.js';
import type { Known } from './usage-error.js';

const { default: yargs } = await import('yargs');
const { hideBin } = await import('yargs/helpers');
const { ConfigError } = await import('../config/lotlake-error.js');
const { version } = await import('../config/package-root.js');
const { DEFAULT_MAX_BYTES, exportFormats, exportProfiles } = await import('../export/request.js');
const { formats } = await import('../query/formats.js');
const { instant, positiveNumber, wholeNumber } = await import('./option-values.js');
const { widthOf } = await import('./streams.js');
const { UsageError, usageError } = await import('./usage-error.js');

const effects: Effects = {
  ...streams,
  now: () => new Date(),
  env: process.env,
  cwd: process.cwd(),
  isTerminal: process.stderr.isTTY,
  width: widthOf(process.stdout, process.env),
  input: () => buffer(process.stdin),
  signal: stopSignal,
};

interface Shared {
  readonly output: string | undefined;
  readonly config: string | undefined;
  readonly json: boolean;
}

function shared<T>(args: Argv<T>): Argv<T & Shared> {
  return args
    .option('output', { type: 'string', describe: 'folder of the lake (LOTLAKE_OUTPUT, default output)' })
    .option('config', { type: 'string', describe: 'file of settings (default lotlake.config.json)' })
    .option('json', { type: 'boolean', default: false, describe: 'machine-readable results and log' });
}

const worldOptions = {
  vehicles: { type: 'string', default: '6000', describe: 'vehicles in the sandbox' },
  seed: { type: 'string', default: '1', describe: 'seed of the sandbox' },
  clock: { type: 'string', describe: 'time in the sandbox, ISO 8601 (default now)' },
} as const;

/** The sandbox's world. Throws ConfigError for what it cannot be. */
const worldOf = (args: { vehicles: string; seed: string; clock: string | undefined }) => ({
  vehicles: wholeNumber('--vehicles', args.vehicles, 1, 4_000_000),
  seed: wholeNumber('--seed', args.seed, 0, 2 ** 32 - 1),
  clock: args.clock === undefined ? undefined : instant('--clock', args.clock),
});

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

function configOf({ output, config: configFile }: Pick<Shared, 'output' | 'config'>): ConfigInput {
  return { ...(output === undefined ? {} : { output }), configFile };
}

const pipelines = ['nightly', 'incremental', 'reference', 'closing', 'rebuild'] as const;

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
          choices: pipelines,
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
      await run({ ...args, ...worldOf(args), config }, effects);
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
          port: { type: 'string', default: '8787', describe: 'port on 127.0.0.1' },
          plan: {
            choices: ['demo', 'small', 'unlimited'] as const,
            default: 'unlimited' as const,
            describe: 'plan of the key',
          },
          rate: { type: 'string', describe: 'requests a second before it answers 429' },
        }),
    async (args) => {
      const { sandbox } = await import('./commands/sandbox.js');
      const port = wholeNumber('--port', args.port, 0, 65_535);
      const rate = args.rate === undefined ? undefined : positiveNumber('--rate', args.rate, 1e6);
      await sandbox({ ...worldOf(args), port, plan: args.plan, rate }, effects);
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
        .positional('domain', { type: 'string', describe: 'source (1, 3 or 12); needed for listing' })
        .option('save', { type: 'boolean', default: false, describe: 'add what comes to the lake' }),
    async (args) => {
      const { lookup } = await import('./commands/lookup.js');
      const { domain: given } = args;
      const domain = given === undefined ? undefined : wholeNumber('the source', given, 1, 999);
      await lookup({ ...args, domain, config: configOf(args) }, effects);
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
    (args) => shared(args).option('limit', { type: 'string', default: '20', describe: 'runs to list' }),
    async (args) => {
      const { runs } = await import('./commands/runs.js');
      const limit = wholeNumber('--limit', args.limit, 1, 1e9);
      await runs({ limit, json: args.json, config: configOf(args) }, effects);
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
    throw usageError(message, hideBin(process.argv), { ...knownTo(usage), pipelines });
  });

/** What yargs knows where it fails; its types leave these methods out. */
function knownTo(usage: object): Omit<Known, 'pipelines'> {
  const of = (object: object, method: string): unknown =>
    Reflect.apply(Reflect.get(object, method), object, []);
  const named = (list: unknown): string[] => (Array.isArray(list) ? list.map(([name]) => String(name)) : []);
  const options = Object.keys(Object(Reflect.get(Object(of(cli, 'getOptions')), 'key')));
  const [command = ''] = named(of(usage, 'getUsage'));
  return { commands: named(of(usage, 'getCommands')), command: command.replace('$0 ', ''), options };
}

/** Arguments that are lists; `--columns` may be given twice. */
const LISTS: ReadonlySet<string> = new Set(['_', 'tables', 'columns']);

/** Reads `--show`, which may stand without a number. Throws ConfigError for what is no count. */
function rowsToShow(given: string | undefined): number {
  if (given === undefined) return 0;
  const rows = given === '' ? 20 : Number(given);
  if (Number.isInteger(rows) && rows >= 0) return rows;
  throw new ConfigError(`--show: ${given} is no number of rows`);
}

try {
  await cli.parseAsync();
  await streams.finish();
} catch (error) {
  fail(error);
}
await end();
