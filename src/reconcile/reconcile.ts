import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killPoint } from '../config/kill-point.js';
import { LotlakeError, messageOf } from '../config/lotlake-error.js';
import { poolOf, settled, type UseConnection } from '../duck/pool.js';
import { literal } from '../duck/session.js';
import { type LakeTable, lakeTables } from '../lake/tables.js';
import type { MergeContext, TableCounts } from './context.js';
import { dropDiff, type NewRows } from './diff.js';
import { holdSmallStates } from './hold.js';
import { appendLotChanges } from './lot-changes.js';
import { mergeTable } from './merge.js';
import { ReconcileError } from './reconcile-error.js';
import { findContestedLots, findOvertakenVehicles, writeSightings } from './sightings.js';
import {
  currentRelation,
  findLacking,
  findRepeatedVehicles,
  isStaged,
  lastOfEach,
  schemaOf,
  stagedRelation,
} from './staged.js';
import { effectiveLots, effectiveVehicles, measureShrink, prepareState } from './state-tables.js';

/** What reconcile did. */
export interface ReconcileResult {
  readonly counts: Readonly<Record<string, TableCounts>>;
  readonly lotChanges: number;
  readonly repeatedVehicles: number;
  /** What the run should warn of, such as an override of the guard. */
  readonly warnings: readonly string[];
}

/**
 * Merges the staged rows of a run with the last state into the new snapshot folder. Throws ReconcileError, with
 * nothing published, where too much would be archived for absence.
 */
export async function reconcile(given: MergeContext): Promise<ReconcileResult> {
  const second = await given.connect();
  const use = poolOf([given.connection, second], given.alone);
  const step = <T>(what: string, work: Step<T>, context: MergeContext): Promise<T> =>
    use((connection) => naming(what, work, { ...context, connection }));
  try {
    const repeated = await step('repeated vehicles', findRepeatedVehicles, given);
    const repeatedVehicles = repeated + (await step('vehicles seen later', findOvertakenVehicles, given));
    const held = await step('last state', holdSmallStates, given);
    const lacking = await step('rejected values', findLacking, given);
    const once = { ...given, repeatedVehicles, held, lacking };
    const context = { ...once, contestedLots: await step('contested lots', findContestedLots, once) };
    await step('sightings', writeSightings, context);
    await step('absent lots', prepareState, context);
    killPoint('reconcile.state-prepared');
    const warnings = await step('shrink guard', guardShrink, context);
    const merged = await mergeTables(context, use, lakeTables());
    const counts = Object.fromEntries(merged.map((one) => [one.table, one.counts]));
    const lotChanges = merged.reduce((sum, one) => sum + one.lotChanges, 0);
    return { counts, lotChanges, repeatedVehicles, warnings };
  } finally {
    second.closeSync();
  }
}

type Step<T> = (context: MergeContext) => Promise<T>;

/** Does one step of merging; an error of the database names it. */
async function naming<T>(what: string, work: Step<T>, context: MergeContext): Promise<T> {
  try {
    return await work(context);
  } catch (error) {
    if (error instanceof LotlakeError) throw error;
    throw new ReconcileError(
      'RECONCILE_FAILED',
      `the rows of run ${context.evidence.runId} cannot be merged (${what}): ${messageOf(error)}`,
      {
        cause: error,
        hint: 'the last snapshot stays current and the pages stay in landing; run the same command again, or with more memory',
      },
    );
  }
}

interface MergedTable {
  readonly table: string;
  readonly counts: TableCounts;
  readonly lotChanges: number;
}

/**
 * Merges the wide tables one after the other, since each is written file by file on connections of its own, then the
 * others two at a time. Vehicles come last: whether one is archived is read from the lots of the new snapshot.
 */
async function mergeTables(
  context: MergeContext,
  use: UseConnection,
  tables: readonly LakeTable[],
): Promise<MergedTable[]> {
  const merge = (table: string): Promise<MergedTable> =>
    use(
      (connection) => naming(table, mergeOne(table), { ...context, connection }),
      (connection) => naming(table, mergeAgain(table), { ...context, connection }),
    );
  const merged: MergedTable[] = [];
  for (const { name } of tables.filter(({ wide }) => wide !== undefined)) merged.push(await merge(name));
  const others = tables.filter(({ name, wide }) => wide === undefined && name !== 'vehicles');
  merged.push(...(await settled(others.map(({ name }) => merge(name)))));
  merged.push(await merge('vehicles'));
  return merged;
}

/** Merges a table from the beginning, without what a first try left. */
const mergeAgain =
  (table: string): Step<MergedTable> =>
  (context) => {
    for (const written of table === 'lots' ? [table, 'lot_changes'] : [table])
      rmSync(join(context.target, written), { recursive: true, force: true });
    return mergeOne(table)(context);
  };

const mergeOne =
  (table: string): Step<MergedTable> =>
  async (context) => {
    const schema = schemaOf(context, table);
    const fresh = await freshRows(context, table);
    const counts = await mergeTable(context, schema, fresh);
    let lotChanges = 0;
    if (table === 'lots') {
      lotChanges = await appendLotChanges(context, schema, fresh?.relation);
      killPoint('reconcile.changes-appended');
    }
    await dropDiff(context, table);
    killPoint('reconcile.table-merged');
    return { table, counts, lotChanges };
  };

async function freshRows(context: MergeContext, name: string): Promise<NewRows | undefined> {
  if (name !== 'lots' && name !== 'vehicles') {
    const schema = context.schemas.get(name);
    if (schema === undefined || !isStaged(context, name)) return undefined;
    if (isFirst(context, name)) return { relation: await stagedRelation(context, schema), withState: false };
    const relation = currentRelation(context, schema);
    return { relation, withState: false, lastOfEach: lastOfEach(schema, relation) };
  }
  if (context.base === undefined && !isStaged(context, name)) return undefined;
  const sql = name === 'lots' ? await effectiveLots(context) : await effectiveVehicles(context);
  if (context.base === undefined) return { relation: sql, withState: true };
  // Read several times below, so it is computed once.
  if (context.held?.has(name) === true) {
    const held = `_effective_${name}`;
    await context.connection.run(`create or replace table ${held} as from ${sql}`);
    return { relation: held, withState: true };
  }
  const folder = join(context.stage, `_effective_${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const isWide = name === 'lots';
  const target = literal(isWide ? folder : join(folder, 'data_0.parquet'));
  // A row group of every partition is in memory while they are written.
  const partition = isWide
    ? ', partition_by (_domain, _month), overwrite_or_ignore true, row_group_size 2048'
    : '';
  await context.connection.run(
    `copy (from ${sql}) to ${target} (format parquet, compression snappy${partition})`,
  );
  // A partitioned copy of no rows leaves no file.
  if (readdirSync(folder).length === 0) return undefined;
  return { relation: effectiveFiles(folder, isWide), withState: true };
}

/** Whether a table has no rows yet that new ones could be compared with. */
function isFirst(context: MergeContext, name: string): boolean {
  return (context.base?.manifest.tables[name]?.rows ?? 0) === 0;
}

function effectiveFiles(folder: string, isWide: boolean): string {
  const glob = literal(join(folder, isWide ? '**' : '', '*.parquet'));
  return `read_parquet(${glob}, hive_partitioning = ${isWide}${isWide ? ', hive_types_autocast = false' : ''})`;
}

/** Holds the run where a source would lose more of its active lots at once than a feed plausibly does. */
async function guardShrink(context: MergeContext): Promise<string[]> {
  if (!context.evidence.carsComplete || context.base === undefined) return [];
  const over = (await measureShrink(context)).filter(
    (source) => source.active > 0 && source.absent / source.active > context.shrinkGuard,
  );
  if (over.length === 0) return [];
  const told = over
    .map(
      (s) => `source ${s.domainId}: ${s.absent} of ${s.active} active lots (${percent(s.absent / s.active)})`,
    )
    .join('; ');
  if (context.allowShrink) return [`archived past the shrink guard: ${told}`];
  throw new ReconcileError('RECONCILE_SHRINK', `the feed lacks too much to be believed: ${told}`, {
    outcome: 'held',
    hint: `nothing was archived and the last snapshot stays current; if the feed is right, run again with --allow-shrink (guard: ${percent(context.shrinkGuard)})`,
  });
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
