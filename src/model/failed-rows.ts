import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import { literal, scalar } from '../duck/session.js';
import type { TestResult } from './data-tests.js';

/** Failing rows of one test that are kept. */
const MOST_ROWS = 10_000;

const LIST = 'failed-tests.json';

const keptTests = z.object({
  run_id: z.string(),
  pipeline: z.string(),
  started_at: z.string(),
  tests: z.array(
    z.object({
      model: z.string(),
      test: z.string(),
      severity: z.enum(['error', 'warn']),
      failures: z.number(),
      /** How many of the failing rows the file holds, and its name in the folder. */
      kept: z.number(),
      file: z.string(),
    }),
  ),
});

/** The data tests that failed in a run, and where their rows are. */
export type KeptTests = Readonly<z.output<typeof keptTests>>;

/**
 * Keeps the rows that failed a data test, at most 10,000 of each test, as Parquet files in a folder that holds those of
 * the last run alone; the snapshot that they are of may never be published.
 * @param connection the one that the tests ran on
 */
export async function keepFailedRows(
  connection: DuckDBConnection,
  results: readonly TestResult[],
  run: Omit<KeptTests, 'tests'>,
  folder: string,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const failed = results.filter(({ failures }) => failures > 0);
  if (failed.length === 0) return;
  mkdirSync(folder, { recursive: true });
  const tests: KeptTests['tests'] = [];
  for (const [place, { model, test, severity, failures, sql }] of failed.entries()) {
    const file = `${String(place + 1).padStart(3, '0')}-${model}.parquet`;
    const kept = await scalar(
      connection,
      `copy (select * from (\n${sql}\n) order by all limit ${MOST_ROWS}) to ${literal(join(folder, file))} (format parquet)`,
    );
    tests.push({ model, test, severity, failures, kept, file });
  }
  writeFileSync(join(folder, LIST), `${JSON.stringify({ ...run, tests } satisfies KeptTests, null, 2)}\n`);
}

/** What the last run kept, or undefined where no test of it failed. */
export function readKeptTests(folder: string): KeptTests | undefined {
  const path = join(folder, LIST);
  return existsSync(path) ? keptTests.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}
