import type { Client } from 'pg';
import { withDatabase } from '../../ask/query/open-lake.js';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { layoutOf } from '../../core/lake/layout.js';
import { readManifest } from '../../core/lake/manifest.js';
import { findSnapshot } from '../../core/lake/snapshots.js';
import { beginRows, sendAll } from './send.js';
import { inSchema, listOf, type SyncSettings, targetsOf } from './target.js';
import { inSync } from './transaction.js';

/** A table of the database beside that of the snapshot which it has. */
export interface VerifiedTable {
  readonly name: string;
  readonly snapshot: string;
  /** Null if the table, or one of its columns, is not there. */
  readonly rows: number | null;
  readonly expected: number;
  /** Whether the sums of the hashes of all rows are the same. */
  readonly isSame: boolean;
}

/**
 * Compares the tables of a database with the snapshot that they have: the number of rows, and a sum of the hashes of all rows. The
 * server computes both sums, over what it stores and over the rows of the lake, which are sent once more.
 * @throws LotlakeError SYNC_UNREACHABLE, SYNC_FAILED, or LAKE_NO_SNAPSHOT if the lake no longer keeps the snapshot
 */
export async function verifyDatabase(
  settings: SyncSettings,
  config: Config,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<readonly VerifiedTable[]> {
  const { schema } = settings;
  return withDatabase(config, signal, ({ session: { connection }, temp }) =>
    inSync(settings, { env, signal, memory: config.memory }, async (client) => {
      const verified: VerifiedTable[] = [];
      for (const [snapshot, names] of await syncedTables(client, settings)) {
        const folder = findSnapshot(layoutOf(config.output), snapshot);
        const manifest = readManifest(folder);
        for (const target of targetsOf(manifest, settings)) {
          const { name } = target;
          if (!names.has(name)) continue;
          await beginRows(client, target);
          await sendAll(client, { connection, config, folder, manifest, temp }, target, 'lotlake_rows');
          const columns = target.columns.map((column) => column.name);
          const is = await sumsOf(client, inSchema(schema, name), columns);
          const expected = await sumsOf(client, 'lotlake_rows', columns);
          verified.push({
            ...{ name, snapshot, rows: is && Number(is.rows), expected: Number(expected?.rows) },
            isSame: is?.rows === expected?.rows && is?.sum === expected?.sum,
          });
        }
      }
      return verified;
    }),
  );
}

/** Names of the tables of the settings, by the snapshot that they have. Throws SYNC_FAILED for one that was never synced. */
async function syncedTables(
  client: Client,
  { schema, tables }: SyncSettings,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const state = inSchema(schema, 'lotlake_sync');
  const { rows: found } = await client.query('select to_regclass($1) is not null as is_there', [state]);
  const { rows } =
    found[0]?.is_there === true
      ? await client.query<{ readonly table_name: string; readonly snapshot: string }>(
          `select table_name, snapshot from ${state}`,
        )
      : { rows: [] };
  const names = new Map<string, Set<string>>();
  for (const name of Object.keys(tables)) {
    const known = rows.find((row) => row.table_name === name);
    if (known === undefined)
      throw new LotlakeError('SYNC_FAILED', `${inSchema(schema, name)} was never synced`, {
        outcome: 'usage',
        hint: 'run lotlake sync first',
      });
    names.set(known.snapshot, (names.get(known.snapshot) ?? new Set()).add(name));
  }
  return names;
}

/** Number of the rows of a table and the sum of their hashes; null if it, or a column, is not there. */
async function sumsOf(
  client: Client,
  table: string,
  columns: readonly string[],
): Promise<{ readonly rows: string; readonly sum: string } | null> {
  const { rows: there } = await client.query<{ readonly n: number }>(
    `select count(*)::int as n from pg_attribute
     where attrelid = to_regclass($1) and attname = any($2) and attnum > 0 and not attisdropped`,
    [table, columns],
  );
  if (there[0]?.n !== columns.length) return null;
  const { rows } = await client.query(
    `select count(*)::text as rows, coalesce(sum(hashtextextended(r::text, 0)::numeric), 0)::text as sum
     from (select ${listOf(columns)} from ${table}) as r`,
  );
  return rows[0];
}
