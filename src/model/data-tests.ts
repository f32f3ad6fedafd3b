import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../config/lotlake-error.js';
import { type Row, rows, scalar } from '../lake/session.js';
import { type Check, readChecks } from './checks.js';
import { ModelError } from './model-error.js';
import { type Model, readModels } from './model-files.js';
import { type PlannedTest, planModelTests } from './test-sql.js';

/** Failing rows that a result shows. */
const SAMPLE = 5;

/** What a data test found. */
export interface TestResult extends PlannedTest {
  /** Rows that fail; 0 where the test passed. */
  readonly failures: number;
  /** The first of them, at most 5. */
  readonly sample: readonly Row[];
}

/** Which tests to run; those of `sql/marts` and `sql/checks` by default. */
export interface DataTestOptions {
  readonly models?: readonly Model[];
  readonly checks?: readonly Check[];
}

/**
 * Runs the tests of every model and the checks across tables on a connection that has the lake tables and the marts.
 * Throws ModelError (MODEL_FAILED) where a test cannot be run; failing rows are results, not errors.
 */
export async function runDataTests(
  connection: DuckDBConnection,
  { models = readModels(), checks = readChecks() }: DataTestOptions = {},
): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const test of [...models.flatMap(planModelTests), ...checks]) {
    results.push(await runTest(connection, test));
  }
  return results;
}

async function runTest(connection: DuckDBConnection, planned: PlannedTest): Promise<TestResult> {
  const { model, test, severity, sql } = planned;
  try {
    const failures = await scalar(connection, `select count(*) from (\n${sql}\n)`);
    const sample =
      failures === 0 ? [] : await rows(connection, `select * from (\n${sql}\n) order by all limit ${SAMPLE}`);
    return { model, test, severity, sql, failures, sample };
  } catch (error) {
    throw new ModelError('MODEL_FAILED', `test ${test} of ${model} cannot be run: ${messageOf(error)}`, {
      cause: error,
      hint: 'the last snapshot stays current',
    });
  }
}

/** Throws ModelError (MODEL_TESTS_FAILED, held) where a test of severity `error` failed; warnings pass. */
export function assertTests(results: readonly TestResult[]): void {
  const failed = results.filter((result) => result.severity === 'error' && result.failures > 0);
  if (failed.length === 0) return;
  const list = failed.map(({ model, test, failures }) => `${model}: ${test}, ${rowCount(failures)}`);
  throw new ModelError('MODEL_TESTS_FAILED', `${testCount(failed.length)} failed: ${list.join('; ')}`, {
    outcome: 'held',
    hint: 'nothing was published and the last snapshot stays current; the rows are those of each test’s SQL',
  });
}

const rowCount = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;
const testCount = (count: number): string => `${count} data ${count === 1 ? 'test' : 'tests'}`;
