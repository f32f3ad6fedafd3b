import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { readChecks } from '../model/checks.js';
import { type DataTestOptions, runDataTests, type TestResult } from '../model/data-tests.js';
import { readModels } from '../model/model-files.js';

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
