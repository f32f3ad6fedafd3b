import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { assertNoLinks, makeFolder, remove, writeNew } from '../../base/config/owned.js';
import { literal, scalar } from '../../base/duck/session.js';
import { ID } from '../lake/ids.js';
import { unsoundError } from '../lake/lake-error.js';
import type { TestResult } from './data-tests.js';

/** Most failing rows that are kept of one test. */
const MOST_ROWS = 10_000;

const LIST = 'failed-tests.json';

const keptTests = z.object({
  run_id: z.string().regex(ID),
  pipeline: z.string(),
  started_at: z.string(),
  tests: z.array(
    z.object({
      model: z.string(),
      test: z.string(),
      severity: z.enum(['error', 'warn']),
      failures: z.number(),
      /** Number of failing rows in the file. */
      kept: z.number(),
      /** Name of the file in the folder. */
      file: z.string().regex(/^\d+-[a-z0-9_]+\.parquet$/),
    }),
  ),
});

/** The data tests that failed in a run, and the files of their rows. */
export type KeptTests = Readonly<z.output<typeof keptTests>>;

/**
 * Keeps the rows that failed a data test as Parquet files, at most 10,000 rows a test, because their snapshot may never be
 * published. The folder holds only the rows of the last run.
 * @param connection the connection that ran the tests
 */
export async function keepFailedRows(
  connection: DuckDBConnection,
  results: readonly TestResult[],
  run: Omit<KeptTests, 'tests'>,
  folder: string,
): Promise<void> {
  remove(folder);
  const failed = results.filter(({ failures }) => failures > 0);
  if (failed.length === 0) return;
  makeFolder(folder);
  const tests: KeptTests['tests'] = [];
  for (const [place, { model, test, severity, failures, sql }] of failed.entries()) {
    const file = `${String(place + 1).padStart(3, '0')}-${model}.parquet`;
    const kept = await scalar(
      connection,
      `copy (${limited(sql)}) to ${literal(join(folder, file))} (format parquet)`,
    );
    tests.push({ model, test, severity, failures, kept, file });
  }
  writeNew(join(folder, LIST), `${JSON.stringify({ ...run, tests } satisfies KeptTests, null, 2)}\n`);
}

/**
 * Copies the rows that fail tests of the user into files of a folder, since the model that they are in may be left out.
 * @param folder undefined if none are kept
 * @returns the tests, which read these files; without those whose rows cannot be copied
 */
export async function keepRowsOf(
  connection: DuckDBConnection,
  results: readonly TestResult[],
  folder: string | undefined,
): Promise<TestResult[]> {
  if (folder === undefined) return [];
  makeFolder(folder);
  const kept: TestResult[] = [];
  for (const [place, result] of results.entries()) {
    if (result.failures === 0) continue;
    const name = result.model === 'checks' ? `checks-${result.test}` : `${result.model}-${place}`;
    const file = literal(join(folder, `${name}.parquet`));
    try {
      await connection.run(`copy (${limited(result.sql)}) to ${file} (format parquet)`);
      kept.push({ ...result, sql: `from read_parquet(${file})` });
    } catch {
      // The number of rows is told all the same, and a model of the user may not stop a night.
    }
  }
  return kept;
}

/** The rows of a test that are kept. */
const limited = (sql: string): string => `select * from (\n${sql}\n) order by all limit ${MOST_ROWS}`;

/** What the last run kept; undefined if all of its tests passed. Throws LAKE_NOT_OWNED if there is a link, and LAKE_UNSOUND. */
export function readKeptTests(folder: string): KeptTests | undefined {
  const path = join(folder, LIST);
  if (!existsSync(folder)) return undefined;
  assertNoLinks(folder, dirname(folder));
  if (!existsSync(path)) return undefined;
  const kept = keptTests.safeParse(jsonIn(readFileSync(path, 'utf8')));
  if (kept.success) return kept.data;
  throw unsoundError(
    `${path} is not what a run kept`,
    'remove the folder; the next run that fails a data test makes it again',
  );
}
