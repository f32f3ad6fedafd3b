import { identifier, rows, scalar } from '../duck/session.js';
import { type Partition, partitionFolder } from '../lake/partition.js';
import type { TableSchema } from '../lake/schema.js';
import { REJECTED } from '../lake/schema.js';
import type { LakeTable } from '../lake/tables.js';
import type { MergeContext, TableCounts } from './context.js';
import { baseRelation, currentRows, UNCHANGED } from './staged.js';

/** The rows of a table that this run delivered, ready to be merged. */
export interface NewRows {
  /** Relation with the content columns, the state columns that are compared, and `_domain`, `_month` if partitioned. */
  readonly relation: string;
  /** Whether the state columns come with the rows instead of being set while merging. */
  readonly withState: boolean;
  /** Relation to take instead where `relation` has a key twice; undefined where it cannot. */
  readonly lastOfEach?: string;
}

/** Table with the differences of a table that was merged with a last state. */
export function diffName(table: string): string {
  return `_diff_${table}`;
}

/** Gives back the memory of the differences of a table. */
export async function dropDiff({ connection }: MergeContext, table: string): Promise<void> {
  await connection.run(`drop table if exists ${diffName(table)}`);
}

/** Columns that new rows bring: those that are compared, and which of them have no good value. */
export function givenColumns(schema: TableSchema, fresh: NewRows): string[] {
  return [...comparedColumns(schema, fresh), REJECTED.name];
}

/** The content of new rows, and the state where it comes with them. */
function comparedColumns({ content, state }: TableSchema, { withState }: NewRows): string[] {
  return [...content, ...(withState ? state : [])].map((column) => column.name);
}

/** What a row says of its rejected values, in four bytes. */
const NOTE = `case when ${REJECTED.name} is null then 0 else cast(hash(${REJECTED.name}) >> 32 as uinteger) end`;

/**
 * Finds what is new, different, back or gone, by key, into the table `diffName`; rows without a difference, whose key
 * is there once, are left out. A row that differs only in which of its values were rejected is noted, and did not
 * change. Keys may hold null.
 * @returns number of rows in the diff
 */
export async function createDiff(
  context: MergeContext,
  schema: TableSchema,
  fresh: NewRows,
): Promise<number> {
  const { table } = schema;
  const keys = table.key.map(identifier);
  const key = keys.join(', ');
  const types = new Map(schema.columns.map((column) => [column.name, column.type]));
  // The hash of an empty list is that of null in DuckDB 1.5, so that a list brings its length along.
  const hashed = comparedColumns(schema, fresh).map((name) =>
    types.get(name)?.endsWith('[]') ? `${identifier(name)}, len(${identifier(name)})` : identifier(name),
  );
  const hash = `hash(${hashed.join(', ')})`;
  const [domain, month] = table.partition === undefined ? ["''", "''"] : ['_domain', '_month'];
  const isMarked = table.gone === 'mark' && !fresh.withState;
  const sql = `
    create or replace table ${diffName(table.name)} as
    with new_rows as (
      select ${key}, count(*) as _copies, max(${hash}) as _new_hash, max(${NOTE}) as _new_note,
        max(${domain}) as _new_domain, max(${month}) as _new_month
      from ${fresh.relation} group by ${key}
    ),
    old_rows as (
      select ${key}, ${hash} as _old_hash, ${NOTE} as _old_note, ${domain} as _old_domain, ${month} as _old_month, first_seen_at,
        ${isMarked ? 'gone_at is not null' : 'false'} as _was_gone, ${goneCondition(context, schema)} as _owner_came
      from ${baseRelation(context, schema)} as o
    ),
    matched as (
      -- a join and no grouping of both, which would hold the old rows of a large table in memory
      select ${keys.map((name) => `coalesce(n.${name}, o.${name}) as ${name}`).join(', ')},
        coalesce(_copies, 0) as _copies, _new_hash, _new_domain, _new_month,
        _new_note, _old_note, _old_hash, _old_domain, _old_month, first_seen_at as _first_seen_at,
        coalesce(_was_gone, false) as _was_gone, coalesce(_owner_came, false) as _owner_came
      from new_rows as n full join old_rows as o on ${keys.map((name) => `n.${name} is not distinct from o.${name}`).join(' and ')}
    ),
    judged as (
      select *, case
          when _old_hash is null then 'inserted'
          when _new_hash is not null and (_new_hash <> _old_hash or _was_gone) then 'updated'
          when _new_hash is null and _owner_came and not _was_gone then 'gone'
          when _new_note <> _old_note then 'noted'
        end as _action
      from matched
    )
    select * from judged where _action is not null or _copies > 1`;
  return scalar(context.connection, sql);
}

/**
 * SQL, over an old row `o`, that says whether this run delivered what owns it. A source that the key lacked for some of
 * the pass has its rows left out of what is delivered.
 */
function goneCondition(context: MergeContext, { table, content }: TableSchema): string {
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
  // Of a vehicle that came in two lists, one may have shown it as it was with what the other did not show.
  const isOfLists = owner === 'vehicle' && new Set(context.lists.values()).size > 1;
  const asItWas = isOfLists ? ` and o.${key} not in (select vehicle_id from ${UNCHANGED})` : '';
  const { hidden } = context.evidence;
  const isOfSource = content.some(({ name }) => name === 'domain_id');
  const shown = isOfSource && hidden.length > 0 ? ` and o.domain_id not in (${hidden.join(', ')})` : '';
  return `o.${key} in (select ${key} from ${delivered} where ${member})${shown}${asItWas}`;
}

/** What a diff found. */
export interface DiffSummary {
  readonly counts: Pick<TableCounts, 'inserted' | 'updated' | 'unchanged' | 'gone'>;
  /** Partitions that hold a difference, by folder; the one of an unpartitioned table has an empty name. */
  readonly changed: ReadonlyMap<string, Partition>;
  /** Whether the new rows have some key more than once. */
  readonly isRepeated: boolean;
  /** Whether some row differs only in which of its values were rejected. */
  readonly isNoted: boolean;
}

/** The summary of a diff without a row. */
export function noDifference(oldRows: number): DiffSummary {
  const counts = { inserted: 0, updated: 0, gone: 0, unchanged: oldRows };
  return { counts, changed: new Map(), isRepeated: false, isNoted: false };
}

/** Sums up the diff of a table that had `oldRows` rows. */
export async function summarizeDiff(
  context: MergeContext,
  table: LakeTable,
  oldRows: number,
): Promise<DiffSummary> {
  const groups = await rows(
    context.connection,
    `select _action, count(*) as n, max(_copies) as copies,
      _new_hash is not null as is_new, _new_domain, _new_month, _old_hash is not null as is_old, _old_domain, _old_month
    from ${diffName(table.name)} group by all`,
  );
  const changed = new Map<string, Partition>();
  const change = (domain: unknown, month: unknown): void => {
    const partition = { domain: String(domain), month: String(month) };
    changed.set(table.partition === undefined ? '' : partitionFolder(partition), partition);
  };
  for (const group of groups) {
    if (group.is_new === true) change(group._new_domain, group._new_month);
    if (group.is_old === true) change(group._old_domain, group._old_month);
  }
  const of = (action: string): number =>
    groups.filter((group) => group._action === action).reduce((sum, group) => sum + Number(group.n), 0);
  const updated = of('updated');
  const gone = of('gone');
  return {
    counts: { inserted: of('inserted'), updated, gone, unchanged: oldRows - updated - gone },
    changed,
    isRepeated: groups.some((group) => Number(group.copies) > 1),
    isNoted: groups.some((group) => group._action === 'noted'),
  };
}
