import { readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DuckDBInstance,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api';
import { expect } from 'vitest';
import { type Config, type ConfigInput, readConfig } from '../../src/base/config/config.js';
import { makeScratch } from '../../src/base/config/owned.js';
import type { Reporter } from '../../src/core/job/job.js';
import type { Modelling } from '../../src/core/model/own-models.js';
import type { FaultRule } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';

/** A reporter that keeps steps and warnings. */
export function silentReporter(): Reporter & { readonly warnings: string[]; readonly steps: string[] } {
  const warnings: string[] = [];
  const steps: string[] = [];
  return {
    warnings,
    steps,
    step: (name, detail) => steps.push(`${name} ${detail ?? ''}`),
    progress: () => undefined,
    warn: (message) => warnings.push(message),
  };
}

/** A temporary output folder, with a function that removes it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = makeScratch(join(tmpdir(), 'lotlake-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Removes the lists of the catalog and the cities from a sandbox. They take some 130 requests of a first night, which
 * suites about other tables do not need.
 */
export const WITHOUT_CATALOG: readonly FaultRule[] = [
  /^\/models\//,
  /^\/generations\//,
  /^\/usa\/cities\//,
].map((path) => ({ match: { path }, fault: { kind: 'not-found' } }));

/** A configuration for a server of the test. It uses one thread, because suites run side by side. */
export function configFor(url: string, output: string, more: ConfigInput = {}): Config {
  return readConfig(
    {
      baseUrl: url,
      origin: 'test',
      output,
      rate: 10_000,
      retryBudget: 5,
      memory: '700MB',
      threads: 1,
      ...more,
    },
    { env: { LOTLAKE_API_KEY: 'sandbox-key' }, cwd: output },
  );
}

/** More values that break the contract than a record may have: a record with them is rejected whole. */
export const UNREADABLE_LIST: readonly unknown[] = Array.from({ length: 10_001 }, () => 0);

/** Computes only the mart with the alarms, and the models that it reads. */
export const healthMart = (): Partial<Modelling> => ({ models: modelsOf(['data_health']), checks: [] });

/** Computes no models and checks, for suites about the tables of the lake. */
export const WITHOUT_MARTS = { modelling: { models: [], checks: [] } } as const;

/** The answer of a hand-made server to one request. */
export type Respond = (url: URL, request: IncomingMessage) => { status?: number; body: unknown };

/** A server on 127.0.0.1 that answers with JSON, and the requests that it received. */
export async function serve(
  respond: Respond,
): Promise<{ readonly url: string; readonly requests: string[]; close(): Promise<void> }> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    requests.push(`${url.pathname}${url.search}`);
    const { status = 200, body } = respond(url, request);
    // The clocks of the runs are not this machine's.
    response.sendDate = false;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  // On a busy machine a connection may idle for seconds. If the server closes it just before it is used again, the
  // request fails.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/api`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The only or last page of a list. */
export function lastPage(data: readonly unknown[]): object {
  return {
    data,
    links: { first: null, last: null, prev: null, next: null },
    meta: { path: 'http://service.example/api' },
  };
}

/** A row of a query in a bare DuckDB. Integers are numbers; other values are as in JSON. */
export type PlainRow = Readonly<Record<string, unknown>>;

/** Runs queries in a DuckDB without any settings of lotlake. */
export async function bareDuckDb(): Promise<{
  query(sql: string): Promise<PlainRow[]>;
  close(): void;
}> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  return {
    query: async (sql) => {
      const reader = await connection.runAndReadAll(sql);
      const types = reader.columnNames().map((_, i) => String(reader.columnType(i)));
      return reader
        .convertRowObjects(jsonInUtc)
        .map((row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value], i) => [
              name,
              /^(U?BIGINT|HUGEINT)$/.test(types[i] ?? '') && value !== null ? Number(value) : value,
            ]),
          ),
        );
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** DuckDB's converter writes instants in the time zone of the process. This one writes them in UTC. */
const jsonInUtc: DuckDBValueConverter<Json> = (value, type, converter) =>
  value instanceof DuckDBTimestampTZValue
    ? `${new DuckDBTimestampValue(value.micros)}+00`
    : JsonDuckDBValueConverter(value, type, converter);

/** Every table and mart of a published lake, read by a plain glob. */
export async function readLake(lake: string): Promise<Map<string, PlainRow[]>> {
  const duck = await bareDuckDb();
  const tables = new Map<string, PlainRow[]>();
  for (const entry of readdirSync(lake, { withFileTypes: true }).filter((e) => e.isDirectory()))
    tables.set(entry.name, await duck.query(`select * from '${join(lake, entry.name, '**', '*.parquet')}'`));
  duck.close();
  return tables;
}

/** Rows in an order that does not depend on the files. */
export const inOrder = (rows: readonly PlainRow[] | undefined): string[] =>
  (rows ?? []).map((row) => JSON.stringify(row)).sort();

/**
 * Compares a rebuilt lake with the lake before, row by row. The mart data_health describes runs, so it is left out, and
 * so are the columns of `runs` that are known only at the end of a run.
 */
export function expectSameLake(
  rebuilt: ReadonlyMap<string, readonly PlainRow[]>,
  before: ReadonlyMap<string, readonly PlainRow[]>,
): void {
  expect([...rebuilt.keys()].sort()).toEqual([...before.keys()].sort());
  for (const [name, rows] of before) {
    if (name === 'data_health') continue;
    // The rebuild itself is new, and so are runs and passes since the last run that published.
    const known = new Set(rows.map((row) => row.run_id));
    const isNew = (row: PlainRow): boolean =>
      (name === 'runs' || (name === 'passes' && row.state === 'abandoned')) && !known.has(row.run_id);
    const own = rebuilt.get(name)?.filter((row) => !isNew(row));
    const comparable = name === 'runs' ? withoutEnd : (row: PlainRow) => row;
    expect(inOrder(own?.map(comparable)), name).toEqual(inOrder(rows.map(comparable)));
  }
}

const withoutEnd = ({
  ended_at,
  stages,
  requests,
  retries,
  warnings,
  used_bytes,
  free_bytes,
  ...row
}: PlainRow) => row;
