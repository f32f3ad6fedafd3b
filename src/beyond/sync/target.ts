import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { viewError } from '../../ask/export/changes.js';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { unknownName } from '../../base/config/unknown-name.js';
import { identifier } from '../../base/duck/session.js';
import { allTables, type Manifest } from '../../core/lake/manifest.js';
import type { Column } from '../../core/lake/schema.js';
import { goneMark } from '../../core/lake/tables.js';
import { dictionary } from '../../core/model/dictionary.js';
import { pgType } from './pg-columns.js';

/** A database that follows the lake, as the setting `sync` has it. */
export type SyncSettings = Config['sync'][string];

/** A table of the lake as it is to be in the database. */
export interface Target {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  /** Column that is set in rows that have left the feed; null if none is. */
  readonly mark: string | null;
  /** Whether rows with the mark are deleted. */
  readonly deletesGone: boolean;
  /** Columns of each index beside the key, by its name. */
  readonly indexes: Readonly<Record<string, readonly string[]>>;
  readonly description: string;
  readonly descriptions: Readonly<Record<string, string>>;
}

/** Longest name of an index, with room for what stands behind it while it is made. */
const LONGEST_NAME = 56;

/** The name of an index. One that is too long ends with a hash of it. */
function indexName(table: string, columns: readonly string[]): string {
  const name = `${table}_by_${columns.join('_')}`;
  if (name.length <= LONGEST_NAME) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST_NAME - 9)}_${hash}`;
}

/**
 * The tables of a sync as they are to be. Throws QUERY_NO_TABLE and QUERY_NO_COLUMN for names that the snapshot lacks, and
 * SYNC_FAILED for a table without a key.
 */
export function targetsOf(manifest: Manifest, { tables, gone }: SyncSettings): Target[] {
  const [stored, entries] = [allTables(manifest), dictionary(manifest)];
  return Object.entries(tables).map(([name, given]) => {
    const table = stored[name];
    const entry = entries.find((each) => each.name === name);
    if (table === undefined || entry === undefined) throw absent(name, manifest);
    if (table.key.length === 0)
      throw new LotlakeError('SYNC_FAILED', `${name} has no key, so no copy of it can follow`, {
        outcome: 'usage',
      });
    const known = entry.columns.filter(({ internal }) => internal === undefined);
    const column = (wanted: string): string => {
      if (known.some((each) => each.name === wanted)) return wanted;
      throw unknownName(
        'QUERY_NO_COLUMN',
        `${name} has no column`,
        wanted,
        known,
        `lotlake describe ${name}`,
      );
    };
    const mark = goneMark(name);
    const needed = [...table.key, ...(mark === null ? [] : [mark])];
    const chosen =
      given.columns === undefined ? undefined : new Set([...needed, ...given.columns.map(column)]);
    const columns = table.columns.filter(
      (each) => known.some((one) => one.name === each.name) && chosen?.has(each.name) !== false,
    );
    const indexes = given.indexes.map((each): [string, readonly string[]] => {
      const of = each.split(/\s*\+\s*/).map(column);
      return [indexName(name, of), of];
    });
    for (const needed of indexes.flatMap(([, of]) => of))
      if (!columns.some((each) => each.name === needed))
        throw new LotlakeError(
          'SYNC_FAILED',
          `${name}: an index needs the column ${needed}, which is not among its columns`,
          {
            outcome: 'usage',
          },
        );
    return {
      name,
      key: table.key,
      columns: columns.map((each) => ({ name: each.name, type: each.type })),
      mark,
      deletesGone: gone === 'delete' && mark !== null,
      indexes: Object.fromEntries(indexes),
      description: entry.description,
      descriptions: Object.fromEntries(known.map((each) => [each.name, each.description])),
    };
  });
}

function absent(name: string, manifest: Manifest): LotlakeError {
  if (name in manifest.views) return viewError(name);
  const known = Object.keys(allTables(manifest)).map((each) => ({ name: each }));
  return unknownName('QUERY_NO_TABLE', 'sync: there is no table', name, known, 'lotlake tables');
}

/** What decides whether a table in the database can follow, or has to be made anew. */
export const definitionOf = ({ key, columns, deletesGone }: Target): string =>
  JSON.stringify({ key, columns: columns.map(({ name, type }) => [name, pgType(type)]), deletesGone });

/** A table in its schema, as SQL. */
export const inSchema = (schema: string, table: string): string =>
  `${identifier(schema)}.${identifier(table)}`;

export const listOf = (columns: readonly string[], of = ''): string =>
  columns.map((name) => `${of}${identifier(name)}`).join(', ');

/** Makes a table without rows, key or indexes. */
export async function createTable(client: Client, table: string, target: Target): Promise<void> {
  await client.query(`create table ${table} (${columnsOf(target)})`);
}

/** The columns of a table with their types, as SQL. */
export const columnsOf = ({ columns }: Target): string =>
  columns.map(({ name, type }) => `${identifier(name)} ${pgType(type)}`).join(', ');

/** Key, indexes, descriptions and the trigger of a new table that has its rows and waits under another name. */
export async function completeTable(
  client: Client,
  schema: string,
  table: string,
  target: Target,
): Promise<void> {
  const { name, key, indexes } = target;
  const kind = (await hasNull(client, table, key)) ? NULLS_TOO : 'primary key';
  await client.query(
    `alter table ${table} add constraint ${identifier(keyOf(name) + NEW)} ${kind} (${listOf(key)})`,
  );
  for (const [index, columns] of Object.entries(indexes))
    await createIndex(client, schema, index + NEW, table, columns);
  await client.query(
    `create trigger ${TRIGGER} after insert or update or delete or truncate on ${table}
       for each statement execute function ${inSchema(schema, TRIGGER)}(${quoted(name)})`,
  );
  await describe(client, table, target);
  await client.query(`analyze ${table}`);
}

/** The trigger, and its function, that notes changes by others. */
export const TRIGGER = 'lotlake_touched';

/** A key whose parts may be null. */
const NULLS_TOO = 'unique nulls not distinct';

async function hasNull(client: Client, table: string, key: readonly string[]): Promise<boolean> {
  const anyNull = key.map((column) => `${identifier(column)} is null`).join(' or ');
  const { rows } = await client.query(`select exists (select 1 from ${table} where ${anyNull}) as has_null`);
  return rows[0].has_null;
}

/**
 * Makes the primary key of a table one whose parts may be null, if rows that are to come have such keys.
 * @param rows the table with these rows
 * @returns whether it is a primary key now, which is never null
 */
export async function widenKey(
  client: Client,
  schema: string,
  { name, key }: Target,
  rows: string,
): Promise<boolean> {
  const table = inSchema(schema, name);
  const { rows: kinds } = await client.query(
    "select contype = 'p' as is_primary from pg_constraint where conrelid = to_regclass($1) and conname = $2",
    [table, keyOf(name)],
  );
  if (kinds[0]?.is_primary !== true) return false;
  if (!(await hasNull(client, rows, key))) return true;
  const nullable = key.map((column) => `alter column ${identifier(column)} drop not null`);
  await client.query(
    `alter table ${table} drop constraint ${identifier(keyOf(name))}, ${nullable.join(', ')}, add constraint ${identifier(keyOf(name))} ${NULLS_TOO} (${listOf(key)})`,
  );
  return false;
}

const keyOf = (name: string): string => `${name}_key`;

/** Stands behind the names of what is made beside an earlier table. */
export const NEW = ' (new)';

/** Puts a new table in the place of an earlier one, with the same rights. Others that depend on the earlier one refuse it. */
export async function switchTable(client: Client, schema: string, { name, indexes }: Target): Promise<void> {
  const { rows } = await client.query<{ readonly grantee: string; readonly rights: string }>(
    `select grantee, string_agg(privilege_type, ', ') as rights from information_schema.table_privileges
     where table_schema = $1 and table_name = $2 and grantee <> current_user group by grantee`,
    [schema, name],
  );
  await client.query(`drop table if exists ${inSchema(schema, name)}`);
  await client.query(`alter table ${inSchema(schema, name + NEW)} rename to ${identifier(name)}`);
  const constraint = keyOf(name);
  await client.query(
    `alter table ${inSchema(schema, name)} rename constraint ${identifier(constraint + NEW)} to ${identifier(constraint)}`,
  );
  for (const index of Object.keys(indexes))
    await client.query(`alter index ${inSchema(schema, index + NEW)} rename to ${identifier(index)}`);
  for (const { grantee, rights } of rows)
    await client.query(
      `grant ${rights} on ${inSchema(schema, name)} to ${grantee === 'PUBLIC' ? 'public' : identifier(grantee)}`,
    );
}

/** Makes the indexes of a table that are asked for, and removes earlier ones of ours. */
export async function renewIndexes(client: Client, schema: string, target: Target): Promise<void> {
  const { name, indexes } = target;
  const { rows } = await client.query<{ readonly index: string; readonly is_ours: boolean }>(
    `select relname as index, obj_description(c.oid) is not distinct from $3 as is_ours
     from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = to_regclass($1) and relname <> $2`,
    [inSchema(schema, name), keyOf(name), OURS],
  );
  for (const { index, is_ours } of rows)
    if (is_ours && !(index in indexes)) await client.query(`drop index ${inSchema(schema, index)}`);
  for (const [index, columns] of Object.entries(indexes))
    if (!rows.some((each) => each.index === index))
      await createIndex(client, schema, index, inSchema(schema, name), columns);
}

/** The comment of an index that the settings ask for. */
const OURS = 'lotlake sync';

async function createIndex(
  client: Client,
  schema: string,
  index: string,
  table: string,
  columns: readonly string[],
): Promise<void> {
  await client.query(`create index ${identifier(index)} on ${table} (${listOf(columns)})`);
  await client.query(`comment on index ${inSchema(schema, index)} is ${quoted(OURS)}`);
}

async function describe(
  client: Client,
  table: string,
  { description, descriptions, columns }: Target,
): Promise<void> {
  const statements = [
    `comment on table ${table} is ${quoted(description)}`,
    ...columns.map(
      ({ name }) => `comment on column ${table}.${identifier(name)} is ${quoted(descriptions[name] ?? '')}`,
    ),
  ];
  await client.query(statements.join(';\n'));
}

/** A text as SQL of Postgres, whatever `standard_conforming_strings` says. */
const quoted = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
