import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { readChecks } from '../model/checks.js';
import { type DataTestOptions, runDataTests, type TestResult } from '../model/data-tests.js';
import { readModels } from '../model/model-files.js';

/**
 * Runs the data tests of each mart, and each check, by itself on a connection that has the tables of a snapshot: a
 * snapshot of an older version may lack what some of them read. Also gives the ones that could not be run, and why.
 */
export async function runEachTest(connection: DuckDBConnection) {
  const results: TestResult[] = [];
  const notRun: { readonly name: string; readonly error: LotlakeError }[] = [];
  const run = async (name: string, tests: DataTestOptions): Promise<void> => {
    try {
      results.push(...(await runDataTests(connection, tests)));
    } catch (error) {
      if (!(error instanceof LotlakeError)) throw error;
      notRun.push({ name, error });
    }
  };
  for (const model of readModels()) await run(model.name, { models: [model], checks: [] });
  for (const check of readChecks()) await run(check.test, { models: [], checks: [check] });
  return { results, notRun };
}
