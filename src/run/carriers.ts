import { basename } from 'node:path';
import type { BaseState } from '../lake/base.js';
import { LakeError } from '../lake/lake-error.js';
import { currentSnapshot } from '../lake/layout.js';
import { type Manifest, manifestOrDamage } from '../lake/manifest.js';
import { listSnapshots } from '../lake/snapshots.js';
import { type Problem, verifyFiles } from '../lake/verify.js';
import type { Job } from './job.js';

/** A snapshot that is carried over from. */
export interface Carrier extends BaseState {
  /** Whether it has all of its files as they were written. */
  readonly isSound: boolean;
}

/**
 * The snapshots that a rebuild carries rows over from, best first. The published snapshot comes first, without its damaged
 * files. If it has some, the newest sound snapshot before it stands in for them. Warns of the damage. Empty if nothing
 * was published, or nothing can be read.
 */
export async function findCarriers(job: Job): Promise<Carrier[]> {
  const current = currentSnapshot(job.layout);
  const published = listSnapshots(job.layout).filter(
    ({ id }) => current === undefined || id <= basename(current),
  );
  const carriers: Carrier[] = [];
  for (const { id, folder } of published.reverse()) {
    const manifest = manifestOrDamage(folder);
    if (manifest instanceof LakeError) {
      job.reporter.warn(`nothing is carried over from snapshot ${id}: ${manifest.message}`);
      continue;
    }
    const lost = await lostFiles(job, folder, manifest);
    const isSound = lost.length === 0;
    // After a damaged snapshot only a sound one adds anything.
    if (carriers.length > 0 && !isSound) continue;
    carriers.push({ folder, manifest: withoutFiles(manifest, lost), isSound });
    if (isSound) return carriers;
    job.reporter.warn(sayLost(id, lost));
  }
  return carriers;
}

/** Files of tables that are not as the manifest says. Marts are computed again from the tables. */
async function lostFiles(job: Job, folder: string, manifest: Manifest): Promise<Problem[]> {
  const problems = await verifyFiles(folder, { ...manifest, marts: {} }, job.signal);
  return problems.filter(
    ({ table, file }) => manifest.tables[table]?.files.some(({ path }) => path === file) === true,
  );
}

function withoutFiles(manifest: Manifest, lost: readonly Problem[]): Manifest {
  const gone = new Set(lost.map(({ file }) => file));
  const left = Object.entries(manifest.tables).map(([name, table]) => {
    const files = table.files.filter(({ path }) => !gone.has(path));
    return [name, { ...table, files, rows: files.reduce((sum, file) => sum + file.rows, 0) }];
  });
  return { ...manifest, tables: Object.fromEntries(left) };
}

function sayLost(id: string, lost: readonly Problem[]): string {
  const [first] = lost;
  const tables = [...new Set(lost.map(({ table }) => table))].join(', ');
  return `snapshot ${id} is damaged in ${lost.length} files of ${tables} (${first?.file}: ${first?.found}): what they held comes from landing and from an older snapshot, as far as these have it`;
}
