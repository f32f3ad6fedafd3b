import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { remove } from '../../base/config/owned.js';
import { identifier } from '../../base/duck/session.js';
import type { Manifest } from '../lake/manifest.js';
import { isTestedNightly, runDataTests, type TestResult } from '../model/data-tests.js';
import { type Chosen, type Modelling, readableNames, readOwn } from '../model/own-models.js';
import { checkTests, readQuery } from '../model/read-only.js';
import { type ModelResult, orderedModels, type RunModelsOptions, runModels } from '../model/run-models.js';

/**
 * Reads the models and checks of the user, in the order in which they can run. DuckDB parses them and runs none. Throws
 * MODEL_DEFINITION for a name that is taken and for SQL that is not a single read-only SELECT, and MODEL_GRAPH for a model
 * that reads a table which does not exist.
 */
export async function readOwnModels(connection: DuckDBConnection, chosen: Chosen): Promise<Modelling> {
  const own = readOwn(chosen);
  const notReading = (name: string) => (cause: unknown) => {
    const path = join(chosen.models ?? '', name);
    throw new LotlakeError('MODEL_DEFINITION', `${path}: ${messageOf(cause)}`, { cause });
  };
  for (const { name, sql } of own.models) await readQuery(connection, sql).catch(notReading(`${name}.sql`));
  await checkTests(connection, own).catch(notReading(''));
  const models = await orderedModels(connection, own.models, readableNames());
  return { ...own, models };
}

/**
 * Computes and tests the models of the user one after the other, then their checks. A model that fails is left out, with
 * all models that read it: lotlake's own tables and marts do not need it, so the run can publish.
 * @param connection has the tables and marts of lotlake
 * @param warn called for each model and check that is left out
 * @returns the models that were computed, their tests, and their entry in the manifest
 */
export async function runOwnModels(
  connection: DuckDBConnection,
  { models, checks }: Modelling,
  options: RunModelsOptions,
  warn: (message: string) => void,
) {
  const done: { models: ModelResult[]; tests: TestResult[] } = { models: [], tests: [] };
  const leftOut = new Map<string, string>();
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof LotlakeError && error.stage === 'model')) throw error;
      // Every model existed when the run read the models, so a missing one was left out.
      const reason = error.code === 'MODEL_GRAPH' ? 'it reads a model that is left out' : error.message;
      leftOut.set(name, reason);
      warn(`${name} of your own models is left out of the snapshot: ${reason}`);
    }
  };
  for (const model of models)
    await attempt(model.name, async () => {
      try {
        const computed = await runModels(connection, { ...options, models: [model] });
        const tested = [model].filter(isTestedNightly);
        done.tests.push(...(await runDataTests(connection, { models: tested, checks: [] })));
        done.models.push(...computed);
      } catch (error) {
        await connection.run(`drop view if exists ${identifier(model.name)}`);
        remove(join(options.target, model.name));
        throw error;
      }
    });
  for (const check of checks)
    await attempt(`checks/${check.test}`, async () => {
      done.tests.push(...(await runDataTests(connection, { models: [], checks: [check] })));
    });
  const own: NonNullable<Manifest['own']> = {
    models: models.filter(({ name }) => !leftOut.has(name)),
    checks: checks.filter(({ test }) => !leftOut.has(`checks/${test}`)),
    left_out: [...leftOut].map(([name, reason]) => ({ name, reason })),
  };
  return { ...done, own };
}
