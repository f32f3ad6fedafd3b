import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { readChecks } from '../model/checks.js';
import { type DataTestOptions, runDataTests } from '../model/data-tests.js';
import { readModels } from '../model/model-files.js';

/** Rows that fail a test; undefined where it could not be run, since the snapshot lacks what it reads. */
type Failures = number | undefined;

/** Failing rows by test; see {@link testId}. */
export type TestResults = ReadonlyMap<string, Failures>;

/** Name of a test among those of all models and checks. */
export const testId = (test: { readonly model: string; readonly test: string }): string =>
  `${test.model}: ${test.test}`;

/**
 * Runs every data test and check on a connection that has the tables and marts of a snapshot. A snapshot that an older
 * version made may lack a mart; tests that read it have no result.
 */
export async function testResults(connection: DuckDBConnection): Promise<TestResults> {
  const groups: Required<DataTestOptions>[] = [
    ...readModels().map((model) => ({ models: [model], checks: [] })),
    ...readChecks().map((check) => ({ models: [], checks: [check] })),
  ];
  const results = new Map<string, Failures>();
  for (const group of groups) {
    try {
      for (const result of await runDataTests(connection, group))
        results.set(testId(result), result.failures);
    } catch (error) {
      if (!(error instanceof LotlakeError)) throw error;
    }
  }
  return results;
}
