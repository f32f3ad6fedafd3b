import { type Partition, partitionFolder } from '../lake/partition.js';
import type { TableSchema } from '../lake/schema.js';
import { HISTORY } from '../lake/schema.js';
import { identifier, rows } from '../lake/session.js';
import type { LakeTable } from '../lake/tables.js';
import type { MergeContext, TableCounts } from './context.js';
import { baseRelation, currentRows } from './staged.js';

/** The rows of a table that this run delivered, ready to be merged. */
export interface NewRows {
  /** Relation with the content columns, the state columns that are compared, and `_domain`, `_month` if partitioned. */
  readonly relation: string;
  /** Whether the state columns come with the rows instead of being set while merging. */
  readonly withState: boolean;
}

/** Table with the differences of a table that was merged with a last state. */
export function diffName(table: string): string {
  return `_diff_${table}`;
}

/** Columns that new rows bring: the content, and the state where it comes with them. */
export function givenColumns(schema: TableSchema, fresh: NewRows): string[] {
  const state = fresh.withState ? schema.own.slice(0, -HISTORY.length) : [];
  return [...schema.content, ...state].map((column) => column.name);
}

/**
 * Finds what is new, different, back or gone, by key, into the table `diffName`; rows without a difference are left
 * out. Keys may hold null.
 */
export async function createDiff(context: MergeContext, schema: TableSchema, fresh: NewRows): Promise<void> {
  const { table } = schema;
  const key = table.key.map(identifier).join(', ');
  const types = new Map(schema.columns.map((column) => [column.name, column.type]));
  // The hash of an empty list is that of null in DuckDB 1.5, so that a list brings its length along.
  const hashed = givenColumns(schema, fresh).map((name) =>
    types.get(name)?.endsWith('[]') ? `${identifier(name)}, len(${identifier(name)})` : identifier(name),
  );
  const hash = `hash(${hashed.join(', ')})`;
  const [domain, month] = table.partition === undefined ? ["''", "''"] : ['_domain', '_month'];
  const isMarked = table.gone === 'mark' && !fresh.withState;
  await context.connection.run(`
    create or replace table ${diffName(table.name)} as
    with new_rows as (
      select ${key}, ${hash} as _new_hash, ${domain} as _new_domain, ${month} as _new_month from ${fresh.relation}
    ),
    old_rows as (
      select ${key}, ${hash} as _old_hash, ${domain} as _old_domain, ${month} as _old_month, first_seen_at,
        ${isMarked ? 'gone_at is not null' : 'false'} as _was_gone, ${goneCondition(context, table)} as _owner_came
      from ${baseRelation(context, schema)} as o
    ),
    matched as (
      select ${key},
        max(_new_hash) as _new_hash, max(_new_domain) as _new_domain, max(_new_month) as _new_month,
        max(_old_hash) as _old_hash, max(_old_domain) as _old_domain, max(_old_month) as _old_month,
        max(first_seen_at) as _first_seen_at, bool_or(_was_gone) as _was_gone, bool_or(_owner_came) as _owner_came
      from (select * from new_rows union all by name select * from old_rows)
      group by ${key}
    ),
    judged as (
      select *, case
          when _old_hash is null then 'inserted'
          when _new_hash is not null and (_new_hash <> _old_hash or _was_gone) then 'updated'
          when _new_hash is null and _owner_came and not _was_gone then 'gone'
        end as _action
      from matched
    )
    select * from judged where _action is not null`);
}

/** SQL, over an old row `o`, that says whether this run delivered what owns it. */
function goneCondition(context: MergeContext, table: LakeTable): string {
  if (table.gone !== 'mark' && table.gone !== 'remove') return 'false';
  if (table.owner === 'stream') return String(context.evidence.completeStreams.has(table.stream));
  const [owner, member] = table.owner.split('.');
  if (member === undefined || owner === undefined || !context.evidence.fromFeed) return 'false';
  const key = `${owner}_id`;
  const delivered = currentRows(
    context,
    `_delivered_${owner}s`,
    `cast(null as bigint) as ${key}, false as ${member}`,
  );
  return `o.${key} in (select ${key} from ${delivered} where ${member})`;
}

/** Counts what a diff found. */
export async function countDiff(
  context: MergeContext,
  table: string,
  oldRows: number,
): Promise<Pick<TableCounts, 'inserted' | 'updated' | 'unchanged' | 'gone'>> {
  const counted = await rows(
    context.connection,
    `select _action, count(*) as n from ${diffName(table)} group by _action`,
  );
  const of = (action: string): number => Number(counted.find((r) => r._action === action)?.n ?? 0);
  const updated = of('updated');
  const gone = of('gone');
  return { inserted: of('inserted'), updated, gone, unchanged: oldRows - updated - gone };
}

/** Partitions that hold a difference, by folder; the one of an unpartitioned table has an empty name. */
export async function changedPartitions(
  context: MergeContext,
  table: LakeTable,
): Promise<ReadonlyMap<string, Partition>> {
  const diff = diffName(table.name);
  // A distinct over an unnested list loses rows in DuckDB 1.5, so the two sides are put together by union.
  const found = await rows(
    context.connection,
    `select _new_domain as domain, _new_month as month from ${diff} where _new_hash is not null
     union select _old_domain, _old_month from ${diff} where _old_hash is not null`,
  );
  return new Map(
    found.map((r) => {
      const partition = { domain: String(r.domain), month: String(r.month) };
      return [table.partition === undefined ? '' : partitionFolder(partition), partition];
    }),
  );
}
