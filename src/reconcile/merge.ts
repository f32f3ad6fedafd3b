import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { killPoint } from '../config/kill-point.js';
import { identifier, literal, rows } from '../duck/session.js';
import { type FileSize, fileSizes, linkFile, partitionOf } from '../lake/files.js';
import type { LakeFile, ManifestTable } from '../lake/manifest.js';
import { type Partition, partitionFromFolder } from '../lake/partition.js';
import { REJECTED, type TableSchema } from '../lake/schema.js';
import {
  actionsOf,
  compareRows,
  type Difference,
  givenColumns,
  type NewRows,
  noDifference,
  summarize,
} from './compare.js';
import type { MergeContext, TableCounts } from './context.js';
import { baseRelation } from './relations.js';
import { type RowsSql, writeEmpty, writeRows } from './write.js';

/**
 * Merges new rows into a table of the new snapshot: partitions without a change are linked, the others are written
 * again. Nothing is forgotten: rows that their parent no longer delivers are kept and marked (images are replaced).
 */
export async function mergeTable(
  context: MergeContext,
  schema: TableSchema,
  given: NewRows | undefined,
): Promise<TableCounts> {
  const stored = context.base?.manifest.tables[schema.table.name];
  const isSameShape = JSON.stringify(stored?.columns) === JSON.stringify(schema.columns);
  if (given === undefined)
    return stored !== undefined && isSameShape
      ? linkTable(context, stored)
      : reshape(context, schema, stored);
  if (stored === undefined || stored.rows === 0) return writeFirst(context, schema, given);

  const { fresh, counts, changed, isNoted } = await compare(context, schema, given, stored.rows);
  killPoint('reconcile.table-compared');
  const files = stored.files.filter((file) => file.rows > 0);
  const rewritten = files.filter((file) => !isSameShape || changed.has(partitionOf(file)));
  const kept = files.filter((file) => !rewritten.includes(file));
  if (rewritten.length > 0 || changed.size > 0) {
    const partitions = new Map(changed);
    for (const file of rewritten) partitions.set(partitionOf(file), partitionFromFolder(partitionOf(file)));
    const sql: RowsSql = (condition, ofIds) =>
      mergedRows(context, schema, { ...fresh, isNoted }, rewritten, { condition, ofIds });
    await writeRows(context, schema, sql, [...partitions.values()]);
  }
  const written = fileSizes(context.target, schema.table.name);
  const linked = linkAll(context, kept);
  if (written.length + kept.length === 0) await writeEmpty(context, schema);
  return { ...counts, ...writtenSizes(written), ...linked };
}

/** Compares new rows with the base. If a key came more than once, which is rare, compares its last row. */
async function compare(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows,
  oldRows: number,
): Promise<Difference & { readonly fresh: NewRows }> {
  const differences = await compareRows(context, schema, fresh);
  if (differences === 0) return { ...noDifference(oldRows), fresh };
  const found = await summarize(context, schema.table, oldRows);
  if (!found.isRepeated || fresh.lastOfEach === undefined) return { ...found, fresh };
  const last = { relation: fresh.lastOfEach, withState: fresh.withState };
  return compare(context, schema, last, oldRows);
}

/** All rows of the partitions that are rewritten: kept, gone, new and changed ones. */
function mergedRows(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows & Pick<Difference, 'isNoted'>,
  rewritten: readonly LakeFile[],
  { condition, ofIds }: { readonly condition: string; readonly ofIds: string },
): string {
  const { table } = schema;
  const diff = `(from ${actionsOf(table.name)} where ${ofIds})`;
  const seen = timestamp(context.seenAt);
  const match = (left: string): string =>
    table.key
      .map((key) => `d.${identifier(key)} is not distinct from ${left}.${identifier(key)}`)
      .join(' and ');
  const whenGone = (value: string, column: string): string =>
    `case when d._action = 'gone' then ${value} else o.${identifier(column)} end as ${identifier(column)}`;
  const old = schema.columns.map(({ name }) => {
    if (name === 'changed_at' || (name === 'gone_at' && table.gone === 'mark')) return whenGone(seen, name);
    if (name === REJECTED.name && fresh.isNoted)
      return `case when d._action = 'noted' then m.${name} else o.${name} end as ${name}`;
    if (name === 'run_id') return whenGone(literal(context.runId), name);
    return `o.${identifier(name)}`;
  });
  const partition = (left: string): string =>
    table.partition === undefined ? '' : `, ${left}._domain, ${left}._month`;
  const stays = `(d._action is null or d._action = 'noted'${table.gone === 'remove' ? '' : " or d._action = 'gone'"})`;
  const keys = table.key.map((key) => `n.${identifier(key)}`).join(', ');
  const noted = `left join (
      select ${keys}, n.${REJECTED.name}
      from ${fresh.relation} as n join ${diff} as d on ${match('n')} where d._action = 'noted'
    ) as m on ${table.key.map((key) => `m.${identifier(key)} is not distinct from o.${identifier(key)}`).join(' and ')}`;
  return `
    select ${old.join(', ')}${partition('o')}
    from (from ${oldRelation(context, schema, rewritten)} where ${condition}) as o left join ${diff} as d on ${match('o')}
    ${fresh.isNoted ? noted : ''}
    where ${stays}
    union all by name
    select ${newColumns(context, schema, fresh, 'd._first_seen_at')}${partition('n')}
    from (from ${fresh.relation} where ${condition}) as n join ${diff} as d on ${match('n')}
    where d._action in ('inserted', 'updated')`;
}

/** The rows of files of the last state; where it is held in memory all of its rows. */
function oldRelation(context: MergeContext, schema: TableSchema, files: readonly LakeFile[]): string {
  const { name } = schema.table;
  return context.held?.has(name) === true ? `base.${name}` : baseRelation(context, schema, files);
}

/** An instant as an SQL literal. */
const timestamp = (iso: string): string => `cast(${literal(iso)} as timestamptz)`;

function newColumns(context: MergeContext, schema: TableSchema, fresh: NewRows, firstSeen: string): string {
  const seen = timestamp(context.seenAt);
  const given = new Set(givenColumns(schema, fresh));
  return schema.columns
    .map(({ name, type }) => {
      if (given.has(name)) return `n.${identifier(name)}`;
      if (name === 'first_seen_at') return `coalesce(${firstSeen}, ${seen}) as first_seen_at`;
      if (name === 'changed_at') return `${seen} as changed_at`;
      if (name === 'run_id') return `${literal(context.runId)} as run_id`;
      return `cast(null as ${type}) as ${identifier(name)}`;
    })
    .join(', ');
}

async function writeFirst(context: MergeContext, schema: TableSchema, fresh: NewRows): Promise<TableCounts> {
  const { table } = schema;
  const columns = newColumns(context, schema, fresh, 'cast(null as timestamptz)');
  const partition = table.partition === undefined ? '' : ', n._domain, n._month';
  const sql = (condition: string): string =>
    `select ${columns}${partition} from (from ${fresh.relation} where ${condition}) as n`;
  const partitions = table.wide !== undefined ? await partitionsOf(context, fresh) : [];
  const inserted = await writeRows(context, schema, sql, partitions);
  if (inserted === 0) await writeEmpty(context, schema);
  const written = fileSizes(context.target, table.name);
  const none = { updated: 0, unchanged: 0, gone: 0, linkedFiles: 0, linkedBytes: 0 };
  return { inserted, ...none, ...writtenSizes(written) };
}

async function partitionsOf(context: MergeContext, fresh: NewRows): Promise<Partition[]> {
  const found = await rows(context.connection, `select distinct _domain, _month from ${fresh.relation}`);
  return found.map((r) => ({ domain: String(r._domain), month: String(r._month) }));
}

/** Writes a table without new rows: again with new columns, or empty if it is new. */
async function reshape(
  context: MergeContext,
  schema: TableSchema,
  stored: ManifestTable | undefined,
): Promise<TableCounts> {
  const files = (stored?.files ?? []).filter((file) => file.rows > 0);
  const none = { inserted: 0, updated: 0, gone: 0, linkedFiles: 0, linkedBytes: 0 };
  if (files.length === 0) await writeEmpty(context, schema);
  else {
    const rows = `select * from ${oldRelation(context, schema, files)}`;
    const partitions = new Map(
      files.map((file) => [partitionOf(file), partitionFromFolder(partitionOf(file))]),
    );
    await writeRows(context, schema, (condition) => `${rows} where ${condition}`, [...partitions.values()]);
  }
  const written = fileSizes(context.target, schema.table.name);
  return { ...none, unchanged: stored?.rows ?? 0, ...writtenSizes(written) };
}

function linkTable(context: MergeContext, stored: ManifestTable): TableCounts {
  const none = { inserted: 0, updated: 0, gone: 0, writtenFiles: 0, writtenBytes: 0 };
  return { ...none, unchanged: stored.rows, ...linkAll(context, stored.files) };
}

function linkAll(
  context: MergeContext,
  files: readonly LakeFile[],
): Pick<TableCounts, 'linkedFiles' | 'linkedBytes'> {
  if (context.base === undefined) return { linkedFiles: 0, linkedBytes: 0 };
  for (const file of files) {
    const to = join(context.target, file.path);
    if (!existsSync(to)) linkFile(join(context.base.folder, file.path), to);
  }
  return { linkedFiles: files.length, linkedBytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

function writtenSizes(files: readonly FileSize[]): Pick<TableCounts, 'writtenFiles' | 'writtenBytes'> {
  return { writtenFiles: files.length, writtenBytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}
