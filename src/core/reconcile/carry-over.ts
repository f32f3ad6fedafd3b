import { join } from 'node:path';
import { move, remove } from '../../base/config/owned.js';
import { poolOf } from '../../base/duck/pool.js';
import { identifier, literal, row, sameKey } from '../../base/duck/session.js';
import type { BaseState } from '../lake/base.js';
import { filesRelation, writtenRelation } from '../lake/files.js';
import { HISTORY, REJECTED } from '../lake/schema.js';
import { systemTables } from '../lake/tables.js';
import {
  baseRelation,
  type MergeContext,
  PARTITION_OF_PATH,
  type StoredTable,
  systemTable,
} from './relations.js';
import { type RowsSql, writeRows } from './write.js';

/** A table whose rows are carried over. */
interface Carried extends StoredTable {
  /** Columns of state and history. If the content of a row is the same, the published snapshot has the better values. */
  readonly own: readonly string[];
  /** SQL condition of the rebuilt rows that rows of the published snapshot replace. */
  readonly doubtful: string;
  /** Whether a newer snapshot was carried over before. */
  readonly isOlder: boolean;
}

/**
 * Adds to a rebuilt state what only the published snapshot knows: rows whose passes landing no longer holds, the state and
 * history of rows that both have with the same content, and older changes of lots. A table without such a row stays as it
 * is. Other rows of lotlake's own tables stay as the replay wrote them.
 * @param published the snapshot, with those of its files that can be read
 * @param isOlder whether a newer snapshot was carried over before. Then only missing rows and earlier values of
 *   `first_seen_at` are added.
 * @returns whether any table changed
 */
export async function carryOver(
  context: MergeContext,
  published: BaseState,
  isOlder = false,
): Promise<boolean> {
  const use = poolOf([context.connection], context.alone);
  const onPublished = { ...context, base: published };
  const doubtful = isOlder ? 'false' : await doubtfulChanges(context, published);
  const tables: readonly Carried[] = [
    ...[...context.schemas.values()].map(({ table, columns, state }) => ({
      table,
      columns,
      isOlder,
      doubtful: 'false',
      own: [...state, ...HISTORY].map((column) => column.name),
    })),
    // Replayed passes have written their rejects again. Rejects of other passes end with their pass.
    ...systemTables
      .filter(({ name }) => name !== 'rejects')
      .map(({ name }) => ({
        ...systemTable(name),
        isOlder,
        own: [],
        doubtful: name === 'lot_changes' ? doubtful : 'false',
      })),
  ];
  let isCarried = false;
  for (const table of tables) {
    if ((published.manifest.tables[table.table.name]?.rows ?? 0) === 0) continue;
    if (await use(() => carryTable(onPublished, table))) isCarried = true;
  }
  return isCarried;
}

/** Adds to one table what the published snapshot knows. Returns whether the table changed. */
async function carryTable(context: MergeContext, table: Carried): Promise<boolean> {
  const published = baseRelation(context, table);
  const known = await noteKnown(context, table, published);
  const rebuilt = rebuiltRows(context, table);
  const news = await findNews(context, table, rebuilt, known);
  const only = news.only > 0 ? published : undefined;
  if (news.rows > 0) await rewrite(context, table, rebuilt, known, only);
  await context.connection.run(`drop table ${NEWS}`);
  return news.rows > 0;
}

/**
 * SQL condition of the rows of `lot_changes` that landing cannot decide: whether a lot that is older than landing was
 * archived before. The published snapshot has these changes.
 */
async function doubtfulChanges(
  { connection, target }: MergeContext,
  { folder, manifest: { tables } }: BaseState,
): Promise<string> {
  const { started } = await row(
    connection,
    `select min(epoch_us(started_at)) as started from ${writtenRelation(target, 'passes', false)} where stream = 'cars' and state = 'sealed'`,
  );
  if (started === null || tables.lots === undefined || tables.lots.files.length === 0) return 'false';
  return `(field in ('archived', 'archived_at', 'archived_by') and lot_id in (
    select lot_id from ${filesRelation(folder, tables.lots.files, tables.lots.partitioned)} where first_seen_at < make_timestamptz(${started})))`;
}

/**
 * Notes what the published snapshot knows of a table, by key: the hash of the content of its rows, and their state and
 * history. It is a file, so that neither a join nor the memory beside it holds wide rows.
 */
async function noteKnown(context: MergeContext, table: Carried, published: string): Promise<string> {
  const columns = [...table.table.key, ...table.own].map(identifier).join(', ');
  const file = literal(join(context.stage, 'known.parquet'));
  await context.connection.run(
    `copy (select ${columns}, ${contentHash(table)} as _hash, ${ownHash(table)} as _own_hash from ${published})
     to ${file} (format parquet, compression snappy)`,
  );
  return `read_parquet(${file}, hive_partitioning = false)`;
}

/** Keys of the rows that the published snapshot knows better, and whether it alone has them. */
const NEWS = '_news';

/** Writes {@link NEWS}, and counts the rows to change and the rows that only the published snapshot has. */
async function findNews(
  { connection }: MergeContext,
  table: Carried,
  rebuilt: string,
  known: string,
): Promise<{ readonly rows: number; readonly only: number }> {
  const { isOlder } = table;
  const { key } = table.table;
  const keys = key.map(identifier).join(', ');
  const hasHistory = table.own.includes('first_seen_at');
  const seen = isOlder && hasHistory ? ', first_seen_at' : '';
  const isEarlier = hasHistory ? 'k.first_seen_at < r.first_seen_at' : 'false';
  const isBetter = isOlder ? isEarlier : '(k._hash = r._hash and k._own_hash <> r._own_hash)';
  await connection.run(`
    create or replace table ${NEWS} as
    select ${key.map((column) => `k.${identifier(column)}`).join(', ')}, r._hash is null as _is_only
    from (select ${keys}, _hash, _own_hash${seen} from ${known}) as k
    left join (
      select ${keys}, ${contentHash(table)} as _hash, ${ownHash(table)} as _own_hash${seen}
      from ${rebuilt} where not ${table.doubtful}
    ) as r on ${sameKey(key, 'k', 'r')}
    where r._hash is null or ${isBetter}`);
  const counts = await row(
    connection,
    `select count(*) + (select count(*) from ${rebuilt} where ${table.doubtful}) as rows,
      count(*) filter (_is_only) as only from ${NEWS}`,
  );
  return { rows: Number(counts.rows), only: Number(counts.only) };
}

/**
 * Writes a table again: the rebuilt rows with their known history, and the rows that only the published snapshot has.
 * @param only the rows of the snapshot; undefined if none of them is missing in the rebuilt table
 */
async function rewrite(
  context: MergeContext,
  table: Carried,
  rebuilt: string,
  known: string,
  only: string | undefined,
): Promise<void> {
  const own = new Set(table.own);
  const { name, key } = table.table;
  const partition = table.table.partition === undefined ? '' : ', _domain, _month';
  const merged = table.columns.map((given) => {
    const column = identifier(given.name);
    if (given.name === 'first_seen_at') return 'least(r.first_seen_at, k.first_seen_at) as first_seen_at';
    return own.has(given.name) && !table.isOlder
      ? `case when k._hash = ${contentHash(table, 'r')} then k.${column} else r.${column} end as ${column}`
      : `r.${column}`;
  });
  const columns = table.columns.map(({ name }) => identifier(name)).join(', ');
  const onlyThere = (condition: string, ofIds: string): string => `
    union all by name
    select ${columns}${partition} from (from ${only} where ${condition}) as p
    where exists (select 1 from ${NEWS} as r where r._is_only and ${ofIds} and ${sameKey(key, 'p', 'r')})`;
  const sql: RowsSql = (condition, ofIds) => `
    select ${merged.join(', ')}${partition}
    from (from ${rebuilt} where not ${table.doubtful} and ${condition}) as r
    ${own.size === 0 ? '' : `left join (from ${known} where ${ofIds}) as k on ${sameKey(key, 'k', 'r')}`}
    ${only === undefined ? '' : onlyThere(condition, ofIds)}`;
  // Beside the rebuilt files, which are read meanwhile.
  const carried = join(context.target, '_carried');
  remove(carried);
  await writeRows({ ...context, target: carried }, table, sql);
  const folder = join(context.target, name);
  remove(folder);
  move(join(carried, name), folder);
  remove(carried);
}

/** SQL of a hash of the columns other than state, history and {@link REJECTED}. */
function contentHash({ columns, own }: Carried, relation?: string): string {
  const left = relation === undefined ? '' : `${relation}.`;
  const content = columns.filter(({ name }) => !own.includes(name) && name !== REJECTED.name);
  return `hash(${content.map(({ name }) => `${left}${identifier(name)}`).join(', ')})`;
}

/** SQL of a hash of the columns of state and history. */
const ownHash = ({ own }: Carried): string =>
  own.length === 0 ? '0' : `hash(${own.map(identifier).join(', ')})`;

function rebuiltRows(context: MergeContext, { table: { name, partition } }: Carried): string {
  const relation = writtenRelation(context.target, name, partition !== undefined);
  return partition === undefined ? relation : `(select *, ${PARTITION_OF_PATH} from ${relation})`;
}
