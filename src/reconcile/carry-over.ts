import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filesRelation, globRelation } from '../lake/files.js';
import { type ManifestTable, readManifest } from '../lake/manifest.js';
import { ownTables } from '../lake/own-tables.js';
import { monthOf } from '../lake/partition.js';
import type { Column } from '../lake/schema.js';
import { identifier, literal, row } from '../lake/session.js';
import type { MergeContext } from './context.js';
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
}

/**
 * Adds to a rebuilt state what only the published snapshot knows: rows whose passes landing no longer holds, the
 * state and history of rows that both have with the same content, and older changes of lots. Tables without such a row stay as they
 * are. Own rows of passes that were replayed are the replayed ones.
 */
export async function carryOver(context: MergeContext, published: string): Promise<void> {
  const manifest = readManifest(published);
  for (const table of carriedTables(context)) {
    const stored = manifest.tables[table.name];
    if (stored === undefined || stored.rows === 0) continue;
    if (await hasMore(context, table, published, stored)) await rewrite(context, table, published, stored);
  }
}

function carriedTables(context: MergeContext): Carried[] {
  const cut = [...context.schemas.values()].map(
    ({ table, columns, own }): Carried => ({
      own: own.map((column) => column.name),
      name: table.name,
      key: table.key,
      columns,
      sort: table.sort,
      partitioned: table.partition !== undefined,
      month: 'month',
    }),
  );
  const own = ownTables
    .filter((table) => table.name !== 'rejects')
    .map(
      (table): Carried => ({
        ...table,
        own: [],
        sort: table.key,
        month: monthOf('seen_at'),
      }),
    );
  return [...cut, ...own];
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
  return `(select *, true as _found from ${globRelation(context.target, table.name, table.partitioned)})`;
}

function old(table: Carried, published: string, stored: ManifestTable): string {
  const known = new Set(stored.columns.map((column) => column.name));
  const columns = table.columns.map(({ name, type }) =>
    known.has(name)
      ? `cast(${identifier(name)} as ${type}) as ${identifier(name)}`
      : `cast(null as ${type}) as ${identifier(name)}`,
  );
  const month = table.partitioned ? `, ${table.month} as month` : '';
  return `(select ${columns.join(', ')}${month} from ${filesRelation(published, stored.files, stored.partitioned)})`;
}

function match(table: Carried): string {
  return table.key
    .map((key) => `p.${identifier(key)} is not distinct from r.${identifier(key)}`)
    .join(' and ');
}
