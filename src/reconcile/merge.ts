import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesRelation, linkFile, listFiles, partitionOf } from '../lake/files.js';
import type { LakeFile } from '../lake/manifest.js';
import type { TableSchema } from '../lake/schema.js';
import { identifier, literal, row, rows } from '../lake/session.js';
import type { LakeTable } from '../lake/tables.js';
import type { MergeContext, TableCounts } from './context.js';
import { baseRelation, partitionColumns, stagedFiles } from './staged.js';
import { timestamp } from './state-tables.js';

/** The rows of a table that this run delivered, ready to be merged. */
export interface NewRows {
  /** Relation with the content columns, the state columns that are compared, and what partitions need. */
  readonly relation: string;
  /** State columns that come with the rows instead of being set here. */
  readonly withState: boolean;
}

/** Parquet settings of every published file: what Spark, pandas, polars and older readers open. */
export const PARQUET = 'format parquet, compression zstd, parquet_version v1, row_group_size 122880';

/**
 * Merges new rows into a table of the new snapshot: partitions without a change are linked, the others are written
 * again. Nothing is forgotten: rows that their parent no longer delivers are kept and marked (images are replaced).
 */
export async function mergeTable(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows | undefined,
): Promise<TableCounts> {
  const name = schema.table.name;
  if (fresh === undefined) return linkTable(context, schema);
  const stored = context.base?.manifest.tables[name];
  if (context.base === undefined || stored === undefined || stored.rows === 0)
    return writeFirst(context, schema, fresh);

  const diff = diffName(name);
  await createDiff(context, schema, fresh, diff);
  const counts = await countDiff(context, diff, stored.rows);
  const isSameShape = JSON.stringify(stored.columns) === JSON.stringify(schema.columns);
  const changed = isSameShape ? await changedPartitions(context, schema.table, diff) : undefined;
  const rewritten = stored.files.filter((file) => changed === undefined || changed.has(partitionOf(file)));
  const kept = stored.files.filter((file) => !rewritten.includes(file));
  if (changed === undefined || changed.size > 0) {
    await writeSorted(context, schema, mergedRows(context, schema, fresh, diff, rewritten));
  }
  const written = await listFiles(context.connection, context.target, name);
  const linked = linkAll(context, kept);
  if (written.length + kept.length === 0) await writeEmpty(context, schema);
  return { ...counts, ...writtenSizes(written), ...linked };
}

/** Temporary table with the differences of a table that was merged with a last state. */
export function diffName(table: string): string {
  return `_diff_${table}`;
}

function compared(schema: TableSchema, fresh: NewRows): string[] {
  const state = fresh.withState ? schema.own.slice(0, -3) : [];
  return [...schema.content, ...state].map((column) => identifier(column.name));
}

/** Finds what is new, different, back or gone, by key; rows without a difference are left out. */
async function createDiff(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows,
  diff: string,
): Promise<void> {
  const { table } = schema;
  const key = table.key.map(identifier).join(', ');
  const hash = `hash(${compared(schema, fresh).join(', ')})`;
  const [domain = 'null', month = 'null'] = partitionColumns(table);
  const baseMonth = table.partition?.month === '_month_at' ? 'month' : month;
  const isMarked = table.gone === 'mark' && !fresh.withState;
  const gone = goneCondition(context, table);
  await context.connection.run(`
    create or replace temp table ${diff} as
    with new_rows as (
      select ${key}, ${hash} as _new_hash, ${domain} as _new_domain, ${month} as _new_month from ${fresh.relation}
    ),
    old_rows as (
      select ${key}, ${hash} as _old_hash, ${domain} as _old_domain, ${baseMonth} as _old_month, first_seen_at,
        ${isMarked ? 'gone_at is not null' : 'false'} as _was_gone, ${gone} as _owner_came
      from ${basePartitioned(context, schema)} as o
    ),
    matched as (
      select ${key},
        max(_new_hash) as _new_hash, max(_new_domain) as _new_domain, max(_new_month) as _new_month,
        max(_old_hash) as _old_hash, max(_old_domain) as _old_domain, max(_old_month) as _old_month,
        max(first_seen_at) as _first_seen_at, bool_or(_was_gone) as _was_gone, bool_or(_owner_came) as _owner_came
      from (select * from new_rows union all by name select * from old_rows)
      group by ${key}
    )
    select *, case
        when _old_hash is null then 'inserted'
        when _new_hash is not null and (_new_hash <> _old_hash or _was_gone) then 'updated'
        when _new_hash is null and _owner_came and not _was_gone then 'gone'
      end as _action
    from matched
    where _old_hash is null
      or (_new_hash is not null and (_new_hash <> _old_hash or _was_gone))
      or (_new_hash is null and _owner_came and not _was_gone)`);
}

/** The last state of a table with its `month` where the month is not among its own columns. */
function basePartitioned(context: MergeContext, schema: TableSchema, files?: readonly LakeFile[]): string {
  const stored = context.base?.manifest.tables[schema.table.name];
  const used = files ?? stored?.files ?? [];
  if (schema.table.partition?.month !== '_month_at' || context.base === undefined || used.length === 0)
    return baseRelation(context, schema, [...used]);
  const known = new Set(stored?.columns.map((column) => column.name));
  const columns = schema.columns.map((column) =>
    known.has(column.name)
      ? `cast(${identifier(column.name)} as ${column.type}) as ${identifier(column.name)}`
      : `cast(null as ${column.type}) as ${identifier(column.name)}`,
  );
  return `(select ${columns.join(', ')}, month from ${filesRelation(context.base.folder, used, true)})`;
}

/** SQL, over an old row `o`, that says whether this run delivered what owns it. */
function goneCondition(context: MergeContext, table: LakeTable): string {
  if (table.gone !== 'mark' && table.gone !== 'remove') return 'false';
  if (table.owner === 'stream') return String(context.evidence.statisticsComplete);
  const [owner, member] = table.owner.split('.');
  if (member === undefined || owner === undefined) return 'false';
  const delivered = stagedFiles(context, `_delivered_${owner}s`);
  const key = `${owner}_id`;
  return `o.${key} in (select ${key} from ${delivered} where ${member})`;
}

async function countDiff(
  context: MergeContext,
  diff: string,
  oldRows: number,
): Promise<Pick<TableCounts, 'inserted' | 'updated' | 'unchanged' | 'gone'>> {
  const counted = await rows(
    context.connection,
    `select _action, count(*) as n from ${diff} group by _action`,
  );
  const of = (action: string): number => Number(counted.find((r) => r._action === action)?.n ?? 0);
  const updated = of('updated');
  const gone = of('gone');
  return { inserted: of('inserted'), updated, gone, unchanged: oldRows - updated - gone };
}

async function changedPartitions(
  context: MergeContext,
  table: LakeTable,
  diff: string,
): Promise<ReadonlySet<string>> {
  const found = await rows(
    context.connection,
    `select cast(_new_domain as varchar) as domain, cast(_new_month as varchar) as month
     from ${diff} where _new_hash is not null
     union
     select cast(_old_domain as varchar), cast(_old_month as varchar) from ${diff} where _old_hash is not null`,
  );
  return new Set(
    found.map((r) =>
      table.partition === undefined
        ? ''
        : `domain_id=${r.domain ?? '__HIVE_DEFAULT_PARTITION__'}/month=${String(r.month)}`,
    ),
  );
}

/** The rows of the partitions that are written again. */
function mergedRows(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows,
  diff: string,
  rewritten: readonly LakeFile[],
): string {
  const { table } = schema;
  const { seenAt, runId } = context.evidence;
  const seen = timestamp(seenAt);
  const match = (left: string): string =>
    table.key.map((k) => `d.${identifier(k)} is not distinct from ${left}.${identifier(k)}`).join(' and ');
  const old = schema.columns.map(({ name }) => {
    const column = `o.${identifier(name)}`;
    if (name === 'gone_at' && table.gone === 'mark')
      return `case when d._action = 'gone' then ${seen} else ${column} end as gone_at`;
    if (name === 'changed_at')
      return `case when d._action = 'gone' then ${seen} else ${column} end as changed_at`;
    if (name === 'run_id')
      return `case when d._action = 'gone' then ${literal(runId)} else ${column} end as run_id`;
    return column;
  });
  const month = table.partition?.month === '_month_at' ? ', o.month as _month' : monthColumn(table, 'o');
  const keepGone = table.gone === 'remove' ? `d._action is null` : `d._action is null or d._action = 'gone'`;
  return `
    select ${old.join(', ')}${month}
    from ${basePartitioned(context, schema, rewritten)} as o left join ${diff} as d on ${match('o')}
    where ${keepGone}
    union all by name
    select ${newColumns(schema, fresh, seenAt, runId, 'd._first_seen_at')}${monthColumn(table, 'n')}
    from ${fresh.relation} as n join ${diff} as d on ${match('n')}
    where d._action in ('inserted', 'updated')`;
}

function newColumns(
  schema: TableSchema,
  fresh: NewRows,
  seenAt: string,
  runId: string,
  firstSeen: string,
): string {
  const seen = timestamp(seenAt);
  const given = new Set(
    [...schema.content, ...(fresh.withState ? schema.own.slice(0, -3) : [])].map((c) => c.name),
  );
  return schema.columns
    .map(({ name, type }) => {
      if (given.has(name)) return `n.${identifier(name)}`;
      if (name === 'first_seen_at') return `coalesce(${firstSeen}, ${seen}) as first_seen_at`;
      if (name === 'changed_at') return `${seen} as changed_at`;
      if (name === 'run_id') return `${literal(runId)} as run_id`;
      return `cast(null as ${type}) as ${identifier(name)}`;
    })
    .join(', ');
}

function monthColumn(table: LakeTable, alias: string): string {
  const [, month] = partitionColumns(table);
  return month === undefined
    ? ''
    : `, ${month.replace(/coalesce\(strftime\(/, `coalesce(strftime(${alias}.`)} as _month`;
}

async function writeFirst(context: MergeContext, schema: TableSchema, fresh: NewRows): Promise<TableCounts> {
  const { seenAt, runId } = context.evidence;
  const columns = newColumns(schema, fresh, seenAt, runId, 'cast(null as timestamptz)');
  await writeSorted(
    context,
    schema,
    `select ${columns}${monthColumn(schema.table, 'n')} from ${fresh.relation} as n`,
  );
  let written = await listFiles(context.connection, context.target, schema.table.name);
  if (written.length === 0) {
    await writeEmpty(context, schema);
    written = await listFiles(context.connection, context.target, schema.table.name);
  }
  const inserted = written.reduce((sum, file) => sum + file.rows, 0);
  return {
    inserted,
    updated: 0,
    unchanged: 0,
    gone: 0,
    ...writtenSizes(written),
    linkedFiles: 0,
    linkedBytes: 0,
  };
}

async function writeSorted(context: MergeContext, schema: TableSchema, sql: string): Promise<void> {
  const { table } = schema;
  const folder = join(context.target, table.name);
  mkdirSync(folder, { recursive: true });
  const columns = schema.columns.map((column) => identifier(column.name)).join(', ');
  const sort = table.sort.map(identifier).join(', ');
  if (table.partition === undefined) {
    const filled = await row(context.connection, `select exists (from (${sql})) as filled`);
    if (filled.filled !== true) return;
    await context.connection.run(
      `copy (select ${columns} from (${sql}) order by ${sort}) to ${literal(join(folder, 'data_0.parquet'))} (${PARQUET})`,
    );
    return;
  }
  await context.connection.run(
    `copy (select ${columns}, _month as month from (${sql}) order by domain_id, month, ${sort})
     to ${literal(folder)} (${PARQUET}, partition_by (domain_id, month), overwrite_or_ignore true)`,
  );
}

/** A file without rows, so that a table that has none can still be read. */
async function writeEmpty(context: MergeContext, schema: TableSchema): Promise<void> {
  const folder = join(context.target, schema.table.name);
  mkdirSync(folder, { recursive: true });
  const columns = schema.columns.map((c) => `cast(null as ${c.type}) as ${identifier(c.name)}`);
  if (schema.table.partition !== undefined) columns.push('cast(null as varchar) as month');
  await context.connection.run(
    `copy (select ${columns.join(', ')} where false) to ${literal(join(folder, 'empty.parquet'))} (${PARQUET})`,
  );
}

async function linkTable(context: MergeContext, schema: TableSchema): Promise<TableCounts> {
  const stored = context.base?.manifest.tables[schema.table.name];
  const none = { inserted: 0, updated: 0, gone: 0, writtenFiles: 0, writtenBytes: 0 };
  if (stored === undefined) {
    await writeEmpty(context, schema);
    return { ...none, unchanged: 0, linkedFiles: 0, linkedBytes: 0 };
  }
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

function writtenSizes(files: readonly LakeFile[]): Pick<TableCounts, 'writtenFiles' | 'writtenBytes'> {
  return { writtenFiles: files.length, writtenBytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}
