import type { DuckDBConnection } from '@duckdb/node-api';
import { lakeTables } from '../lake/tables.js';
import { RECORDS } from '../load/views.js';
import { type Check, readChecks } from '../model/checks.js';
import { readModels } from '../model/model-files.js';
import { referencesOf } from '../model/references.js';
import { type PlannedTest, planModelTests } from '../model/test-sql.js';
import type { StreamName } from '../service/streams.js';
import { type Contents, dictionary, type TableEntry } from './dictionary.js';

/** A check across tables and what it reads. */
interface CatalogCheck extends Check {
  readonly reads: readonly string[];
}

/** A table or mart with everything that the code says of it. */
export interface CatalogTable extends TableEntry {
  /** Stream whose records the table is cut from; undefined for marts and for tables of lotlake's own. */
  readonly stream: StreamName | undefined;
  /** Places of the record that the rows come from, such as `lots[]`. */
  readonly places: readonly string[];
  /** Tables and marts that a mart reads. */
  readonly reads: readonly string[];
  /** Marts that read it. */
  readonly readBy: readonly string[];
  /** SELECT of a mart that is computed; a seed is a file. */
  readonly sql: string | undefined;
  readonly tests: readonly PlannedTest[];
  /** Checks across tables that read it. */
  readonly checks: readonly CatalogCheck[];
}

/**
 * Puts together what contract, `.yml` files and SQL say of every table and mart: tables, tables of lotlake's own, marts.
 * @param connection any DuckDB: it parses SQL and reads nothing
 * @param contents names and types of columns
 */
export async function readCatalog(
  connection: DuckDBConnection,
  contents: Contents,
): Promise<readonly CatalogTable[]> {
  const models = readModels();
  const reads = new Map<string, readonly string[]>();
  for (const model of models) reads.set(model.name, await referencesOf(connection, model));
  const places = new Map<string, readonly string[]>();
  for (const table of lakeTables()) places.set(table.name, await placesOf(connection, table));
  const checks: CatalogCheck[] = [];
  for (const check of readChecks())
    checks.push({ ...check, reads: await referencesOf(connection, { name: check.test, sql: check.sql }) });
  return dictionary(contents).map((entry) => {
    const model = entry.kind === 'mart' ? models.find(({ name }) => name === entry.name) : undefined;
    return {
      ...entry,
      stream: lakeTables().find(({ name }) => name === entry.name)?.stream,
      places: places.get(entry.name) ?? [],
      reads: reads.get(entry.name) ?? [],
      readBy: models.filter(({ name }) => reads.get(name)?.includes(entry.name)).map(({ name }) => name),
      sql: model?.isSeed ? undefined : model?.sql,
      tests: model === undefined ? [] : planModelTests(model),
      checks: checks.filter((check) => check.reads.includes(entry.name)),
    };
  });
}

/** A report's media come from two places, which the SQL of the table names. */
async function placesOf(
  connection: DuckDBConnection,
  table: { readonly name: string; readonly sql: string },
): Promise<readonly string[]> {
  const found = await referencesOf(connection, table);
  return found.map((place) => (place === RECORDS ? '' : place)).filter((place) => place !== '');
}
