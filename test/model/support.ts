import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect } from 'vitest';
import { createEmptyTables } from '../../src/ask/docs/empty-lake.js';
import { makeScratch } from '../../src/base/config/owned.js';
import { identifier, literal, openSession, type Row, rows } from '../../src/base/duck/session.js';
import { readChecks } from '../../src/core/model/checks.js';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { type Model, readLayer, readModels } from '../../src/core/model/model-files.js';
import type { Modelling } from '../../src/core/model/own-models.js';
import { runModels } from '../../src/core/model/run-models.js';
import { apart, base } from './cases.js';

/** A database with every lake table, empty but with its real columns, and a folder for files. */
export interface TestLake {
  readonly connection: DuckDBConnection;
  readonly folder: string;
  /** Names of lotlake's own seeds that are already computed. */
  readonly seeds: Set<string>;
  close(): void;
}

/** Opens an empty lake in memory. */
export async function openLake(): Promise<TestLake> {
  const folder = makeScratch(join(tmpdir(), 'lotlake-model-'));
  const session = await openSession({ memory: '512MB', threads: 2, temp: join(folder, 'spill') });
  // A test writes files of the same names within a second, which DuckDB may take for those that it has read; a run writes each once.
  await session.connection.run('set global enable_external_file_cache = false');
  await createEmptyTables(session);
  return {
    connection: session.connection,
    folder,
    seeds: new Set(),
    close: () => {
      session.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Value = string | number | boolean | null;

/** A row to insert: values by column. A missing column is null. */
export type Given = Readonly<Record<string, Value>>;

/** Replaces the rows of a table. */
export async function fill(
  connection: DuckDBConnection,
  table: string,
  given: readonly Given[],
): Promise<void> {
  await connection.run(`delete from ${identifier(table)}`);
  if (given.length === 0) return;
  const columns = [...new Set(given.flatMap((row) => Object.keys(row)))];
  const tuples = given.map((row) => `(${columns.map((name) => sqlOf(row[name] ?? null)).join(', ')})`);
  await connection.run(
    `insert into ${identifier(table)} (${columns.map(identifier).join(', ')}) values ${tuples.join(', ')}`,
  );
}

const sqlOf = (value: Value): string => (typeof value === 'string' ? literal(value) : String(value));

const isNamed = (sql: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(sql);

/** The named models, examples among them, and those that they read; all models but the examples if none is named. */
export function modelsOf(marts: readonly string[]): readonly Model[] {
  if (marts.length === 0) return readModels();
  const all = [...readModels(), ...readLayer('examples')];
  const found = new Set(marts);
  for (const name of found)
    for (const other of all)
      if (isNamed(all.find((model) => model.name === name)?.sql ?? '', other.name)) found.add(other.name);
  return all.filter(({ name }) => found.has(name));
}

/** The data tests of the named models and of those that they read, and the checks that need no other models. */
export function testsOf(...marts: readonly string[]): Modelling {
  const models = modelsOf(marts);
  const others = readModels().filter((model) => !models.includes(model));
  const checks = readChecks().filter(({ sql }) => !others.some(({ name }) => isNamed(sql, name)));
  // A model of the run alone is tested by what reads it.
  return { models: models.filter(({ exists }) => exists !== 'none'), checks };
}

/** Tables that a test may fill. */
const INPUTS = [
  ...['runs', 'passes', 'rejects', 'vehicles', 'lots', 'sightings', 'lot_changes', 'prices', 'archived_lots'],
  'statistics',
];

/**
 * Replaces the named tables, empties the other inputs of the marts, and computes the marts: all of them, or the named
 * ones with those that they read.
 */
export async function computeMarts(
  lake: TestLake,
  given: Readonly<Record<string, readonly Given[]>>,
  ...marts: readonly string[]
): Promise<void> {
  const tables: Readonly<Record<string, readonly Given[]>> = { sightings: sightingsOf(given), ...given };
  for (const table of INPUTS) await fill(lake.connection, table, tables[table] ?? []);
  // A seed reads no table, so it is computed only once.
  const models = modelsOf(marts).filter(({ name }) => !lake.seeds.has(name));
  await computeModels(lake, models);
  for (const { name, isSeed } of models) if (isSeed) lake.seeds.add(name);
}

/** Computes models that a test defines, or models with seeds of the user. */
export async function computeModels(lake: TestLake, models: readonly Model[]): Promise<void> {
  for (const { name } of models) lake.seeds.delete(name);
  await runModels(lake.connection, { target: lake.folder, models });
}

/**
 * Sightings of the given lots. The last pass over the feed saw active lots; archived lots have their own
 * `last_seen_at`.
 */
function sightingsOf(given: Readonly<Record<string, readonly Given[]>>): readonly Given[] {
  const passes = (given.passes ?? []).filter(({ stream, state }) => stream === 'cars' && state === 'sealed');
  const last =
    passes
      .map(({ started_at }) => String(started_at))
      .sort()
      .at(-1) ?? null;
  return (given.lots ?? []).map(({ lot_id = null, archived, last_seen_at = null }) => ({
    lot_id,
    seen_at: archived === true ? last_seen_at : last,
  }));
}

/** Opens a lake for the tests of one file, to compute marts in it. */
export function openMarts(...marts: readonly string[]) {
  let lake: TestLake;
  const tests = testsOf(...marts);
  beforeAll(async () => {
    lake = await openLake();
  });
  afterAll(() => lake.close());
  /** Computes the marts, and those that they read, from the given rows. Their data tests and checks must pass. */
  const compute = async (given: Readonly<Record<string, readonly Given[]>>): Promise<void> => {
    await computeMarts(lake, given, ...marts);
    const results = await runDataTests(lake.connection, tests);
    expect(results.filter(({ failures }) => failures > 0)).toEqual([]);
  };
  const query = (sql: string): Promise<Row[]> => texts(lake, sql);
  /**
   * Computes the marts from `base` with the given tables replaced and its own vehicle for each lot. Then runs a query.
   */
  const ask = async (given: Readonly<Record<string, readonly Given[]>>, sql: string): Promise<Row[]> => {
    await compute(apart({ ...base, ...given }));
    return query(sql);
  };
  return { compute, query, ask };
}

/** Rows of a query, with instants and dates as text. */
export function texts(lake: TestLake, sql: string): Promise<Row[]> {
  return rows(lake.connection, sql);
}
