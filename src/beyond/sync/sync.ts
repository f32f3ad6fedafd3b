import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { CHANGE, type Changes, findChanges, type TableChanges } from '../../ask/export/changes.js';
import { snapshotFolder, withDatabase } from '../../ask/query/open-lake.js';
import type { Config } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { codeOf, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { remove } from '../../base/config/owned.js';
import { identifier, literal } from '../../base/duck/session.js';
import { filesRelation } from '../../core/lake/files.js';
import { diskFullError, outOfMemoryError } from '../../core/lake/lake-error.js';
import { allTables, type LakeFile, type Manifest, readManifest } from '../../core/lake/manifest.js';
import { assertPresent } from '../../core/lake/presence.js';
import type { Column } from '../../core/lake/schema.js';
import { connect, placeOf } from './connect.js';
import { asCsv, copyOptions, pgType } from './pg-columns.js';
import {
  columnsOf,
  completeTable,
  createTable,
  definitionOf,
  inSchema,
  listOf,
  NEW,
  renewIndexes,
  type SyncSettings,
  switchTable,
  type Target,
  TRIGGER,
  targetsOf,
  widenKey,
} from './target.js';

/** How a table came to be as the snapshot has it. */
interface SyncedTable {
  readonly name: string;
  /**
   * `new`: made and copied whole; `changes`: the rows that changed since the snapshot that the database had; `compared`: every row
   * was sent and those that differ were changed, since nobody can tell what changed; `same`: nothing to do.
   */
  readonly how: 'new' | 'changes' | 'compared' | 'same';
  /** Why it was not enough to send the changes; null if it was. */
  readonly because: string | null;
  /** Rows that were sent. */
  readonly sent: number;
}

/** What a sync did. */
export interface Synced {
  readonly name: string;
  /** Host and database. */
  readonly place: string;
  readonly schema: string;
  readonly snapshot: string;
  readonly tables: readonly SyncedTable[];
}

/** A snapshot of the lake, and the scratch folder for what is sent. */
interface Source {
  readonly connection: DuckDBConnection;
  readonly config: Config;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly temp: string;
}

/** What the database says of a table that an earlier sync made. */
interface Known {
  readonly snapshot: string;
  readonly definition: string;
  readonly touched: boolean;
}

/**
 * Brings the tables of a database to the published snapshot, in one transaction: all of it holds, or nothing. Only the changes
 * since the snapshot that the database has are sent; if nobody can tell them, all rows, and those that differ are changed. Holds no
 * lock of the lake.
 * @throws LotlakeError SYNC_UNREACHABLE, SYNC_FAILED, or QUERY_* if a table or column is not there
 */
export async function syncDatabase(
  name: string,
  settings: SyncSettings,
  config: Config,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<Synced> {
  return withDatabase(config, signal, ({ session: { connection }, temp }) =>
    inSync(settings, { env, signal, memory: config.memory }, async (client) => {
      await prepare(client, settings.schema);
      // Read behind the lock: another sync may have waited for a later snapshot.
      const folder = snapshotFolder(config);
      const manifest = readManifest(folder);
      const targets = targetsOf(manifest, settings);
      assertPresent(folder, manifest, new Set(targets.map((target) => target.name)));
      const source = { connection, config, folder, manifest, temp };
      const plans: Plan[] = [];
      for (const target of targets) plans.push(await planOf(client, settings, target));
      const changes = await changesFor(source, plans);
      const tables: SyncedTable[] = [];
      for (const plan of plans) tables.push(await syncTable(client, settings, source, plan, changes));
      // Readers of a table wait from here to the commit, and no longer.
      for (const plan of plans) await putInPlace(client, settings, plan);
      const { database, schema } = settings;
      return { name, place: placeOf(database), schema, snapshot: manifest.snapshot_id, tables };
    }),
  );
}

/** How long a sync waits for others who write to a table. */
const PATIENCE = '5min';

/** Runs work in one transaction on the schema of a sync, which one process at a time changes. */
export async function inSync<T>(
  { database, passwordFile, schema }: SyncSettings,
  {
    env,
    signal,
    memory,
  }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal; readonly memory: string },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect(database, passwordFile, env);
  const leave = (): void => {
    client.end().catch(() => undefined);
  };
  signal.addEventListener('abort', leave, { once: true });
  let isCommitting = false;
  try {
    signal.throwIfAborted();
    await client.query('begin');
    await client.query(
      `set local lotlake.sync = 'on'; set local client_encoding = 'UTF8'; set local datestyle = 'ISO';
       set local idle_in_transaction_session_timeout = 0; set local lock_timeout = '${PATIENCE}'`,
    );
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`lotlake sync ${schema}`]);
    killPoint('sync.begun');
    const result = await work(client);
    killPoint('sync.before-commit');
    isCommitting = true;
    await client.query('commit');
    killPoint('sync.committed');
    return result;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LotlakeError) throw error;
    throw (
      diskFullError(error) ??
      outOfMemoryError(error, memory) ??
      new LotlakeError('SYNC_FAILED', `${placeOf(database)}: ${messageOf(error)}`, {
        cause: error,
        retryable: true,
        hint: `the database ${isCommitting ? 'has the snapshot, or is as it was before' : 'is as it was before'}; run lotlake sync again`,
      })
    );
  } finally {
    signal.removeEventListener('abort', leave);
    // Ends the transaction if it is still open.
    await client.end().catch(() => undefined);
  }
}

/** Makes the schema with the table that says which snapshot each table has, and what notes changes by others. */
async function prepare(client: Client, schema: string): Promise<void> {
  const state = inSchema(schema, 'lotlake_sync');
  const { rows } = await client.query('select to_regclass($1) is not null as is_there', [state]);
  if (rows[0].is_there) return;
  // To make one that is there takes rights on the whole database.
  const found = await client.query('select to_regnamespace($1) is not null as is_there', [
    identifier(schema),
  ]);
  if (found.rows[0].is_there !== true) await client.query(`create schema ${identifier(schema)}`);
  await client.query(
    `create table ${state} (
       table_name text primary key, snapshot text not null, definition text not null,
       touched boolean not null default false, synced_at timestamptz not null)`,
  );
  await client.query(
    `comment on table ${state} is 'The snapshot of the lake that each table has. touched: others than lotlake sync changed it since, and the next sync compares every row.'`,
  );
  // The owner's rights, since whoever changes a table may not write here.
  await client.query(
    `create or replace function ${inSchema(schema, TRIGGER)}() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
     begin
       if current_setting('lotlake.sync', true) is distinct from 'on' then
         update ${state} set touched = true where table_name = tg_argv[0] and not touched;
       end if;
       return null;
     end $$`,
  );
}

/** How a table is brought to the snapshot: `since`, the one that it has, if its changes are enough, or else why they are not. */
interface Plan {
  readonly target: Target;
  readonly since: string | undefined;
  readonly isAnew: boolean;
  readonly because: string | null;
}

async function planOf(client: Client, { schema }: SyncSettings, target: Target): Promise<Plan> {
  const known = await knownTable(client, schema, target.name);
  const whole = await whyWhole(client, schema, target, known?.definition);
  if (known === undefined) return { target, since: undefined, isAnew: true, because: null };
  if (whole !== undefined) return { target, since: undefined, isAnew: true, because: whole };
  const because = known.touched ? 'others changed rows of it' : null;
  return { target, since: known.touched ? undefined : known.snapshot, isAnew: false, because };
}

/** The changes since each snapshot that some tables have, by its id; none for one that the lake no longer keeps. */
async function changesFor(
  { connection, config, manifest }: Source,
  plans: readonly Plan[],
): Promise<ReadonlyMap<string, Changes>> {
  const found = new Map<string, Changes>();
  const until = manifest.snapshot_id;
  for (const since of new Set(plans.flatMap((plan) => plan.since ?? []))) {
    const tables = plans.filter((plan) => plan.since === since).map(({ target }) => target.name);
    try {
      found.set(since, await findChanges(connection, config, { tables, since, until }));
    } catch (error) {
      if (!(error instanceof LotlakeError && error.code === 'LAKE_NO_SNAPSHOT')) throw error;
    }
  }
  return found;
}

async function syncTable(
  client: Client,
  { schema }: SyncSettings,
  source: Source,
  { target, since, isAnew, because }: Plan,
  changes: ReadonlyMap<string, Changes>,
): Promise<SyncedTable> {
  const { name } = target;
  const told = changes.get(since ?? '')?.tables.find((table) => table.name === name);
  let done: SyncedTable;
  if (isAnew) {
    const made = inSchema(schema, name + NEW);
    await createTable(client, made, target);
    const sent = await sendAll(client, source, target, made);
    await completeTable(client, schema, made, target);
    killPoint('sync.made');
    done = { name, how: 'new', because, sent };
  } else if (told === undefined || told.state === 'whole' || isMost(source, told))
    done = await compareAll(client, schema, source, target, because ?? reasonOf(since, told));
  else done = await sendChanges(client, schema, source, target, told.sql);
  await client.query(
    `insert into ${inSchema(schema, 'lotlake_sync')} values ($1, $2, $3, false, now())
     on conflict (table_name) do update set snapshot = excluded.snapshot, definition = excluded.definition, touched = false, synced_at = excluded.synced_at`,
    [name, source.manifest.snapshot_id, definitionOf(target)],
  );
  killPoint('sync.table-done');
  return done;
}

/** Share of changed rows from which on all rows are sent, a part of the table at a time. */
const MOST = 0.5;

const isMost = ({ manifest }: Source, { name, inserted, updated, left }: TableChanges): boolean =>
  inserted + updated + left > MOST * (allTables(manifest)[name]?.rows ?? 0) + SMALL;

/** Rows that take no room, however many of a table they are. */
const SMALL = 100_000;

const reasonOf = (since: string | undefined, told: TableChanges | undefined): string =>
  told === undefined ? `the lake cannot tell what changed since ${since}` : 'most of its rows changed';

/** Puts a table that was made anew in its place, and renews the indexes of the others. */
async function putInPlace(
  client: Client,
  { schema }: SyncSettings,
  { target, isAnew, because }: Plan,
): Promise<void> {
  if (!isAnew) return renewIndexes(client, schema, target);
  try {
    await switchTable(client, schema, target);
  } catch (error) {
    if (codeOf(error) !== DEPENDED_ON) throw error;
    throw new LotlakeError(
      'SYNC_FAILED',
      `${inSchema(schema, target.name)} has to be made anew (${because ?? 'no sync knows it'}), and others depend on it: ${messageOf(error)}`,
      {
        cause: error,
        hint: 'nothing was changed; drop what depends on it, run lotlake sync, and make it again',
      },
    );
  }
}

/** Postgres' code for something that others depend on. */
const DEPENDED_ON = '2BP01';

/**
 * What the database says of a table, which nobody else changes from now on until the end of the transaction. Throws SYNC_FAILED for a
 * table of that name that no sync made.
 */
async function knownTable(client: Client, schema: string, name: string): Promise<Known | undefined> {
  const table = inSchema(schema, name);
  const { rows: found } = await client.query<{ readonly is_ours: boolean }>(
    `select exists (select 1 from pg_trigger where tgrelid = c.oid and tgname = $2) as is_ours
     from pg_class c where c.oid = to_regclass($1)`,
    [table, TRIGGER],
  );
  if (found[0]?.is_ours === false)
    throw new LotlakeError('SYNC_FAILED', `${table} is there, and no sync made it`, {
      outcome: 'usage',
      hint: 'nothing was changed; name a schema of its own in the setting sync, or drop that table',
    });
  // A change that is under way ends first, and is seen.
  if (found.length > 0) await client.query(`lock table ${table} in share row exclusive mode`);
  const { rows } = await client.query<Known>(
    `select snapshot, definition, touched from ${inSchema(schema, 'lotlake_sync')} where table_name = $1`,
    [name],
  );
  return rows[0];
}

/** Why a table has to be made anew; undefined if it can follow as it is. */
async function whyWhole(
  client: Client,
  schema: string,
  target: Target,
  definition: string | undefined,
): Promise<string | undefined> {
  const { columns } = target;
  const wants = columns.map(({ name, type }) => `${name} ${pgType(type)}`);
  if (definition !== undefined && definition !== definitionOf(target)) {
    const before: { readonly columns?: readonly (readonly [string, string])[] } = JSON.parse(definition);
    const was = (before.columns ?? []).map((column) => column.join(' '));
    const other = [
      ...was.filter((each) => !wants.includes(each)),
      ...wants.filter((each) => !was.includes(each)),
    ];
    return `it is to have another form: ${other.join(', ') || 'another key, order, or treatment of rows that left'}`;
  }
  const { rows } = await client.query<{ readonly is: string | null }>(
    `select string_agg(attname || ' ' || format_type(atttypid, null), ', ' order by attnum) as is
     from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [inSchema(schema, target.name)],
  );
  const { rows: expected } = await client.query<{ readonly is: string }>(
    `select string_agg(name || ' ' || format_type(to_regtype(type), null), ', ' order by place) as is
     from unnest($1::text[], $2::text[]) with ordinality as t(name, type, place)`,
    [columns.map(({ name }) => name), columns.map(({ type }) => pgType(type).replace(/\(.*?\)/, ''))],
  );
  if (rows[0]?.is === null) return 'it was not there';
  return rows[0]?.is === expected[0]?.is ? undefined : 'somebody changed its columns';
}

/** Sends the rows that changed, of which there may be none. */
async function sendChanges(
  client: Client,
  schema: string,
  source: Source,
  target: Target,
  sql: string | undefined,
): Promise<SyncedTable> {
  const { name, columns, mark } = target;
  if (sql === undefined) return { name, because: null, how: 'same', sent: 0 };
  await beginRows(client, target, '_change text, ');
  const sent = await sendRows(
    client,
    source,
    [...CHANGE.slice(0, 1), ...columns],
    `(${sql})`,
    'lotlake_rows',
  );
  const stays = `(_change <> 'left'${mark === null ? '' : ` or ${identifier(mark)} is not null`})${present(target)}`;
  await applyRows(client, schema, target, { stays, removes: `not (${stays})` });
  return { name, because: null, how: 'changes', sent };
}

/** Sends every row, and changes those that differ. */
async function compareAll(
  client: Client,
  schema: string,
  source: Source,
  target: Target,
  because: string,
): Promise<SyncedTable> {
  await beginRows(client, target);
  const sent = await sendAll(client, source, target, 'lotlake_rows');
  await client.query(`alter table lotlake_rows add unique nulls not distinct (${listOf(target.key)})`);
  const isPrimary = await widenKey(client, schema, target, 'lotlake_rows');
  await client.query(
    `delete from ${inSchema(schema, target.name)} as t where not exists (select 1 from lotlake_rows as r where ${sameKeys(target.key, isPrimary)})`,
  );
  await applyRows(client, schema, target, { stays: 'true' });
  return { name: target.name, how: 'compared', because, sent };
}

/** Condition that a row is not deleted for having left. */
const present = ({ mark, deletesGone }: Target): string =>
  deletesGone ? ` and coalesce(${identifier(mark ?? '')}::text, 'false') = 'false'` : '';

/** Makes the temporary table for rows that are sent. */
export async function beginRows(client: Client, target: Target, before = ''): Promise<void> {
  await client.query('drop table if exists lotlake_rows');
  await client.query(`create temporary table lotlake_rows (${before}${columnsOf(target)}) on commit drop`);
  killPoint('sync.rows-begun');
}

/** Condition that two rows have the same key. One that may be null is compared as text first, for which Postgres has a hash. */
const sameKeys = (key: readonly string[], isPrimary: boolean): string =>
  key
    .map((name) => [`t.${identifier(name)}`, `r.${identifier(name)}`])
    .map(([a, b]) =>
      isPrimary
        ? `${a} = ${b}`
        : `coalesce(${a}::text, '') = coalesce(${b}::text, '') and ${a} is not distinct from ${b}`,
    )
    .join(' and ');

/** Applies the rows that were sent: removes some, and inserts the others or changes what is there. */
async function applyRows(
  client: Client,
  schema: string,
  target: Target,
  { stays, removes }: { readonly stays: string; readonly removes?: string },
): Promise<void> {
  const { name, key, columns } = target;
  const table = inSchema(schema, name);
  const isPrimary = await widenKey(client, schema, target, 'lotlake_rows');
  await client.query('analyze lotlake_rows');
  if (removes !== undefined)
    await client.query(
      `delete from ${table} as t using (select * from lotlake_rows where ${removes}) as r where ${sameKeys(key, isPrimary)}`,
    );
  killPoint('sync.removed');
  const all = columns.map((column) => column.name);
  const values = all.filter((column) => !key.includes(column));
  const list = listOf(all);
  const [mine, other] = [listOf(values, 't.'), listOf(values, 'excluded.')];
  const change =
    values.length === 0
      ? 'nothing'
      : `update set (${listOf(values)}) = row(${other}) where row(${mine}) is distinct from row(${other})`;
  await client.query(
    `insert into ${table} as t (${list}) select ${list} from lotlake_rows where ${stays} on conflict (${listOf(key)}) do ${change}`,
  );
  killPoint('sync.applied');
}

/** Bytes of Parquet that are sent at once; as CSV they take some ten times as much of the scratch folder. */
const BYTES_AT_ONCE = 64e6;

/** Sends every row of a table of the snapshot. Returns how many. */
export async function sendAll(client: Client, source: Source, target: Target, into: string): Promise<number> {
  const { folder, manifest } = source;
  const table = allTables(manifest)[target.name];
  if (table === undefined) throw new TypeError(`no table ${target.name}`);
  let sent = 0;
  for (const files of inParts(table.files)) {
    const relation = filesRelation(folder, files, table.partitioned);
    const where = target.deletesGone ? ` where true${present(target)}` : '';
    sent += await sendRows(client, source, target.columns, `(select * from ${relation}${where})`, into);
  }
  return sent;
}

function inParts(files: readonly LakeFile[]): readonly (readonly LakeFile[])[] {
  const parts: LakeFile[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const file of files) {
    if (bytes + file.bytes > BYTES_AT_ONCE) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(file);
    bytes += file.bytes;
  }
  return parts;
}

/** Sends the rows of a relation by COPY. Returns how many. */
async function sendRows(
  client: Client,
  { connection, temp }: Source,
  columns: readonly Column[],
  relation: string,
  into: string,
): Promise<number> {
  const path = join(temp, 'rows.csv');
  try {
    await connection.run(`copy (${asCsv(columns, relation)}) to ${literal(path)} (${copyOptions(columns)})`);
    killPoint('sync.rows-written');
    const list = listOf(columns.map(({ name }) => name));
    const stream = client.query(copyFrom(`copy ${into} (${list}) from stdin (format csv)`));
    await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), stream);
    killPoint('sync.rows-sent');
    return stream.rowCount;
  } finally {
    remove(path);
  }
}
