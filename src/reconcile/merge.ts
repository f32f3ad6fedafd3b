import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal } from '../duck/session.js';
import { type FileSize, type FileUse, fileSizes, linkFile, partitionOf } from '../lake/files.js';
import type { LakeFile } from '../lake/manifest.js';
import { partitionFromFolder } from '../lake/partition.js';
import { REJECTED, type TableSchema } from '../lake/schema.js';
import { compareRows, type NewRows } from './compare.js';
import type { MergeContext, TableCounts } from './context.js';
import { baseRelation, sameKey } from './relations.js';
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
  const { name } = schema.table;
  // A first try may have left something.
  rmSync(join(context.target, name), { recursive: true, force: true });
  const stored = context.base?.manifest.tables[name];
  const oldRows = stored?.rows ?? 0;
  if (given !== undefined && oldRows === 0) return writeFirst(context, schema, given);
  const { counts, changed, isNoted } =
    given === undefined
      ? {
          counts: { inserted: 0, updated: 0, gone: 0, unchanged: oldRows },
          changed: new Set<string>(),
          isNoted: false,
        }
      : await compareRows(context, schema, given, oldRows);
  const files = stored?.files ?? [];
  const isSameShape = JSON.stringify(stored?.columns) === JSON.stringify(schema.columns);
  const rewritten = files.filter((file) => !isSameShape || changed.has(partitionOf(file)));
  const partitions = [...new Set([...changed, ...rewritten.map(partitionOf)])].map(partitionFromFolder);
  const sql: RowsSql = (condition, ofIds) =>
    given === undefined
      ? `select * from ${oldRelation(context, schema, rewritten)} where ${condition}`
      : mergedRows(context, schema, { ...given, isNoted }, rewritten, { condition, ofIds });
  if (partitions.length > 0) await writeRows(context, schema, sql, partitions);
  const kept = files.filter((file) => !rewritten.includes(file));
  return { ...counts, ...(await filesOf(context, schema, kept)) };
}

/** All rows of the partitions that are rewritten: kept, gone, new and changed ones. */
function mergedRows(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows & { readonly isNoted: boolean },
  rewritten: readonly LakeFile[],
  { condition, ofIds }: { readonly condition: string; readonly ofIds: string },
): string {
  const { table } = schema;
  const diff = `(from run.actions_${table.name} where ${ofIds})`;
  const seen = timestamp(context.seenAt);
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
      from ${fresh.relation} as n join ${diff} as d on ${sameKey(table.key, 'd', 'n')} where d._action = 'noted'
    ) as m on ${sameKey(table.key, 'm', 'o')}`;
  return `
    select ${old.join(', ')}${partition('o')}
    from (from ${oldRelation(context, schema, rewritten)} where ${condition}) as o left join ${diff} as d on ${sameKey(table.key, 'd', 'o')}
    ${fresh.isNoted ? noted : ''}
    where ${stays}
    union all by name
    select ${newColumns(context, schema, fresh, 'd._first_seen_at')}${partition('n')}
    from (from ${fresh.relation} where ${condition}) as n join ${diff} as d on ${sameKey(table.key, 'd', 'n')}
    where d._action in ('inserted', 'updated')`;
}

/** The rows of files of the last snapshot; of a table that is held in memory all rows. */
function oldRelation(context: MergeContext, schema: TableSchema, files: readonly LakeFile[]): string {
  const { name } = schema.table;
  return context.held?.has(name) === true ? `base.${name}` : baseRelation(context, schema, files);
}

/** An instant as an SQL literal. */
const timestamp = (iso: string): string => `cast(${literal(iso)} as timestamptz)`;

function newColumns(context: MergeContext, schema: TableSchema, fresh: NewRows, firstSeen: string): string {
  const seen = timestamp(context.seenAt);
  const given = new Set([...fresh.compared, REJECTED].map(({ name }) => name));
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
  const columns = newColumns(context, schema, fresh, 'cast(null as timestamptz)');
  const partition = schema.table.partition === undefined ? '' : ', n._domain, n._month';
  const sql = (condition: string): string =>
    `select ${columns}${partition} from (from ${fresh.relation} where ${condition}) as n`;
  const inserted = await writeRows(context, schema, sql);
  return { inserted, updated: 0, unchanged: 0, gone: 0, ...(await filesOf(context, schema, [])) };
}

/** Links the files of a table that are kept, and counts all of its files. If no file is left, writes an empty one. */
async function filesOf(
  context: MergeContext,
  schema: TableSchema,
  kept: readonly LakeFile[],
): Promise<FileUse> {
  const { name } = schema.table;
  if (fileSizes(context.target, name).length + kept.length === 0) await writeEmpty(context, schema);
  const written = fileSizes(context.target, name);
  for (const file of kept) {
    const to = join(context.target, file.path);
    if (!existsSync(to)) linkFile(join(context.base?.folder ?? '', file.path), to);
  }
  const bytesOf = (files: readonly FileSize[]): number => files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    ...{ writtenFiles: written.length, writtenBytes: bytesOf(written) },
    ...{ linkedFiles: kept.length, linkedBytes: bytesOf(kept) },
  };
}
