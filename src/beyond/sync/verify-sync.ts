import { snapshotFolder, withDatabase } from '../../ask/query/open-lake.js';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { layoutOf } from '../../core/lake/layout.js';
import { readManifest } from '../../core/lake/manifest.js';
import { findSnapshot } from '../../core/lake/snapshots.js';
import { beginRows, inSync, sendAll } from './sync.js';
import { inSchema, listOf, type SyncSettings, targetsOf } from './target.js';

/** A table of the database beside that of the snapshot which it has. */
export interface VerifiedTable {
  readonly name: string;
  readonly snapshot: string;
  readonly rows: number;
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
  const current = snapshotFolder(config);
  return withDatabase(config, signal, ({ session: { connection }, temp }) =>
    inSync(settings, env, signal, async (client) => {
      const verified: VerifiedTable[] = [];
      const sides = new Map<string, Side>();
      const sideOf = (snapshot: string): Side => {
        const side = sides.get(snapshot) ?? readSide(config, settings, snapshot);
        sides.set(snapshot, side);
        return side;
      };
      for (const { name } of targetsOf(readManifest(current), settings)) {
        const { rows } = await client.query<{ readonly snapshot: string }>(
          `select snapshot from ${inSchema(schema, 'lotlake_sync')} where table_name = $1`,
          [name],
        );
        const [{ snapshot } = { snapshot: undefined }] = rows;
        if (snapshot === undefined)
          throw new LotlakeError('SYNC_FAILED', `${inSchema(schema, name)} was never synced`, {
            outcome: 'usage',
            hint: 'run lotlake sync first',
          });
        const { folder, manifest, targets } = sideOf(snapshot);
        const target = targets.find((each) => each.name === name);
        if (target === undefined) throw new TypeError(`no table ${name}`);
        await beginRows(client, target);
        await sendAll(client, { connection, config, folder, manifest, temp }, target, 'lotlake_rows');
        const list = listOf(target.columns.map((column) => column.name));
        const sums = (of: string): string =>
          `select count(*)::bigint as rows, coalesce(sum(hashtextextended(r::text, 0)::numeric), 0)::text as sum from (select ${list} from ${of}) as r`;
        const is = (await client.query(sums(inSchema(schema, name)))).rows[0];
        const expected = (await client.query(sums('lotlake_rows'))).rows[0];
        verified.push({
          ...{ name, snapshot, rows: Number(is.rows), expected: Number(expected.rows) },
          isSame: is.rows === expected.rows && is.sum === expected.sum,
        });
      }
      return verified;
    }),
  );
}

type Side = ReturnType<typeof readSide>;

/** A snapshot that tables of the database have, and how they are to be. */
function readSide(config: Config, settings: SyncSettings, snapshot: string) {
  const folder = findSnapshot(layoutOf(config.output), snapshot);
  const manifest = readManifest(folder);
  return { folder, manifest, targets: targetsOf(manifest, settings) };
}
