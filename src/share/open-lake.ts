import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { currentSnapshot, layoutOf } from '../lake/layout.js';
import { type Manifest, readManifest } from '../lake/manifest.js';
import { literals } from '../lake/session.js';
import { type Choice, pickSnapshot } from '../lake/snapshots.js';
import { openTemporarySession, type TemporarySession } from '../lake/temporary-session.js';
import { mendViews, viewOn } from '../lake/views.js';
import { ShareError } from './share-error.js';

/** A snapshot of the lake, opened for reading. */
export interface OpenLake extends TemporarySession {
  readonly snapshot: string;
  readonly manifest: Manifest;
}

/**
 * Opens the published snapshot, or an older one that is kept, with a view for each table and mart that `sql` may name.
 * Nothing can be written: only the snapshot's files can be reached. Views of `warehouse.duckdb` that name another folder
 * are made anew before.
 * @param sql text of the query; views are made for the names that occur in it, all of them by default
 * @param into a folder that can be written to all the same; rows then come in the order of the files
 */
export async function openLake(
  config: Config,
  sql?: string,
  choice?: Choice,
  into?: string,
): Promise<OpenLake> {
  const published = publishedSnapshot(config);
  const opened = await openTemporarySession(config);
  try {
    const { connection } = opened.session;
    const layout = layoutOf(config.output);
    const snapshot = choice === undefined ? published : await pickSnapshot(connection, layout, choice);
    await mendViews(connection, layout, snapshot);
    const manifest = readManifest(snapshot);
    const words = sql === undefined ? undefined : new Set(sql.toLowerCase().match(/[a-z_0-9]+/g) ?? []);
    for (const [name, table] of Object.entries({ ...manifest.tables, ...manifest.marts })) {
      if (words !== undefined && !words.has(name)) continue;
      await connection.run(viewOn(snapshot, { name, partitioned: table.partitioned }));
    }
    const allowed = [snapshot, opened.temp, ...(into === undefined ? [] : [into])].map(
      (folder) => `${folder}/`,
    );
    await connection.run(`set allowed_directories = ${literals(allowed)}`);
    // Several threads write their rows as they come, also where insertion order is to be preserved.
    if (into !== undefined) await connection.run('set threads = 1');
    await connection.run('set enable_external_access = false');
    await connection.run('set lock_configuration = true');
    return { ...opened, snapshot, manifest };
  } catch (error) {
    opened.close();
    throw error;
  }
}

/** Folder of the published snapshot. Throws ShareError where there is none. */
export function publishedSnapshot(config: Config): string {
  const snapshot = currentSnapshot(layoutOf(config.output));
  if (snapshot !== undefined) return snapshot;
  const { output } = config;
  const sandbox = join(output, 'sandbox');
  const hint =
    currentSnapshot(layoutOf(sandbox)) === undefined
      ? 'run lotlake run nightly first, or name another folder with --output'
      : `that of the sandbox is in ${sandbox}: name it with --output`;
  throw new ShareError('SHARE_NO_SNAPSHOT', `there is no published lake in ${output}`, { hint });
}
