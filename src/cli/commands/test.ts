import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type Config, type ConfigInput, readConfig } from '../../config/config.js';
import { didYouMean } from '../../config/nearest.js';
import { interruptOn, literal, type Row, rows } from '../../duck/session.js';
import { openTemporarySession } from '../../duck/temporary-session.js';
import { layoutOf } from '../../lake/layout.js';
import type { Choice } from '../../lake/snapshots.js';
import { readChecks } from '../../model/checks.js';
import { assertTests, type DataTestOptions, runDataTests, type TestResult } from '../../model/data-tests.js';
import { readKeptTests } from '../../model/failed-rows.js';
import { ModelError } from '../../model/model-error.js';
import { readModels } from '../../model/model-files.js';
import { openLake } from '../../query/open-lake.js';
import { clip, printable } from '../../query/printable.js';
import type { Effects } from '../effects.js';
import { gridOf, number } from '../grid.js';

/** What `lotlake test` is asked for. */
export interface TestCommandOptions {
  /** Failing rows to show of each test; none by default. */
  readonly show: number;
  /** Show what the last run kept instead of testing the lake. */
  readonly kept: boolean;
  /** The mart whose tests alone are run; `checks` for those across tables. */
  readonly model: string | undefined;
  readonly choice: Choice | undefined;
  readonly json: boolean;
  readonly config: ConfigInput;
}

/** A data test that failed, as it is told. */
type Told = Pick<TestResult, 'model' | 'test' | 'severity' | 'failures'> & { readonly rows: readonly Row[] };

/** Longest value of a failing row on a terminal. */
const WIDEST = 48;

/** Runs the data tests on a snapshot, or shows the rows that failed those of the last run. */
export async function test(options: TestCommandOptions, effects: Effects): Promise<void> {
  const config = readConfig(options.config, effects);
  if (options.kept) await showKept(config, options, effects);
  else await testLake(config, options, effects);
}

async function testLake(config: Config, options: TestCommandOptions, effects: Effects): Promise<void> {
  const chosen = testsOf(options.model);
  const lake = await openLake(config, undefined, options.choice);
  const endInterrupts = interruptOn(effects.signal, lake.session);
  try {
    const { connection } = lake.session;
    const results = await runDataTests(connection, chosen);
    const told: Told[] = [];
    for (const { model, test: name, severity, failures, sql } of results) {
      const found = failures > 0 ? await failingRows(connection, `(\n${sql}\n)`, options.show) : [];
      told.push({ model, test: name, severity, failures, rows: found });
    }
    const head = `snapshot ${lake.manifest.snapshot_id}: ${count(results.length, 'data test')}`;
    effects.out(options.json ? `${JSON.stringify(told)}\n` : text(head, told, options.show));
    assertTests(results, 'the snapshot stays published; lotlake test --show shows the rows');
  } finally {
    endInterrupts();
    lake.close();
  }
}

function testsOf(model: string | undefined): Required<DataTestOptions> {
  const [models, checks] = [readModels(), readChecks()];
  if (model === undefined) return { models, checks };
  if (model === 'checks') return { models: [], checks };
  const named = models.filter(({ name }) => name === model.toLowerCase());
  if (named.length > 0) return { models: named, checks: [] };
  const names = [...models.map(({ name }) => name), 'checks'];
  throw new ModelError('MODEL_UNKNOWN', `there is no mart ${model}${didYouMean(model, names)}`, {
    outcome: 'usage',
    hint: `there are: ${names.join(', ')}`,
  });
}

async function showKept(config: Config, options: TestCommandOptions, effects: Effects): Promise<void> {
  const folder = layoutOf(config.output).failedTests;
  const kept = readKeptTests(folder);
  if (kept === undefined) {
    effects.out(options.json ? '[]\n' : 'no data test of the last run failed\n');
    return;
  }
  const { session, close } = await openTemporarySession(config);
  try {
    const told: Told[] = [];
    for (const { file, model, test: name, severity, failures } of kept.tests) {
      const found = await failingRows(session.connection, literal(join(folder, file)), options.show);
      told.push({ model, test: name, severity, failures, rows: found });
    }
    const head = `run ${kept.run_id} (${kept.pipeline}, ${kept.started_at}); rows in ${folder}`;
    effects.out(options.json ? `${JSON.stringify(told)}\n` : text(head, told, options.show));
  } finally {
    close();
  }
}

const failingRows = async (
  connection: DuckDBConnection,
  relation: string,
  limit: number,
): Promise<readonly Row[]> =>
  limit === 0 ? [] : rows(connection, `select * from ${relation} order by all limit ${limit}`);

function text(head: string, told: readonly Told[], show: number): string {
  const failed = told.filter(({ failures }) => failures > 0);
  if (failed.length === 0) return `${head}, all passed\n`;
  const grid = gridOf(['mart', 'test', 'severity', '>failing rows']);
  for (const { model, test: name, severity, failures } of failed)
    grid.push([model, clip(name, 100), severity, number(failures)]);
  const shown = show === 0 ? [] : failed.flatMap((one) => ['', rowsOf(one)]);
  return [head, `${count(failed.length, 'data test')} failed:`, grid.toString(), ...shown, ''].join('\n');
}

function rowsOf({ model, test: name, failures, rows: found }: Told): string {
  const columns = Object.keys(found[0] ?? {});
  const grid = gridOf(columns);
  for (const row of found) grid.push(columns.map((column) => clip(printable(row[column]), WIDEST)));
  const rest = failures > found.length ? `, the first ${number(found.length)} of ${number(failures)}` : '';
  return `${model}: ${name}${rest}\n${grid.toString()}`;
}

const count = (many: number, what: string): string => `${number(many)} ${what}${many === 1 ? '' : 's'}`;
