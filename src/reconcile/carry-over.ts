import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filesRelation, globRelation } from '../lake/files.js';
import { type Manifest, type ManifestTable, readManifest } from '../lake/manifest.js';
import { ownTables } from '../lake/own-tables.js';
import { monthOf } from '../lake/partition.js';
import type { Column } from '../lake/schema.js';
import { identifier, literal, type Row, row, rows } from '../lake/session.js';
import type { MergeContext } from './context.js';
import { timestamp } from './state-tables.js';
import { PARQUET } from './write.js';

/** A table as carrying over sees it. */
interface Carried {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly sort: readonly string[];
  /** Columns of state and history: where the content is the same, the published snapshot knows them better. */
  readonly own: readonly string[];
  readonly partitioned: boolean;
  /** SQL of the month of a row that comes from the published snapshot. */
  readonly month: string;
  /** SQL that says which rows of the published snapshot count. */
  readonly counts: string;
  /** SQL that says which rebuilt rows the published snapshot knows better. */
  readonly doubtful: string;
}

/**
 * Adds to a rebuilt state what only the published snapshot knows: rows whose passes landing no longer holds, the
 * state and history of rows that both have with the same content, older changes of lots, and rejects of passes that are gone. Tables
 * without such a row stay as they are. Own rows of passes that were replayed are the replayed ones.
 */
export async function carryOver(context: MergeContext, published: string): Promise<void> {
  const manifest = readManifest(published);
  const replayed = await rows(
    context.connection,
    `select pass_id, stream, started_at from ${globRelation(context.target, 'passes', false)}`,
  );
  for (const table of [...cutTables(context), ...carriedOwnTables(published, manifest, replayed)]) {
    const stored = manifest.tables[table.name];
    if (stored === undefined || stored.rows === 0) continue;
    if (await hasMore(context, table, published, stored)) await rewrite(context, table, published, stored);
  }
}

function cutTables(context: MergeContext): Carried[] {
  return [...context.schemas.values()].map(
    ({ table, columns, own }): Carried => ({
      own: own.map((column) => column.name),
      name: table.name,
      key: table.key,
      columns,
      sort: table.sort,
      partitioned: table.partition !== undefined,
      month: 'month',
      counts: 'true',
      doubtful: 'false',
    }),
  );
}

function carriedOwnTables(published: string, manifest: Manifest, replayed: readonly Row[]): Carried[] {
  const ids = replayed.map((pass) => literal(String(pass.pass_id))).join(', ') || 'null';
  return ownTables.map(
    (table): Carried => ({
      ...table,
      own: [],
      sort: table.key,
      month: monthOf('seen_at'),
      // A rejected record of a pass that was replayed has had its chance.
      counts: table.name === 'rejects' ? `pass_id not in (${ids})` : 'true',
      doubtful: table.name === 'lot_changes' ? doubtfulChanges(published, manifest, replayed) : 'false',
    }),
  );
}

/**
 * Whether a lot that is older than landing was archived before a pass is nothing that the passes say: a change of that
 * state is one that the published snapshot knows.
 */
function doubtfulChanges(published: string, manifest: Manifest, replayed: readonly Row[]): string {
  const lots = manifest.tables.lots;
  const starts = replayed
    .filter((pass) => pass.stream === 'cars')
    .map((pass) => new Date(String(pass.started_at)).toISOString());
  const [oldest] = starts.sort();
  if (lots === undefined || oldest === undefined) return 'false';
  return `(field in ('archived', 'archived_at', 'archived_by') and lot_id in (
    select lot_id from ${filesRelation(published, lots.files, lots.partitioned)} where first_seen_at < ${timestamp(oldest)}))`;
}

async function hasMore(
  context: MergeContext,
  table: Carried,
  published: string,
  stored: ManifestTable,
): Promise<boolean> {
  const own = table.own.map((name) => `p.${identifier(name)} is distinct from r.${identifier(name)}`);
  const differs = own.length === 0 ? '' : `or (${same(table)} and (${own.join(' or ')}))`;
  const found = await row(
    context.connection,
    `select exists (
      select 1 from ${old(table, published, stored)} as p
      left join ${rebuilt(context, table)} as r on ${match(table)}
      where r._found is null ${differs}
    ) or exists (
      select 1 from ${globRelation(context.target, table.name, table.partitioned)} where ${table.doubtful}
    ) as more`,
  );
  return found.more === true;
}

async function rewrite(
  context: MergeContext,
  table: Carried,
  published: string,
  stored: ManifestTable,
): Promise<void> {
  const month = table.partitioned ? ', month' : '';
  const own = new Set(table.own);
  const merged = table.columns.map(({ name }) => {
    const column = identifier(name);
    if (name === 'first_seen_at')
      return 'least(r.first_seen_at, coalesce(p.first_seen_at, r.first_seen_at)) as first_seen_at';
    return own.has(name)
      ? `case when ${same(table)} then p.${column} else r.${column} end as ${column}`
      : `r.${column}`;
  });
  const relation = '_carried';
  await context.connection.run(`
    create or replace table ${relation} as
    select ${merged.join(', ')}${table.partitioned ? ', r.month' : ''}
    from ${rebuilt(context, table)} as r left join ${old(table, published, stored)} as p on ${match(table)}
    union all by name
    select ${table.columns.map(({ name }) => `p.${identifier(name)}`).join(', ')}${table.partitioned ? ', p.month' : ''}
    from ${old(table, published, stored)} as p left join ${rebuilt(context, table)} as r on ${match(table)}
    where r._found is null`);
  const folder = join(context.target, table.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const columns = table.columns.map(({ name }) => identifier(name)).join(', ');
  const sort = table.sort.map(identifier).join(', ');
  await context.connection.run(
    table.partitioned
      ? `copy (select ${columns}${month} from ${relation} order by domain_id, month, ${sort}) to ${literal(folder)} (${PARQUET}, partition_by (domain_id, month))`
      : `copy (select ${columns} from ${relation} order by ${sort}) to ${literal(join(folder, 'data_0.parquet'))} (${PARQUET})`,
  );
  await context.connection.run(`drop table ${relation}`);
}

/** SQL that says whether a row has the same content in both. */
function same(table: Carried): string {
  const own = new Set(table.own);
  const content = table.columns.filter(({ name }) => !own.has(name)).map(({ name }) => identifier(name));
  const all = (side: string): string => `hash(${content.map((column) => `${side}.${column}`).join(', ')})`;
  return `(p.${identifier(table.key[0] ?? '')} is not null and ${all('p')} = ${all('r')})`;
}

function rebuilt(context: MergeContext, table: Carried): string {
  const relation = globRelation(context.target, table.name, table.partitioned);
  return `(select *, true as _found from ${relation} where not ${table.doubtful})`;
}

function old(table: Carried, published: string, stored: ManifestTable): string {
  const known = new Set(stored.columns.map((column) => column.name));
  const columns = table.columns.map(({ name, type }) =>
    known.has(name)
      ? `cast(${identifier(name)} as ${type}) as ${identifier(name)}`
      : `cast(null as ${type}) as ${identifier(name)}`,
  );
  const month = table.partitioned ? `, ${table.month} as month` : '';
  return `(select ${columns.join(', ')}${month} from ${filesRelation(published, stored.files, stored.partitioned)} where ${table.counts})`;
}

function match(table: Carried): string {
  return table.key
    .map((key) => `p.${identifier(key)} is not distinct from r.${identifier(key)}`)
    .join(' and ');
}
