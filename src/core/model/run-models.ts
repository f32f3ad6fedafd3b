import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { insteadOf } from '../../base/config/gone.js';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, move, remove } from '../../base/config/owned.js';
import { poolOf, settled } from '../../base/duck/pool.js';
import { identifier, literal, rows, type Session, scalar } from '../../base/duck/session.js';
import type { ManifestView } from '../lake/manifest.js';
import { columnsOf } from '../lake/schema.js';
import { viewOn } from '../lake/views.js';
import { landCosts } from './costs/land-costs.js';
import { fitPrices } from './fit/fit-prices.js';
import { createFunctions } from './functions.js';
import { type MartSnapshot, martOptions } from './mart-files.js';
import { type Model, modelFailed, readModels } from './model-files.js';

import { assertColumns } from './own-columns.js';
import { withReferences } from './references.js';
import { FIT, OUTSIDE, SETTINGS } from './sql-tree.js';

/** How models are run, and where they are written. */
export interface RunModelsOptions {
  /** Snapshot folder; each mart becomes `<target>/<mart>/data_0.parquet`. */
  readonly target: string;
  /** The snapshot that the files belong to; undefined for files of their own. */
  readonly snapshot?: MartSnapshot | undefined;
  /** Models to run; those of lotlake by default. */
  readonly models?: readonly Model[];
  /** More connections, for models that do not read each other; they see the same tables as the first one. */
  readonly beside?: readonly DuckDBConnection[] | undefined;
  /** Gives all memory to a model that does not fit into memory while others run. */
  readonly alone?: Session['alone'] | undefined;
  /** Called when a model begins, with the number of models that are done and of all. */
  readonly onModel?: ((name: string, done: number, all: number) => void) | undefined;
}

/** A model that was computed. */
export interface ModelResult {
  readonly name: string;
  readonly key: readonly string[];
  /** Rows of its file; 0 for a view. */
  readonly rows: number;
  readonly ms: number;
  /** Key, SELECT and what it reads, of a view. */
  readonly view?: Omit<ManifestView, 'columns'>;
}

/**
 * Computes the models, each as soon as the models that it reads are done and a connection is free. A model becomes a
 * Parquet file that is sorted by its key, with a view on it in the connection's current database; see `exists` in
 * {@link definition} for other forms. The connection has the lake tables, and its TimeZone is UTC.
 * Throws an error that names the model: MODEL_GRAPH before anything runs, MODEL_FAILED if its SQL fails.
 */
export async function runModels(
  connection: DuckDBConnection,
  options: RunModelsOptions,
): Promise<ModelResult[]> {
  const use = poolOf([connection, ...(options.beside ?? [])], options.alone);
  const running = new Map<string, Promise<ModelResult>>();
  const existing = await rows(
    connection,
    `select lower(table_name) as name from duckdb_tables() where database_name in (current_database(), 'temp')
     union select lower(view_name) from duckdb_views() where database_name in (current_database(), 'temp')`,
  );
  const known = new Set(existing.map((table) => String(table.name)));
  const models = await orderedModels(connection, options.models ?? readModels(), known);
  const shared = sharedSteps(models);
  await createFunctions(connection, 'values');
  if (known.has(SETTINGS)) await createFunctions(connection, 'enough');
  let done = 0;
  /** What the models that the fit does not need wait for. */
  let begun: Promise<unknown> | undefined;
  for (const model of models) {
    const read = [...model.references.map((name) => running.get(name)), begun];
    const work = async (free: DuckDBConnection, isAgain: boolean): Promise<ModelResult> => {
      options.onModel?.(model.name, done, models.length);
      const result = await runModel(free, whole(model, models), options, isAgain, shared.has(model.name));
      done++;
      return result;
    };
    const inputs = Promise.all(read);
    if (model.name === FIT) begun = inputs;
    const result = inputs.then(() => use(work));
    // `settled` reports the failure below.
    result.catch(() => undefined);
    running.set(model.name, result);
  }
  // An error of the detach must not hide the error of a model.
  const results = await settled([...running.values()]).finally(() =>
    connection
      .run(OUTSIDE.map((name) => `detach database if exists ${name}`).join('; '))
      .catch(() => undefined),
  );
  const ofRun = models.filter(({ exists }) => exists === 'none').map(({ name }) => name);
  for (const name of ofRun.toReversed()) {
    if (!OUTSIDE.includes(name)) await connection.run(`drop view ${identifier(name)}`);
    if (shared.has(name)) remove(join(options.target, name));
  }
  return results.filter(({ name }) => !ofRun.includes(name));
}

/**
 * Puts models into the order in which they can run, by the references in their SQL. Throws MODEL_GRAPH.
 * @param known tables and views that exist, lower case
 */
export async function orderedModels(
  connection: DuckDBConnection,
  models: readonly Model[],
  known: ReadonlySet<string>,
): Promise<readonly (Model & ModelNode)[]> {
  return planModels(await withReferences(connection, models), known);
}

/** Names of the steps of a run that several of its models read; each is computed once, and not by every reader. */
export function sharedSteps(models: readonly (Model & Partial<ModelNode>)[]): ReadonlySet<string> {
  const readersOf = (name: string) => models.filter(({ references = [] }) => references.includes(name));
  const steps = models.filter(({ exists }) => exists === 'none').map(({ name }) => name);
  return new Set(steps.filter((name) => readersOf(name).length > 1));
}

/**
 * A view with the steps of the run that it reads as CTEs of its own SQL, since it outlives them. Any other model is computed
 * while they exist, and stays as it is.
 */
function whole<M extends Model & ModelNode>(model: M, models: readonly M[]): M {
  const steps = new Map<string, M>();
  const references = new Set<string>();
  const visit = (reader: M): void => {
    for (const name of reader.references) {
      const step = models.find((each) => each.name === name && each.exists === 'none');
      if (step === undefined) references.add(name);
      else if (!steps.has(name)) {
        visit(step);
        steps.set(name, step);
      }
    }
  };
  if (model.exists === 'view') visit(model);
  if (steps.size === 0) return model;
  const ctes = [...steps.values()].map(({ name, sql }) => `${identifier(name)} as (\n${sql}\n)`);
  const sql = `with ${ctes.join(',\n')}\nselect * from (\n${model.sql}\n)`;
  return { ...model, sql, references: [...references].sort() };
}

/** A model with the names that it reads, lower case. */
export interface ModelNode {
  readonly name: string;
  readonly references: readonly string[];
}

/**
 * Puts models into an order in which each comes after the models that it reads, otherwise by name. The fit of prices comes
 * first, with all that it reads: it takes longest and computes outside of DuckDB, so others run beside it.
 * Throws MODEL_GRAPH for a cycle, and for a reference that is neither a model nor known.
 * @param known tables and views that exist before any model runs
 */
export function planModels<M extends ModelNode>(models: readonly M[], known: ReadonlySet<string>): M[] {
  const byName = new Map(models.map((model) => [model.name, model]));
  const order = new Set<M>();
  const visit = (model: M, path: readonly string[]): void => {
    if (order.has(model)) return;
    if (path.includes(model.name)) throw circular([...path.slice(path.indexOf(model.name)), model.name]);
    for (const reference of [...model.references].sort()) {
      const next = byName.get(reference);
      if (next !== undefined) visit(next, [...path, model.name]);
      else if (!known.has(reference)) throw unknown(model.name, reference);
    }
    order.add(model);
  };
  const named = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const model of [...named.filter(({ name }) => name === FIT), ...named]) visit(model, []);
  return [...order];
}

/** A model with the models that cannot be planned for it, see {@link planEach}. */
interface Unplanned<M> {
  readonly model: M;
  readonly error: LotlakeError;
}

/**
 * Puts models into an order as {@link planModels} does, and leaves out those that read what does not exist, those that read
 * each other in a circle, and all that read one of these.
 * @param known tables and views that exist before any model runs
 */
export function planEach<M extends ModelNode>(models: readonly M[], known: ReadonlySet<string>) {
  const unplanned: Unplanned<M>[] = [];
  const planned = models.filter((model) => {
    try {
      planModels(neededBy(model, models), known);
      return true;
    } catch (error) {
      if (!(error instanceof LotlakeError)) throw error;
      unplanned.push({ model, error });
      return false;
    }
  });
  return { planned: planModels(planned, known), unplanned };
}

/** A model and those that it reads, directly or through others. */
function neededBy<M extends ModelNode>(model: M, models: readonly M[]): readonly M[] {
  const found = new Set([model]);
  for (const { references } of found)
    for (const next of models) if (references.includes(next.name)) found.add(next);
  return [...found];
}

const circular = (cycle: readonly string[]): LotlakeError =>
  new LotlakeError('MODEL_GRAPH', `models read each other in a circle: ${cycle.join(' → ')}`, {
    hint: 'take what they share into a model of its own',
  });

const unknown = (name: string, read: string): LotlakeError =>
  new LotlakeError('MODEL_GRAPH', `model ${name} reads ${read}, which is neither a model nor a table`, {
    hint: insteadOf(read) ?? 'lotlake tables lists the names there are',
  });

async function runModel(
  connection: DuckDBConnection,
  model: Model & ModelNode,
  { target, snapshot }: RunModelsOptions,
  sortsApart: boolean,
  isShared: boolean,
): Promise<ModelResult> {
  const { name, key, sql, references } = model;
  const started = performance.now();
  const made = (rest: Pick<ModelResult, 'rows' | 'view'>): ModelResult => {
    const ms = Math.round(performance.now() - started);
    return { name, key, ...rest, ms };
  };
  try {
    const folder = join(target, name);
    if (OUTSIDE.includes(name)) {
      makeFolder(folder);
      if (name === FIT) await fitPrices(connection, folder);
      else await landCosts(connection, sql);
      remove(folder);
      return made({ rows: 0 });
    }
    if (isShared) {
      makeFolder(folder);
      const file = join(folder, 'data_0.parquet');
      await connection.run(`copy (\n${sql}\n) to ${literal(file)} (${martOptions(model, snapshot)})`);
      await connection.run(
        viewOn(target, { name, partitioned: false, files: [{ path: `${name}/data_0.parquet` }] }),
      );
      return made({ rows: 0 });
    }
    if (model.exists === 'view' || model.exists === 'none') {
      if (model.isOwn) await assertColumns(connection, model);
      await connection.run(`create or replace view ${identifier(name)} as\n${sql}`);
      const view = { key: [...key], sql, reads: [...references] };
      return made({ rows: 0, view });
    }
    if (model.isOwn) await assertColumns(connection, model);
    makeFolder(folder);
    const count = await writeSorted(connection, model, folder, snapshot, sortsApart);
    await connection.run(
      viewOn(target, { name, partitioned: false, files: [{ path: `${name}/data_0.parquet` }] }),
    );
    if (name === SETTINGS) await createFunctions(connection, 'enough');
    killPoint('model.mart-written');
    return made({ rows: count });
  } catch (error) {
    throw modelFailed(`model ${name} failed`, error);
  }
}

/**
 * Computes a model into a file of its folder, sorted by its key, and returns the number of rows. If the options of the file are
 * others once the types of its columns are known, it is written again with them.
 * @param sortsApart whether a second statement sorts, so that the sort does not share memory with joins and windows
 */
async function writeSorted(
  connection: DuckDBConnection,
  model: Model,
  folder: string,
  snapshot: MartSnapshot | undefined,
  sortsApart: boolean,
): Promise<number> {
  const { sql, key } = model;
  const file = join(folder, 'data_0.parquet');
  const other = `${file}.tmp`;
  const options = martOptions(model, snapshot);
  if (sortsApart) await connection.run(`copy (\n${sql}\n) to ${literal(other)} (${options})`);
  const ofOther = `from read_parquet(${literal(other)}, hive_partitioning = false)`;
  const order = key.map((column) => `${identifier(column)} nulls last`).join(', ');
  const copy = (source: string, given: string) =>
    scalar(
      connection,
      `copy (select * from (\n${source}\n) order by ${order}) to ${literal(file)} (${given})`,
    );
  const count = await copy(sortsApart ? ofOther : sql, options);
  remove(other);
  const columns = await columnsOf(
    connection,
    `from read_parquet(${literal(file)}, hive_partitioning = false)`,
  );
  const exact = martOptions(model, snapshot, columns);
  if (exact === options) return count;
  move(file, other);
  await copy(ofOther, exact);
  remove(other);
  return count;
}
