import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { globRelation } from '../lake/files.js';
import { currentSnapshot, layoutOf } from '../lake/layout.js';
import { type Manifest, readManifest } from '../lake/manifest.js';
import { identifier, literal, openSession, type Session } from '../lake/session.js';
import { ShareError } from './share-error.js';

/** The published lake, opened for reading. */
export interface OpenLake {
  readonly session: Session;
  readonly snapshot: string;
  readonly manifest: Manifest;
  /** Folder that queries may write to; removed when the lake is closed. */
  readonly temp: string;
  close(): void;
}

/**
 * Opens the published snapshot with a view for each table and mart that `sql` may name. Nothing can be written: only
 * the snapshot's files can be reached.
 * @param sql text of the query; views are made for the names that occur in it, all of them by default
 */
export async function openLake(config: Config, sql?: string): Promise<OpenLake> {
  const snapshot = currentSnapshot(layoutOf(config.output));
  if (snapshot === undefined) {
    throw new ShareError('SHARE_NO_SNAPSHOT', `there is no published lake in ${config.output}`, {
      hint: 'run lotlake run nightly first, or name another folder with --output',
    });
  }
  const manifest = readManifest(snapshot);
  const temp = mkdtempSync(join(tmpdir(), 'lotlake-'));
  const session = await openSession({ memory: config.memory, threads: config.threads, temp });
  const words = sql === undefined ? undefined : new Set(sql.toLowerCase().match(/[a-z_0-9]+/g) ?? []);
  const { connection } = session;
  for (const [name, table] of Object.entries({ ...manifest.tables, ...manifest.marts })) {
    if (words !== undefined && !words.has(name)) continue;
    const relation = globRelation(snapshot, name, table.partitioned);
    await connection.run(`create view ${identifier(name)} as select * from ${relation}`);
  }
  await connection.run(`set allowed_directories = [${literal(`${snapshot}/`)}, ${literal(`${temp}/`)}]`);
  await connection.run('set enable_external_access = false');
  await connection.run('set lock_configuration = true');
  return {
    session,
    snapshot,
    manifest,
    temp,
    close: () => {
      session.close();
      rmSync(temp, { recursive: true, force: true });
    },
  };
}
