import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { identifier, literal, rows, sameKey } from '../../base/duck/session.js';
import { fileSizes, filesRelation, partitionOf } from '../lake/files.js';
import { linkFile } from '../lake/linked-files.js';
import type { LakeFile } from '../lake/manifest.js';
import { partitionFolder, partitionFromFolder } from '../lake/partition.js';
import type { TableCounts } from '../lake/row-counts.js';
import { type Column, REJECTED, type TableSchema } from '../lake/schema.js';
import { baseRelation, castColumns, isInMemory, isSmall, type MergeContext } from './relations.js';
import { isSameShape, type RowsSql, writeEmpty, writeRows } from './write.js';

/** The rows of a table that this run delivered, one per key, ready to be merged. */
export interface NewRows {
  /** Relation with the columns that are compared, `rejected`, and `_domain`, `_month` if the table is partitioned. */
  readonly relation: string;
  /** Columns that decide whether a row changed: the content, and the state if it comes with the rows. */
  readonly compared: readonly Column[];
}

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
  const stored = context.base?.manifest.tables[name];
  const oldRows = stored?.rows ?? 0;
  if (given !== undefined && oldRows === 0) return writeFirst(context, schema, given);
  const { counts, changed, isNoted } =
    given === undefined
      ? {
          counts: { inserted: 0, updated: 0, gone: 0, unchanged: oldRows, compared: 0 },
          changed: new Set<string>(),
          isNoted: false,
        }
      : await compareRows(context, schema, given, oldRows);
  const files = stored?.files ?? [];
  const isSame = isSameShape(schema, context);
  const rewritten = files.filter((file) => !isSame || changed.has(partitionOf(file)));
  const partitions = [...new Set([...changed, ...rewritten.map(partitionOf)])].map(partitionFromFolder);
  const sql: RowsSql = (condition, ofIds) =>
    given === undefined
      ? `select * from ${oldRelation(context, schema, rewritten)} where ${condition}`
      : mergedRows(context, schema, { ...given, isNoted }, rewritten, { condition, ofIds });
  if (partitions.length > 0) await writeRows(context, schema, sql, partitions);
  const kept = files.filter((file) => !rewritten.includes(file));
  await linkFiles(context, schema, kept);
  return counts;
}

/** SQL of a four-byte hash of the rejected values of a row. */
const NOTE = `case when ${REJECTED.name} is null then 0 else cast(hash(${REJECTED.name}) >> 32 as uinteger) end`;

/**
 * What happens to each row of a table: `inserted`, `updated`, `gone`, or `noted` if it differs only in its rejected values. A row
 * that did not come with its owner is gone, unless it is or may be of a source that the key lacks. A row that was gone and is
 * back counts as updated. Reads the views `compared`, new rows joined with the last snapshot, and `delivering_owners`, whose
 * list of these rows came.
 */
export const ACTIONS = `
  with classified as (
    select
      compared.*,
      case
        when _old_hash is null then 'inserted'
        when _new_hash is not null and (_new_hash <> _old_hash or _was_gone) then 'updated'
        when _new_hash is null
          and not _was_gone
          and _owner_id in (from delivering_owners)
          -- a row without a source may be of one that the key lacks: if there is one, NOT IN gives null
          and _source_id not in (from run.hidden_sources)
        then 'gone'
        when _new_note <> _old_note then 'noted'
      end as _action
    from compared
  )
  from classified where _action is not null`;

/**
 * Compares new rows with the base by key, and writes what happens to each row into the relation `run.actions_<table>`.
 * Equal rows are left out. A row that differs only in its rejected values is noted, and does not count as changed. Keys may
 * hold null.
 * @param oldRows number of rows in the base
 */
async function compareRows(
  context: MergeContext,
  schema: TableSchema,
  { relation, compared }: NewRows,
  oldRows: number,
) {
  const { table } = schema;
  const { connection } = context;
  const keys = table.key.map(identifier);
  const key = keys.join(', ');
  // In DuckDB 1.5 an empty list has the same hash as null, so the length of a list is hashed, too.
  const hashed = compared.map(({ name, type }) =>
    type.endsWith('[]') ? `${identifier(name)}, len(${identifier(name)})` : identifier(name),
  );
  const hash = `hash(${hashed.join(', ')})`;
  const [domain, month] = table.partition === undefined ? ["''", "''"] : ['_domain', '_month'];
  const owner = ownerOf(schema);
  await connection.run(`create or replace temp view delivering_owners as ${owner.delivering}`);
  const files = await filesOfDelivered(context, schema, relation, owner.id);
  const old = oldRelation(context, schema, files);
  await connection.run(`
    create or replace temp view compared as
    with new_rows as (
      select ${key}, ${hash} as _new_hash, ${NOTE} as _new_note, ${domain} as _new_domain, ${month} as _new_month
      from ${relation}
    ),
    old_rows as (
      select ${key}, ${hash} as _old_hash, ${NOTE} as _old_note, ${domain} as _old_domain, ${month} as _old_month, first_seen_at,
        ${table.gone === 'mark' ? 'gone_at is not null' : 'false'} as _was_gone, ${owner.id} as _owner_id, ${owner.source} as _source_id
      from ${old}
    )
    -- a join and no grouping of both, which would hold the old rows of a large table in memory
    select ${keys.map((name) => `coalesce(n.${name}, o.${name}) as ${name}`).join(', ')},
      _new_hash, _new_domain, _new_month, _new_note, _old_note, _old_hash, _old_domain, _old_month,
      first_seen_at as _first_seen_at, coalesce(_was_gone, false) as _was_gone, _owner_id, _source_id
    from new_rows as n full join old_rows as o on ${sameKey(table.key, 'n', 'o')}`);
  await connection.run(`create or replace table run.actions_${table.name} as ${ACTIONS}`);
  const groups = await rows(
    connection,
    `select _action, count(*) as n,
      _new_hash is not null as is_new, _new_domain, _new_month, _old_hash is not null as is_old, _old_domain, _old_month
    from run.actions_${table.name} group by all`,
  );
  const placeOf = (domain: unknown, month: unknown): string =>
    table.partition === undefined ? '' : partitionFolder({ domain: String(domain), month: String(month) });
  const changed = new Set<string>();
  for (const group of groups) {
    if (group.is_new === true) changed.add(placeOf(group._new_domain, group._new_month));
    if (group.is_old === true) changed.add(placeOf(group._old_domain, group._old_month));
  }
  const countOf = (action: string): number =>
    groups.filter((group) => group._action === action).reduce((sum, group) => sum + Number(group.n), 0);
  const [inserted, updated, gone] = [countOf('inserted'), countOf('updated'), countOf('gone')];
  killPoint('reconcile.table-compared');
  return {
    counts: {
      ...{ inserted, updated, gone, unchanged: oldRows - updated - gone },
      compared: files.reduce((sum, file) => sum + file.rows, 0),
    },
    /** Folders of the partitions that changed; empty text for an unpartitioned table. */
    changed,
    /** Whether some row differs only in the names of its rejected values. */
    isNoted: countOf('noted') > 0,
  };
}

/**
 * The files of a table in the last snapshot with a row that may change: its key came, or its owner came with the list of this
 * table. Rows in other files stay as they are, so that only their keys are read. Needs `delivering_owners`.
 * @param owner SQL of the owner of an old row
 */
async function filesOfDelivered(
  context: MergeContext,
  { table, columns }: TableSchema,
  relation: string,
  owner: string,
): Promise<readonly LakeFile[]> {
  const { connection, base } = context;
  const stored = base?.manifest.tables[table.name];
  if (base === undefined || stored === undefined) return [];
  const files = stored.files.filter(({ rows }) => rows > 0);
  if (isInMemory(context, table.name) || (files.length < 2 && isSmall(context, table.name))) return files;
  const known = new Set(stored.columns.map(({ name }) => name));
  const keys = columns.filter(({ name }) => table.key.includes(name));
  const old = (selected: string): string =>
    `(select filename as file, ${selected} from ${filesRelation(base.folder, files, stored.partitioned, true)})`;
  // Two semi joins, since DuckDB skips row groups by the least and the largest value of each.
  const found = await rows(
    connection,
    `select distinct file from ${old(`${owner} as owner_id`)} semi join delivering_owners using (owner_id)
     union
     select distinct file from ${old(castColumns(keys, known))} as o semi join ${relation} as n on ${sameKey(table.key, 'n', 'o')}`,
  );
  const touched = new Set(found.map(({ file }) => String(file)));
  return files.filter(({ path }) => touched.has(join(base.folder, path)));
}

/**
 * SQL of the owner and the source of an old row, and of the owners that came with the list of this table, as `owner_id`.
 * A table of a stream has one owner, 0. The rule `actions` decides which rows are gone.
 */
function ownerOf({ table, content }: TableSchema) {
  const [owner, list] = table.owner.split('.');
  const canGo = table.gone === 'mark' || table.gone === 'remove';
  if (canGo && list !== undefined)
    return {
      id: `${owner}_id`,
      source: content.some(({ name }) => name === 'domain_id') ? 'domain_id' : '0',
      delivering: `select ${owner}_id as owner_id from run.delivering_${owner}s where ${list}`,
    };
  const stream = canGo && owner === 'stream' ? table.stream : '';
  const delivering = `select distinct 0 as owner_id from run.complete_streams where stream = ${literal(stream)}`;
  return { id: '0', source: '0', delivering };
}

/** SQL of all rows of the rewritten partitions: kept, new and changed ones, and gone ones unless they are removed. */
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

/** The rows of files of the last snapshot; for a table that is held in memory, all rows. */
function oldRelation(context: MergeContext, schema: TableSchema, files: readonly LakeFile[]): string {
  const { name } = schema.table;
  return isInMemory(context, name) ? `base.${name}` : baseRelation(context, schema, files);
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
  await linkFiles(context, schema, []);
  return { inserted, updated: 0, unchanged: 0, gone: 0, compared: 0 };
}

/** Links the files of a table that are kept. If the table has no file at all, writes an empty one. */
async function linkFiles(context: MergeContext, schema: TableSchema, kept: readonly LakeFile[]) {
  const { target, base } = context;
  if (fileSizes(target, schema.table.name).length + kept.length === 0) await writeEmpty(context, schema);
  for (const { path } of kept) {
    const to = join(target, path);
    if (!existsSync(to)) linkFile(join(base?.folder ?? '', path), to);
  }
}
