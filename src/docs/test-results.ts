import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { readChecks } from '../model/checks.js';
import { type DataTestOptions, runDataTests, type TestResult } from '../model/data-tests.js';
import { readModels } from '../model/model-files.js';

/** Failing rows by test; see {@link testId}. */
export type TestResults = ReadonlyMap<string, number>;

/** Name of a test among those of all models and checks. */
export const testId = (test: { readonly model: string; readonly test: string }): string =>
  `${test.model}: ${test.test}`;

/** A mart or check whose tests could not be run, and why. */
export interface NotRun {
  readonly name: string;
  readonly error: LotlakeError;
}

/**
 * Runs the data tests of each mart, and each check, by itself on a connection that has the tables of a snapshot: a
 * snapshot of an older version may lack what some of them read.
 */
export async function runEachTest(
  connection: DuckDBConnection,
): Promise<{ readonly results: readonly TestResult[]; readonly notRun: readonly NotRun[] }> {
  const groups: (readonly [name: string, tests: Required<DataTestOptions>])[] = [
    ...readModels().map((model) => [model.name, { models: [model], checks: [] }] as const),
    ...readChecks().map((check) => [check.test, { models: [], checks: [check] }] as const),
  ];
  const results: TestResult[] = [];
  const notRun: NotRun[] = [];
  for (const [name, tests] of groups) {
    try {
      results.push(...(await runDataTests(connection, tests)));
    } catch (error) {
      if (!(error instanceof LotlakeError)) throw error;
      notRun.push({ name, error });
    }
  }
  return { results, notRun };
}

/** Runs every data test; those that cannot be run have no result. */
export async function testResults(connection: DuckDBConnection): Promise<TestResults> {
  const { results } = await runEachTest(connection);
  return new Map(results.map((result) => [testId(result), result.failures]));
}
