import { killPoint } from '../config/kill-point.js';
import { identifier, literal, rows } from '../duck/session.js';
import type { FileUse } from '../lake/files.js';
import { partitionFolder } from '../lake/partition.js';
import { type Column, REJECTED, type TableSchema } from '../lake/schema.js';
import type { MergeContext, TableCounts } from './context.js';
import { sameKey } from './relations.js';
import { ruleOf } from './rules.js';

/** The rows of a table that this run delivered, one a key, ready to be merged. */
export interface NewRows {
  /** Relation with the columns that are compared, `rejected`, and `_domain`, `_month` if the table is partitioned. */
  readonly relation: string;
  /** Columns that decide whether a row changed: the content, and the state where it comes with the rows. */
  readonly compared: readonly Column[];
}

/** What a comparison found. */
interface Difference {
  readonly counts: Omit<TableCounts, keyof FileUse>;
  /** Folders of the partitions that hold a difference; the one of an unpartitioned table has an empty name. */
  readonly changed: ReadonlySet<string>;
  /** Whether some row differs only in which of its values were rejected. */
  readonly isNoted: boolean;
}

/** What a row says of its rejected values, in four bytes. */
const NOTE = `case when ${REJECTED.name} is null then 0 else cast(hash(${REJECTED.name}) >> 32 as uinteger) end`;

/**
 * Compares new rows with the base by key, and writes what happens to each row into the relation `run.actions_<table>`.
 * Equal rows are left out. A row that differs only in its rejected values is noted, and does not count as changed. Keys may
 * hold null.
 * @param oldRows number of rows in the base
 */
export async function compareRows(
  context: MergeContext,
  schema: TableSchema,
  { relation, compared }: NewRows,
  oldRows: number,
): Promise<Difference> {
  const { table } = schema;
  const { connection } = context;
  const keys = table.key.map(identifier);
  const key = keys.join(', ');
  // The hash of an empty list is that of null in DuckDB 1.5, so that a list brings its length along.
  const hashed = compared.map(({ name, type }) =>
    type.endsWith('[]') ? `${identifier(name)}, len(${identifier(name)})` : identifier(name),
  );
  const hash = `hash(${hashed.join(', ')})`;
  const [domain, month] = table.partition === undefined ? ["''", "''"] : ['_domain', '_month'];
  await connection.run(`
    create or replace temp view compared as
    with new_rows as (
      select ${key}, ${hash} as _new_hash, ${NOTE} as _new_note, ${domain} as _new_domain, ${month} as _new_month
      from ${relation}
    ),
    old_rows as (
      select ${key}, ${hash} as _old_hash, ${NOTE} as _old_note, ${domain} as _old_domain, ${month} as _old_month, first_seen_at,
        ${table.gone === 'mark' ? 'gone_at is not null' : 'false'} as _was_gone, ${ownerCame(schema)} as _owner_came
      from base.${table.name} as o
    )
    -- a join and no grouping of both, which would hold the old rows of a large table in memory
    select ${keys.map((name) => `coalesce(n.${name}, o.${name}) as ${name}`).join(', ')},
      _new_hash, _new_domain, _new_month, _new_note, _old_note, _old_hash, _old_domain, _old_month,
      first_seen_at as _first_seen_at, coalesce(_was_gone, false) as _was_gone, coalesce(_owner_came, false) as _owner_came
    from new_rows as n full join old_rows as o on ${sameKey(table.key, 'n', 'o')}`);
  await connection.run(`create or replace table run.actions_${table.name} as ${ruleOf('actions').sql}`);
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
  const of = (action: string): number =>
    groups.filter((group) => group._action === action).reduce((sum, group) => sum + Number(group.n), 0);
  const [inserted, updated, gone] = [of('inserted'), of('updated'), of('gone')];
  killPoint('reconcile.table-compared');
  return {
    counts: { inserted, updated, gone, unchanged: oldRows - updated - gone },
    changed,
    isNoted: of('noted') > 0,
  };
}

/**
 * SQL over an old row `o`: whether this run delivered its owner, so that a missing row is gone. Rows of a source that the
 * key lacked for a while are never gone.
 */
function ownerCame({ table, content }: TableSchema): string {
  if (table.gone !== 'mark' && table.gone !== 'remove') return 'false';
  if (table.owner === 'stream')
    return `exists (select 1 from run.complete_streams where stream = ${literal(table.stream)})`;
  const [owner, member] = table.owner.split('.');
  if (member === undefined) return 'false';
  const isOfSource = content.some(({ name }) => name === 'domain_id');
  const shown = isOfSource ? ' and o.domain_id not in (select domain_id from run.hidden_sources)' : '';
  return `o.${owner}_id in (select ${owner}_id from run.delivering_${owner}s where ${member})${shown}`;
}
