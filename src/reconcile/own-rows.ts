import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal, rows, scalar } from '../duck/session.js';
import { filesRelation, linkFile } from '../lake/files.js';
import { type OwnTable, ownTables } from '../lake/own-tables.js';
import { type MergeContext, ReconcileError } from './context.js';
import { parquetOf } from './write.js';

/** One row of `runs`. */
export interface RunRow {
  readonly run_id: string;
  readonly pipeline: string;
  readonly snapshot_id: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly records: number;
  readonly loaded: number;
  readonly rejected: number;
  readonly rejected_values: number;
  readonly drifted: number;
  /** JSON. */
  readonly counts: string;
  readonly warnings: readonly string[];
  readonly held: readonly string[];
  readonly failing: readonly string[];
  readonly minimum_group: number;
  readonly relisting_days: number;
  readonly reject_alarm: number;
}

/** Writes the passes of a run; a pass that the last state has is replaced. */
export async function writePasses(context: MergeContext): Promise<void> {
  const noted = context.passes.map(({ manifest }) => ({
    ...manifest,
    request: JSON.stringify(manifest.request),
    drift: JSON.stringify(manifest.drift),
  }));
  await writeOwn(context, 'passes', jsonRelation('passes', noted));
}

/**
 * Writes the rejects of a run as a file, and links those of earlier runs: each as long as landing holds a pass that it is
 * of.
 * @param landed ids of the passes that landing holds
 */
export async function writeRejects(context: MergeContext, landed: ReadonlySet<string>): Promise<void> {
  const { connection, base, target, runId } = context;
  // A page that was read again may reject something at one place twice: what was received last counts.
  const fresh = `(
    select distinct on (stream, pass_id, list, page, position, path) *, ${literal(runId)} as run_id
    from run.rejects order by seq desc
  )`;
  const { columns, key } = ownTable('rejects');
  const stored = base?.manifest.tables.rejects;
  // Files of an older lotlake, with other columns, are written again.
  const isSame = columns.every(({ name }) => stored?.columns.some((known) => known.name === name));
  if (stored !== undefined && !isSame) return writeOwn(context, 'rejects', fresh);
  const folder = join(target, 'rejects');
  mkdirSync(folder, { recursive: true });
  let linked = 0;
  for (const file of stored?.files.filter((earlier) => earlier.rows > 0) ?? []) {
    const from = join(base?.folder ?? '', file.path);
    const passes = await rows(connection, `select distinct pass_id from read_parquet(${literal(from)})`);
    if (!passes.some(({ pass_id }) => landed.has(String(pass_id)))) continue;
    linkFile(from, join(target, file.path));
    linked++;
  }
  const file = join(folder, `${runId}.parquet`);
  const selected = columns.map((c) => `cast(${identifier(c.name)} as ${c.type}) as ${identifier(c.name)}`);
  const order = key.map(identifier).join(', ');
  const written = await scalar(
    connection,
    `copy (select ${selected.join(', ')} from ${fresh} order by ${order}) to ${literal(file)} (${parquetOf('rejects', context)})`,
  );
  // One file stays, so that a table without rows can be read.
  if (written === 0 && linked > 0) rmSync(file);
}

/** One row of `closings`. */
export interface ClosingRow {
  readonly vehicle_id: number;
  readonly asked_at: string;
  readonly asked: number;
  readonly outcome: 'found' | 'gone' | 'refused';
  readonly run_id: string;
}

/** Writes what came of the vehicles that a run asked for; every other run carries the table on. */
export async function writeClosings(context: MergeContext, closings: readonly ClosingRow[]): Promise<void> {
  await writeOwn(context, 'closings', jsonRelation('closings', closings));
}

/** Writes the row of a run. */
export async function writeRun(context: MergeContext, run: RunRow): Promise<void> {
  await writeOwn(context, 'runs', jsonRelation('runs', [run]));
}

/** Writes a small table of lotlake's own as one file: what the last state has, replaced by key, and the new rows. */
async function writeOwn(context: MergeContext, name: string, fresh: string): Promise<void> {
  const table = ownTable(name);
  const key = table.key.map(identifier).join(', ');
  const stored = context.base?.manifest.tables[name];
  const select = (isThere: (column: string) => boolean): string =>
    table.columns
      .map((c) => {
        const column = identifier(c.name);
        return `cast(${isThere(c.name) ? column : 'null'} as ${c.type}) as ${column}`;
      })
      .join(', ');
  // A lake of an older lotlake lacks the columns that came since.
  const oldColumns = select((column) => stored?.columns.some(({ name: known }) => known === column) ?? false);
  const old =
    context.base === undefined || stored === undefined
      ? ''
      : `union all select ${oldColumns} from ${filesRelation(context.base.folder, stored.files, false)}
         where (${key}) not in (select (${key}) from fresh)`;
  const folder = join(context.target, name);
  mkdirSync(folder, { recursive: true });
  await context.connection.run(`
    copy (with fresh as (select ${select(() => true)} from ${fresh}) select * from fresh ${old} order by ${key})
    to ${literal(join(folder, 'data_0.parquet'))} (${parquetOf(name, context)})`);
}

function ownTable(name: string): OwnTable {
  const table = ownTables.find((own) => own.name === name);
  if (table === undefined) throw new ReconcileError('RECONCILE_FAILED', `there is no own table ${name}`);
  return table;
}

function jsonRelation(name: string, rows: readonly object[]): string {
  const table = ownTables.find((own) => own.name === name);
  const struct = (table?.columns ?? []).map((c) => `${identifier(c.name)} ${c.type}`).join(', ');
  return `(select unnest(cast(from_json(${literal(JSON.stringify(rows))}, ${literal(structure(name))}) as struct(${struct})[]), max_depth := 2))`;
}

/** Structure of a row for `from_json`, in JSON types that it reads without loss. */
function structure(name: string): string {
  const table = ownTables.find((own) => own.name === name);
  const members = (table?.columns ?? []).map((c) => [c.name, c.type.endsWith('[]') ? ['VARCHAR'] : c.type]);
  return JSON.stringify([Object.fromEntries(members)]);
}
