import type { Client } from 'pg';
import { CHANGE, type Changes, type TableChanges } from '../../ask/export/changes.js';
import { snapshotFolder, withDatabase } from '../../ask/query/open-lake.js';
import type { Config } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { codeOf, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { identifier } from '../../base/duck/session.js';
import { allTables, readManifest } from '../../core/lake/manifest.js';
import { assertPresent } from '../../core/lake/presence.js';
import { placeOf } from './connect.js';
import { changesFor, type Plan, planOf } from './plan.js';
import { beginRows, present, type Source, sendAll, sendRows } from './send.js';
import {
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
  targetsOf,
  widenKey,
} from './target.js';
import { inSync, prepare } from './transaction.js';

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
