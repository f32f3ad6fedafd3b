import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type Reading, readLake, withDatabase } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import type { Config } from '../../base/config/config.js';
import { ConfigError } from '../../base/config/lotlake-error.js';
import { clip, count, counted, printable } from '../../base/config/printable.js';
import { literal, rows } from '../../base/duck/session.js';
import type { TestFailures } from '../../core/job/beside.js';
import { layoutOf } from '../../core/lake/layout.js';
import type { Manifest } from '../../core/lake/manifest.js';
import { assertTests, isTestedNightly, runDataTests } from '../../core/model/data-tests.js';
import { readKeptTests } from '../../core/model/failed-rows.js';
import { type Modelling, modellingOf } from '../../core/model/own-models.js';
import { checkTests } from '../../core/model/read-only.js';
import { command, type Lines } from '../command.js';
import { unknownModel } from '../select-models.js';

/** Runs the data tests on a snapshot, or shows the failing rows that the last run kept. */
export const test = command({
  options: {
    show: {
      type: 'string',
      describe: 'show the failing rows, so many of each test (20 where no number is given)',
    },
    kept: { type: 'boolean', default: false, describe: 'what the last run kept, also one that was held' },
    model: { type: 'string', describe: 'tests of this mart alone, or checks' },
    snapshot: { type: 'string', describe: 'id (default the published one)' },
  },
  async run({ show: given, kept, model, print, config, ...choice }, { signal }) {
    const show = rowsToShow(given);
    const found = kept
      ? await readKept(config, show)
      : await testLake(config, model, { choice, signal }, show);
    if (found === undefined) return print([], () => 'no data test of the last run failed');
    print(found.listed, () => text(found, show));
    assertTests(found.results, 'the snapshot stays published; lotlake test --show shows the rows');
  },
});

function rowsToShow(given: string | undefined): number {
  if (given === undefined) return 0;
  const count = given === '' ? 20 : Number(given);
  if (Number.isInteger(count) && count >= 0) return count;
  throw new ConfigError(`--show: ${given} is not a number of rows`);
}

/** The tests of a snapshot, or those of one mart, or the checks. */
function testsOf(model: string | undefined, manifest: Manifest): Modelling {
  const { models, checks } = modellingOf(manifest);
  if (model === undefined) return { models: models.filter(isTestedNightly), checks };
  if (model === 'checks') return { models: [], checks };
  const named = models.filter(({ name }) => name === model.toLowerCase());
  if (named.length > 0) return { models: named, checks: [] };
  throw unknownModel(model, [...models, { name: 'checks' }]);
}

/** Data tests with their failing rows, a heading, and the results that decide the exit code. */
type Found = Awaited<ReturnType<typeof testLake>>;

async function testLake(config: Config, model: string | undefined, reading: Reading, show: number) {
  return readLake(config, reading, async ({ session: { connection }, manifest }) => {
    const chosen = testsOf(model, manifest);
    await checkTests(connection, chosen);
    const results = await runDataTests(connection, chosen);
    const listed = await withRows(connection, results, ({ sql }) => `(\n${sql}\n)`, show);
    const head = `snapshot ${manifest.snapshot_id}: ${counted(results.length, 'data test')}`;
    return { head, listed, results };
  });
}

/** The data tests that the last run kept; undefined if it kept none. */
async function readKept(config: Config, show: number): Promise<Found | undefined> {
  const folder = layoutOf(config.output).failedTests;
  const kept = readKeptTests(folder);
  if (kept === undefined) return undefined;
  return withDatabase(config, undefined, async ({ session: { connection } }) => {
    const listed = await withRows(connection, kept.tests, ({ file }) => literal(join(folder, file)), show);
    const head = `run ${kept.run_id} (${kept.pipeline}, ${kept.started_at}); rows in ${folder}`;
    return { head, listed, results: [] };
  });
}

/** Adds the first failing rows to tests. */
async function withRows<T extends TestFailures>(
  connection: DuckDBConnection,
  tests: readonly T[],
  relationOf: (test: T) => string,
  show: number,
) {
  const listed = [];
  for (const result of tests) {
    const { model, test, severity, failures } = result;
    const sql = `select * from ${relationOf(result)} order by all limit ${show}`;
    const found = failures > 0 && show > 0 ? await rows(connection, sql) : [];
    listed.push({ model, test, severity, failures, rows: found });
  }
  return listed;
}

function text({ head, listed }: Found, show: number): Lines {
  const failed = listed.filter(({ failures }) => failures > 0);
  if (failed.length === 0) return [`${head}, all passed`];
  return [
    head,
    `${counted(failed.length, 'data test')} failed:`,
    failedText(failed),
    ...(show === 0 ? [] : failed.flatMap((result) => ['', rowsText(result)])),
  ];
}

/** Data tests that failed, as a table. */
export const failedText = (failed: readonly TestFailures[]): string =>
  gridOf(
    ['mart', 'test', 'severity', '>failing rows'],
    failed.map(({ model, test: name, severity, failures }) => [
      ...[model, clip(name, 100), severity, count(failures)],
    ]),
  );

function rowsText({ model, test: name, failures, rows: found }: Found['listed'][number]): string {
  const columns = Object.keys(found[0] ?? {});
  const cells = found.map((row) => columns.map((column) => clip(printable(row[column]), 48)));
  const rest = failures > found.length ? `, the first ${count(found.length)} of ${count(failures)}` : '';
  return `${model}: ${name}${rest}\n${gridOf(columns, cells)}`;
}
