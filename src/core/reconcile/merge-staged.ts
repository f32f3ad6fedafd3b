import { join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { makeFolder, makeNewFolder, remove } from '../../base/config/owned.js';
import { counted } from '../../base/config/printable.js';
import { isOutOfMemory } from '../../base/duck/out-of-memory.js';
import { poolOf, settled } from '../../base/duck/pool.js';
import { identifier, literal, rows } from '../../base/duck/session.js';
import { compareFiles } from '../lake/linked-files.js';
import type { TableChange } from '../lake/row-counts.js';
import { type Column, REJECTED, type TableSchema } from '../lake/schema.js';
import { isStaged, stagedFiles } from '../lake/staged.js';
import { lakeTables } from '../lake/tables.js';
import { mergeTable, type NewRows } from './merge-table.js';
import { isInMemory, type MergeContext, PARTITION, systemTable } from './relations.js';
import { applyRules, COUNTING, ruleOf } from './rules.js';
import { bindCounted, bindEstimates, bindNext, bindState, OF_RULES, oncePerKey } from './state.js';
import { appendToSystemTable } from './system-rows.js';
import { parquetOf } from './write.js';

/** What merging did. */
export interface Merged {
  readonly counts: Readonly<Record<string, TableChange>>;
  /** Rows that `lot_changes` got. */
  readonly lotChanges: number;
  /** Such as an override of the guard. */
  readonly warnings: readonly string[];
}

/**
 * Merges the staged rows of a run with the last snapshot into the new snapshot folder, by the rules of `sql/reconcile`.
 * Throws RECONCILE_SHRINK if too many lots would be archived as absent.
 */
export async function mergeStaged(context: MergeContext): Promise<Merged> {
  const second = await context.connect();
  const use = poolOf([context.connection, second], context.alone);
  const step: RunStep = (name, work) => use((connection) => runNamed(name, work, { ...context, connection }));
  try {
    await step('last snapshot', bindState);
    await step('rows that count', findCounted);
    await step('sightings', writeSightings);
    await step('absent lots', findAbsent);
    killPoint('reconcile.state-prepared');
    const warnings = await step('shrink guard', guardShrink);
    const merged = await mergeTables(context, step);
    const damages = await step('given estimates', keepEstimates);
    const counts = Object.fromEntries(merged.map((one) => [one.table, one.counts]));
    const lotChanges = merged.reduce((sum, one) => sum + one.lotChanges, 0);
    const repeats = await step('rows of one key', tellRepeated);
    return { counts, lotChanges, warnings: [...warnings, ...repeats, ...damages] };
  } finally {
    second.closeSync();
  }
}

/** Says how many rows of each table shared their key with another row, so that the lake has one of them. */
async function tellRepeated({ connection }: MergeContext): Promise<string[]> {
  const found = await rows(
    connection,
    'select table_name, sum(rows)::bigint as lost from run.repeated_rows group by all having lost > 0 order by all',
  );
  return found.map(
    ({ table_name, lost }) =>
      `${counted(Number(lost), 'row')} of ${table_name} came with the key of another row and other values: of each key the newest row counts, else the last received; landing keeps all of them`,
  );
}

type Step<T> = (context: MergeContext) => Promise<T>;

/** Runs a step on a free connection. If it runs out of memory beside other steps, it runs again alone. */
type RunStep = <T>(name: string, work: Step<T>) => Promise<T>;

/** Does one step of merging. A database error names the step. */
async function runNamed<T>(name: string, work: Step<T>, context: MergeContext): Promise<T> {
  try {
    return await work(context);
  } catch (error) {
    if (error instanceof LotlakeError) throw error;
    throw new LotlakeError(
      'RECONCILE_FAILED',
      `the rows of run ${context.runId} cannot be merged (${name}): ${messageOf(error)}`,
      {
        cause: error,
        hint: 'the last snapshot stays current and the pages stay in landing; run the same command again, or with more memory',
      },
    );
  }
}

/** Decides which staged rows count. */
async function findCounted(context: MergeContext): Promise<void> {
  const { connection, schemas } = context;
  await applyRules(connection, ...['unchanged_vehicles', ...COUNTING, 'rejected_vehicles', 'rejected_lots']);
  await bindCounted(
    connection,
    [...schemas.values()].filter(
      ({ table }) => OF_RULES.has(table.name) || isStaged(context.stage, table.name),
    ),
  );
}

/**
 * Writes the sightings. They are a small table of their own, so that no row of a lot changes because it was seen; vehicles
 * and lots are a file each, so that only one of them is worked on at a time.
 */
async function writeSightings(context: MergeContext): Promise<void> {
  const folder = join(context.target, 'sightings');
  remove(folder);
  makeFolder(folder);
  for (const [i, rule] of ['vehicle_sightings', 'lot_sightings'].entries())
    await context.connection.run(
      `copy (from (${ruleOf(rule).sql}) order by vehicle_id, lot_id)
       to ${literal(join(folder, `data_${i}.parquet`))} (${parquetOf(systemTable('sightings'), context)})`,
    );
  await bindNext(context, 'sightings');
}

/** Decides which lots of the last snapshot are absent, and which deliveries say that other rows are gone. */
async function findAbsent({ connection, base }: MergeContext): Promise<void> {
  await applyRules(connection, 'archive_feed', 'absent_lots', 'shrink');
  if (base !== undefined) await applyRules(connection, 'delivering_vehicles', 'delivering_lots');
}

/**
 * Merges the wide tables one after the other, since each is written file by file on connections of its own, then the
 * others two at a time. Vehicles come last: whether one is archived is read from the lots of the new snapshot.
 */
async function mergeTables(context: MergeContext, step: RunStep) {
  const schemas = lakeTables().flatMap(({ name }) => context.schemas.get(name) ?? []);
  const merge = (schema: TableSchema) => step(schema.table.name, mergeOne(schema));
  const merged: Awaited<ReturnType<typeof merge>>[] = [];
  for (const schema of schemas.filter(({ table }) => table.wide !== undefined))
    merged.push(await merge(schema));
  const others = schemas.filter(({ table }) => table.wide === undefined);
  const isLast = ({ table }: TableSchema): boolean => table.name === 'vehicles';
  merged.push(...(await settled(others.filter((schema) => !isLast(schema)).map(merge))));
  for (const schema of others.filter(isLast)) merged.push(await merge(schema));
  return merged;
}

const mergeOne = (schema: TableSchema) => async (context: MergeContext) => {
  const table = schema.table.name;
  const { target, base } = context;
  // A first try may have left something, which takes space.
  for (const written of table === 'lots' ? [table, 'lot_changes'] : [table]) remove(join(target, written));
  const counts = await mergeTable(context, schema, await newRows(context, schema));
  let lotChanges = 0;
  if (table === 'lots') {
    await bindNext(context, 'lots');
    lotChanges = await appendToSystemTable(context, 'lot_changes', counts.updated > 0);
    killPoint('reconcile.changes-appended');
  }
  await context.connection.run(`drop table if exists run.actions_${table}`);
  killPoint('reconcile.table-merged');
  const files = compareFiles(join(target, table), base && join(base.folder, table));
  return { table, counts: { ...counts, ...files }, lotChanges };
};

/**
 * Keeps the estimates that the last snapshot gave to lots whose auction is over. If its estimates cannot be read, as in a
 * lake of an older version, none are kept: they are no state of the feed. Returns a warning if they are damaged.
 */
async function keepEstimates(context: MergeContext): Promise<string[]> {
  const { base, target } = context;
  const append = (applies: boolean): Promise<number> => {
    // A first try may have left something.
    remove(join(target, 'given_estimates'));
    return appendToSystemTable(context, 'given_estimates', applies);
  };
  const hasThem = base !== undefined && (await bindEstimates(context, base));
  try {
    await append(hasThem);
    return [];
  } catch (error) {
    if (!hasThem || isOutOfMemory(error)) throw error;
    await append(false);
    return [
      `the estimates of ${base.manifest.snapshot_id} cannot be read, so those that it gave are not kept for later tests: ${messageOf(error)}`,
    ];
  }
}

/** The new rows of a table; undefined if nothing was staged of it. */
async function newRows(context: MergeContext, schema: TableSchema): Promise<NewRows | undefined> {
  const { name } = schema.table;
  if (name === 'lots' || name === 'vehicles') return rowsWithState(context, schema);
  if (!isStaged(context.stage, name)) return undefined;
  const relation = await oncePerKey(context.connection, schema, `counted.${name}`);
  return { relation, compared: schema.content };
}

/** Lots or vehicles as the rules make them: the delivered ones, and those of the last snapshot that end. */
async function rowsWithState(context: MergeContext, schema: TableSchema): Promise<NewRows | undefined> {
  const { connection, base, stage } = context;
  const { name } = schema.table;
  if (base === undefined && !isStaged(stage, name)) return undefined;
  if (name === 'vehicles') await applyRules(connection, 'lots_of_vehicles');
  await applyRules(connection, `delivered_${name}`, `ended_${name}`);
  const sql = stateSql(schema);
  const compared = [...schema.content, ...schema.state];
  if (base === undefined) return { relation: sql, compared };
  // Read several times while merging, so it is computed once.
  if (isInMemory(context, name)) {
    await connection.run(`create or replace table run.${name} as from ${sql}`);
    return { relation: `run.${name}`, compared };
  }
  const fresh = `_new_${name}`;
  const folder = join(stage, fresh);
  remove(folder);
  makeNewFolder(folder);
  const isWide = schema.table.wide !== undefined;
  const target = literal(isWide ? folder : join(folder, 'data_0.parquet'));
  // A row group of every partition is in memory while they are written.
  const partition = isWide
    ? ', partition_by (_domain, _month), overwrite_or_ignore true, row_group_size 2048'
    : '';
  await connection.run(`copy (from ${sql}) to ${target} (format parquet, compression snappy${partition})`);
  // A partitioned copy of no rows leaves no file.
  return isStaged(stage, fresh) ? { relation: stagedFiles(stage, fresh), compared } : undefined;
}

function stateSql({ table, content, state }: TableSchema): string {
  const [key] = table.key.map(identifier);
  const known = [...content, REJECTED, ...(table.partition === undefined ? [] : PARTITION)];
  const columns = (relation: string, given: readonly Column[]): string =>
    given.map(({ name }) => `${relation}.${identifier(name)}`).join(', ');
  return `(
    select ${columns('n', [...known, ...state])} from run.delivered_${table.name} as n
    union all
    select ${columns('o', known)}, ${columns('e', state)}
    from base.${table.name} as o join run.ended_${table.name} as e on e.${key} = o.${key}
  )`;
}

/**
 * Holds the run if a source would lose an implausible share of its active lots at once (the rule `shrink`). Returns a
 * warning if `allowShrink` lets it pass; else throws RECONCILE_SHRINK.
 */
export async function guardShrink({
  connection,
  allowShrink,
  shrinkGuard,
}: Pick<MergeContext, 'connection' | 'allowShrink' | 'shrinkGuard'>): Promise<string[]> {
  const over = await rows(connection, 'from run.shrink where is_over order by domain_id');
  if (over.length === 0) return [];
  const shares = over
    .map(
      ({ domain_id, absent_lots, active_lots }) =>
        `source ${domain_id}: ${absent_lots} of ${active_lots} active lots (${percent(Number(absent_lots) / Number(active_lots))})`,
    )
    .join('; ');
  if (allowShrink) return [`archived past the shrink guard: ${shares}`];
  throw new LotlakeError('RECONCILE_SHRINK', `the feed lacks too much to be believed: ${shares}`, {
    outcome: 'held',
    hint: `nothing was archived and the last snapshot stays current; if the feed is right, run again with --allow-shrink (guard: ${percent(shrinkGuard)})`,
  });
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
