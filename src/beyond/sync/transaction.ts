import type { Client } from 'pg';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { identifier } from '../../base/duck/session.js';
import { diskFullError, outOfMemoryError } from '../../core/lake/lake-error.js';
import { connect, placeOf } from './connect.js';
import { inSchema, type SyncSettings, TRIGGER } from './target.js';

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
export async function prepare(client: Client, schema: string): Promise<void> {
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
