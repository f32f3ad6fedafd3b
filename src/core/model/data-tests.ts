import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { poolOf, settled } from '../../base/duck/pool.js';
import { type Row, row, rows, type Session, scalar } from '../../base/duck/session.js';
import type { TestFailures } from '../job/beside.js';
import { readChecks } from './checks.js';
import { type Model, modelFailed, readModels } from './model-files.js';
import type { Modelling } from './own-models.js';
import { failuresOf, type PlannedTest, planModelTests } from './test-sql.js';

/** Most failing rows that a result has as a sample. */
const SAMPLE = 5;

/** Result of a data test. */
export interface TestResult extends PlannedTest {
  /** Number of rows that fail; 0 if the test passed. */
  readonly failures: number;
  /** The first failing rows, at most 5. */
  readonly sample: readonly Row[];
}

/**
 * Whether every run tests a model. A view is tested when that is asked (`lotlake test --model`), since it is computed then;
 * a model of the run alone is tested by what reads it.
 */
export const isTestedNightly = ({ exists = 'file' }: Pick<Model, 'exists'>): boolean => exists === 'file';

/**
 * Runs the tests of models and the checks across tables, by default all of lotlake, on a connection that has
 * the lake tables, the marts and the functions of the models.
 * Throws MODEL_FAILED if a test cannot be run; failing rows are results, not errors.
 * @param beside more connections to share the work; they see the same tables as the first one
 * @param alone gives all memory to a test that does not fit into memory while others run
 */
export async function runDataTests(
  connection: DuckDBConnection,
  { models = readModels().filter(isTestedNightly), checks = readChecks() }: Partial<Modelling> = {},
  beside: readonly DuckDBConnection[] = [],
  alone?: Session['alone'],
): Promise<TestResult[]> {
  const use = poolOf([connection, ...beside], alone);
  const ofModels = models.map((model) => use((own) => runModelTests(own, model)));
  const ofChecks = checks.map((check) => use(async (own) => [await runTest(own, check)]));
  return (await settled([...ofModels, ...ofChecks])).flat();
}

async function runModelTests(connection: DuckDBConnection, model: Model): Promise<TestResult[]> {
  const tests = planModelTests(model);
  const passed = await passedTests(connection, tests);
  const results: TestResult[] = [];
  for (const test of tests) results.push(await runTest(connection, test, passed.has(test)));
  return results;
}

/**
 * Runs the tests of a model in one statement, and returns those that passed. The others run one by one, for their failing
 * rows; so do all of them if the SQL of one is wrong, for an error that names it.
 */
async function passedTests(
  connection: DuckDBConnection,
  tests: readonly PlannedTest[],
): Promise<ReadonlySet<PlannedTest>> {
  try {
    const failures = await row(connection, failuresOf(tests));
    return new Set(tests.filter((_, i) => failures[i] === 0));
  } catch {
    return new Set();
  }
}

/** @param isPassed whether the test is known to have passed, so that nothing runs */
async function runTest(
  connection: DuckDBConnection,
  { model, test, severity, sql }: PlannedTest,
  isPassed = false,
): Promise<TestResult> {
  try {
    const failures = isPassed ? 0 : await scalar(connection, `select count(*) from (\n${sql}\n)`);
    const sample =
      failures === 0 ? [] : await rows(connection, `select * from (\n${sql}\n) order by all limit ${SAMPLE}`);
    return { model, test, severity, sql, failures, sample };
  } catch (error) {
    throw modelFailed(`test ${test} of ${model} cannot be run`, error);
  }
}

/**
 * Throws MODEL_TESTS_FAILED (held) if a test of severity `error` failed; warnings pass.
 * @param hint what the reader can do next
 */
export function assertTests(results: readonly TestFailures[], hint: string): void {
  const failed = results.filter((result) => result.severity === 'error' && result.failures > 0);
  if (failed.length === 0) return;
  const list = failed.map(({ model, test, failures }) => `${model}: ${test}, ${rowCount(failures)}`);
  throw new LotlakeError('MODEL_TESTS_FAILED', `${testCount(failed.length)} failed: ${list.join('; ')}`, {
    outcome: 'held',
    hint,
  });
}

const rowCount = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;
const testCount = (count: number): string => `${count} data ${count === 1 ? 'test' : 'tests'}`;
