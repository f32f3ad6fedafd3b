import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import type { Manifest } from '../../core/lake/manifest.js';
import { isTestedNightly, runDataTests, type TestResult } from '../../core/model/data-tests.js';
import { type Modelling, modellingOf } from '../../core/model/own-models.js';
import { checkTests } from '../../core/model/read-only.js';

/**
 * Runs the data tests of each mart, and each check, by themselves on a connection that has the tables of a snapshot, since
 * a snapshot of an older version may lack what some of them read. Also returns those that could not be run, with the error.
 */
export async function runEachTest(connection: DuckDBConnection, manifest: Pick<Manifest, 'own'>) {
  const results: TestResult[] = [];
  const notRun: { readonly name: string; readonly error: LotlakeError }[] = [];
  const run = async (name: string, tests: Modelling): Promise<void> => {
    try {
      await checkTests(connection, tests);
      results.push(...(await runDataTests(connection, tests)));
    } catch (error) {
      if (!(error instanceof LotlakeError)) throw error;
      notRun.push({ name, error });
    }
  };
  const { models, checks } = modellingOf(manifest);
  for (const model of models.filter(isTestedNightly)) await run(model.name, { models: [model], checks: [] });
  for (const check of checks) await run(check.test, { models: [], checks: [check] });
  return { results, notRun };
}
