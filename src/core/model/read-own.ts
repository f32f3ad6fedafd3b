import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import type { Check } from './checks.js';
import type { Model } from './model-files.js';
import { assertFiles, readModelSelect } from './model-select.js';
import { type Chosen, type LeftOut, type OwnModels, readableNames, readOwn } from './own-models.js';
import { checkTests } from './read-only.js';
import { withReferences } from './references.js';
import { type ModelNode, planEach } from './run-models.js';
import { planModelTests } from './test-sql.js';

/**
 * Reads the models and checks of the user, in the order in which they can run. DuckDB parses them and runs none. One that is
 * not a single read-only SELECT, or reads a table that does not exist, is left out with all models that read it. Throws
 * ConfigError for an example that does not exist.
 * @param more names that exist beside the tables and marts of lotlake
 */
export async function readOwnModels(
  connection: DuckDBConnection,
  chosen: Chosen,
  more: readonly string[] = [],
): Promise<OwnModels> {
  const own = readOwn(chosen);
  const leftOut: LeftOut[] = [...own.leftOut];
  const attempt = async <T>(
    name: string,
    watch: boolean | undefined,
    read: () => Promise<T>,
  ): Promise<T[]> => {
    try {
      return [await read()];
    } catch (cause) {
      const path = join(chosen.models ?? '', `${name}.sql`);
      const error = new LotlakeError('MODEL_DEFINITION', `${path}: ${messageOf(cause)}`, { cause });
      leftOut.push({ name, error, watch });
      return [];
    }
  };
  const models: (Model & ModelNode)[] = [];
  for (const model of own.models)
    models.push(...(await attempt(model.name, model.watch, () => readSelect(connection, model))).flat());
  const checks: Check[] = [];
  for (const check of own.checks)
    checks.push(...(await attempt(`checks/${check.test}`, undefined, () => readOwnCheck(connection, check))));
  const { planned, unplanned } = planEach(models, new Set([...readableNames(), ...more]));
  for (const { model, error } of unplanned) leftOut.push({ name: model.name, error, watch: model.watch });
  return { models: planned, checks, leftOut };
}

/** A model with its SELECT as it runs, and what it reads. */
async function readSelect(
  connection: DuckDBConnection,
  model: Model,
): Promise<readonly (Model & ModelNode)[]> {
  const sql = await readModelSelect(connection, model);
  await checkTests(connection, { models: [model], checks: [] });
  for (const test of planModelTests(model)) await assertFiles(connection, test.sql);
  return withReferences(connection, [{ ...model, sql }]);
}

async function readOwnCheck(connection: DuckDBConnection, check: Check): Promise<Check> {
  return { ...check, sql: await readModelSelect(connection, check) };
}

/** Throws the error of the first model or check that is left out, for a command that a person gives. */
export function assertAllRead({ leftOut: [first] }: OwnModels): void {
  if (first !== undefined) throw first.error;
}
