import { join } from 'node:path';
import { move, remove } from '../../base/config/owned.js';
import { poolOf } from '../../base/duck/pool.js';
import { identifier, literal, row, rows, sameKey } from '../../base/duck/session.js';
import type { BaseState } from '../lake/base.js';
import { filesRelation, writtenRelation } from '../lake/files.js';
import { rowCode } from '../lake/rows/row-code.js';
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
  /** Runs that were not replayed, or not with all of their passes. If one of them was the last to change a row, the published snapshot has its content. */
  readonly missing: readonly string[];
  /** Whether a newer snapshot was carried over before. */
  readonly isOlder: boolean;
}

/**
 * Adds to a rebuilt state what only the published snapshot knows: rows whose passes landing no longer holds, the state and
 * history of rows that both have with the same content, and the changes of lots as its runs recorded them. A table without such
 * a row stays as it is. Other rows of lotlake's own tables stay as the replay wrote them.
 * @param published the snapshot, with those of its files that can be read, and the tables of which some cannot
 * @param isOlder whether a newer snapshot was carried over before. Then only missing rows, earlier values of `first_seen_at`
 *   and recorded changes are added.
 * @returns whether any table changed
 */
export async function carryOver(
  context: MergeContext,
  published: BaseState & { readonly damaged: ReadonlySet<string> },
  isOlder = false,
): Promise<boolean> {
  const use = poolOf([context.connection], context.alone);
  const onPublished = { ...context, base: published };
  const runs = await runsOf(context, published);
  const doubtful = published.damaged.has('lot_changes') ? 'false' : doubtfulChanges(onPublished, runs.known);
  // Rules that read records otherwise give other rows for the same records.
  const isSameCode = published.manifest.fingerprints?.code === rowCode();
  const missing = isOlder || !isSameCode ? [] : runs.missing;
  const tables: readonly Carried[] = [
    ...[...context.schemas.values()].map(({ table, columns, state }) => ({
      table,
      columns,
      isOlder,
      doubtful: 'false',
      missing,
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
        missing: name === 'sightings' ? missing : [],
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

/** The runs whose passes a published snapshot was made from, and those of them of which a pass was not replayed. */
async function runsOf(
  { connection, target }: MergeContext,
  { folder, manifest: { tables } }: BaseState,
): Promise<Readonly<Record<'known' | 'missing', readonly string[]>>> {
  const files = tables.passes?.files ?? [];
  if (files.length === 0) return { known: [], missing: [] };
  const found = await rows(
    connection,
    `select k.run_id, bool_or(r.pass_id is null) as is_missing
     from ${filesRelation(folder, files, false)} as k
     left join (from ${writtenRelation(target, 'passes', false)} where state = 'sealed') as r using (pass_id)
     where k.state = 'sealed' group by all`,
  );
  const idsOf = (runs: typeof found): string[] => runs.map(({ run_id }) => String(run_id));
  return { known: idsOf(found), missing: idsOf(found.filter(({ is_missing }) => is_missing === true)) };
}

/**
 * SQL condition of the rebuilt rows of `lot_changes` that the published snapshot does not have, although it knows their run: a
 * replay without a night in between, or without those before landing, finds its changes in a later night, too. The snapshot has
 * what the run recorded.
 */
function doubtfulChanges(context: MergeContext, known: readonly string[]): string {
  if (known.length === 0) return 'false';
  const table = { ...systemTable('lot_changes'), own: [] };
  const published = baseRelation(context, table);
  return `(run_id in ${tuple(known)} and ${contentHash(table)} not in (select ${contentHash(table)} from ${published}))`;
}

/** SQL of texts for IN. */
const tuple = (texts: readonly string[]): string => `(${texts.map(literal).join(', ')})`;

/**
 * Notes what the published snapshot knows of a table, by key: the hash of the content of its rows, and their state and
 * history. It is a file, so that neither a join nor the memory beside it holds wide rows.
 */
async function noteKnown(context: MergeContext, table: Carried, published: string): Promise<string> {
  const columns = [...table.table.key, ...table.own].map(identifier).join(', ');
  const isMissing = table.missing.length === 0 ? 'false' : `run_id in ${tuple(table.missing)}`;
  const file = literal(join(context.stage, 'known.parquet'));
  await context.connection.run(
    `copy (select ${columns}, ${contentHash(table)} as _hash, ${ownHash(table)} as _own_hash, ${isMissing} as _is_missing from ${published})
     to ${file} (format parquet, compression snappy)`,
  );
  return `read_parquet(${file}, hive_partitioning = false)`;
}

/** Keys of the rows that the published snapshot knows better, and whether it alone has them. */
const NEWS = '_news';

/** Writes {@link NEWS}, and counts the rows to change and the rows that the published snapshot has alone or with the right content. */
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
  const isOnly = '(r._hash is null or (k._is_missing and k._hash <> r._hash))';
  await connection.run(`
    create or replace table ${NEWS} as
    select ${key.map((column) => `k.${identifier(column)}`).join(', ')}, ${isOnly} as _is_only
    from (select ${keys}, _hash, _own_hash, _is_missing${seen} from ${known}) as k
    left join (
      select ${keys}, ${contentHash(table)} as _hash, ${ownHash(table)} as _own_hash${seen}
      from ${rebuilt} where not ${table.doubtful}
    ) as r on ${sameKey(key, 'k', 'r')}
    where ${isOnly} or ${isBetter}`);
  const counts = await row(
    connection,
    `select count(*) + (select count(*) from ${rebuilt} where ${table.doubtful}) as rows,
      count(*) filter (_is_only) as only from ${NEWS}`,
  );
  return { rows: Number(counts.rows), only: Number(counts.only) };
}

/**
 * Writes a table again: the rebuilt rows with their known history, and the rows that only the published snapshot has.
 * @param only the rows of the snapshot; undefined if the rebuilt table has all of them with their content
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
    ${only === undefined ? '' : `anti join (from ${NEWS} where _is_only) as o on ${sameKey(key, 'o', 'r')}`}
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
function contentHash({ columns, own }: Pick<Carried, 'columns' | 'own'>, relation?: string): string {
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
