/** What a lake must hold if it is made from a world of the sandbox, and ways to disturb the world meanwhile. */
import { readdirSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { join } from 'node:path';
import { nightly } from '../../pipelines/nightly.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import type { JobOptions } from '../../src/core/job/job.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { type Expectation, expectVehicle, unmet } from './record-oracle.js';
import {
  bareDuckDb,
  configFor,
  type PlainRow,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
  WITHOUT_MARTS,
} from './support.js';

/** Rows of every table of a lake. */
export type Lake = ReadonlyMap<string, readonly PlainRow[]>;

/** Every table and mart of the current snapshot below an output folder, read by a plain glob. */
export async function readLake(output: string): Promise<Lake> {
  const lake = join(output, 'lake', 'current');
  const duck = await bareDuckDb();
  const tables = new Map<string, readonly PlainRow[]>();
  for (const entry of readdirSync(lake, { withFileTypes: true }).filter((e) => e.isDirectory()))
    tables.set(entry.name, await duck.query(`select * from '${join(lake, entry.name, '**', '*.parquet')}'`));
  duck.close();
  return tables;
}

/** Rows of a table; empty if the lake lacks the table. */
export const rowsOf = (lake: Lake, table: string): readonly PlainRow[] => lake.get(table) ?? [];

/** Ids of the active vehicles of a lake, ascending; duplicates appear twice. */
export const activeIn = (lake: Lake): number[] =>
  rowsOf(lake, 'vehicles')
    .filter((row) => row.archived === false)
    .map((row) => Number(row.vehicle_id))
    .sort((a, b) => a - b);

const keyOf = (key: Readonly<Record<string, unknown>>, columns: readonly string[]): string =>
  columns.map((column) => String(key[column] ?? null)).join(' ');

/**
 * Differences between a lake and records: missing values and duplicate rows. If the lake saw only these records
 * (`all`), also rows that no record explains. Every table that the records fill is compared.
 */
export function differences(
  lake: Lake,
  records: readonly Parameters<typeof expectVehicle>[0][],
  all = true,
): string[] {
  const expectations = records.flatMap(expectVehicle);
  const found = unmet(expectations, lake)
    .slice(0, 5)
    .map((e) => `${e.table} ${e.path} is ${JSON.stringify(e.found)}, not ${JSON.stringify(e.value)}`);
  const byTable = new Map<string, Expectation[]>();
  for (const expectation of expectations) {
    const known = byTable.get(expectation.table);
    if (known === undefined) byTable.set(expectation.table, [expectation]);
    else known.push(expectation);
  }
  for (const [table, expected] of byTable) {
    const columns = Object.keys(expected[0]?.key ?? {});
    const keys = new Set(expected.map(({ key }) => keyOf(key, columns)));
    const stored = rowsOf(lake, table).map((row) => keyOf(row, columns));
    const distinct = new Set(stored);
    if (distinct.size !== stored.length)
      found.push(`${table} has ${stored.length - distinct.size} rows that stand there twice`);
    const more = [...distinct].filter((key) => !keys.has(key));
    if (all && more.length > 0) found.push(`${table} has ${more.length} rows too many: ${more.slice(0, 3)}`);
  }
  if (byTable.size < 10) found.push(`the records fill ${byTable.size} tables only`);
  return found;
}

/** Whether a request is for one record only, to learn the total. */
export const isProbe = (query: URLSearchParams): boolean => query.get('per_page') === '1';

/** One run of a pipeline over a sandbox, with its warnings. */
export interface Night {
  readonly result: RunResult;
  readonly warnings: readonly string[];
}

/** Settings of a run, the URL of its service, and how many minutes its clock is ahead of the sandbox's clock. */
type RunInput = ConfigInput & { readonly url?: string; readonly minutes?: number };

type Pipeline = (options: JobOptions) => Promise<RunResult>;

/** A sandbox, an output folder and the nights between them. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly output: string;
  /** Runs `nightly`. Its clock is `minutes` ahead of the sandbox's clock. */
  night(more?: RunInput): Promise<Night>;
  /** Runs another pipeline in the same way. */
  run(pipeline: Pipeline, more?: RunInput): Promise<Night>;
  lake(): Promise<Lake>;
  /** Page numbers of the requests for `/cars`, in order and without probes. `since` skips that many requests. */
  pagesAsked(since?: number): number[];
  close(): Promise<void>;
}

/** Options of a sandbox, and whether it has the lists of its catalog. */
export type StageOptions = SandboxOptions & { readonly catalog?: boolean };

/** Sets up a stage. Each of its nights uses `config`. */
export async function setUp(
  { catalog = false, faults, ...options }: StageOptions,
  config: ConfigInput = {},
): Promise<Stage> {
  const rules =
    typeof faults === 'function' ? faults : [...(faults ?? []), ...(catalog ? [] : WITHOUT_CATALOG)];
  const sandbox = await startSandbox({ ...options, faults: rules });
  const folder = temporaryFolder();
  const run: Stage['run'] = async (pipeline, { url = sandbox.url, minutes = 0, ...more } = {}) => {
    const now = new Date(sandbox.clock.getTime() + minutes * 60_000);
    const reporter = silentReporter();
    const given = configFor(url, folder.path, { perPage: 20, ...config, ...more });
    const result = await pipeline({ ...WITHOUT_MARTS, config: given, reporter, now: () => now });
    return { result, warnings: reporter.warnings };
  };
  return {
    sandbox,
    output: folder.path,
    night: (more) => run(nightly, more),
    run,
    lake: () => readLake(folder.path),
    pagesAsked: (since = 0) =>
      sandbox.requests
        .slice(since)
        .filter((entry) => entry.path === '/cars' && !isProbe(new URLSearchParams(entry.query)))
        .map((entry) => Number(new URLSearchParams(entry.query).get('page'))),
    close: async () => {
      await sandbox.close();
      folder.remove();
    },
  };
}

/** What a proxy does with a request: it changes the request, answers with a status, or passes the request on. */
export type Turn = (url: URL) => URL | { readonly status: number; readonly body: unknown };

/** A server that passes requests on to a sandbox. `turn` sees paths with their prefix, such as `/api/cars`. */
export async function standBetween(
  sandbox: Sandbox,
  turn: Turn,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', sandbox.url);
    response.sendDate = false;
    const turned = turn(url);
    if (!(turned instanceof URL)) {
      response.writeHead(turned.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(turned.body));
      return;
    }
    const { host: _, ...headers } = request.headers;
    const passed = forward(turned, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/api`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
