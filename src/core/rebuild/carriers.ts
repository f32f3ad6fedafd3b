import { basename } from 'node:path';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import type { Job } from '../job/job.js';
import type { BaseState } from '../lake/base.js';
import { currentSnapshot } from '../lake/layout.js';
import { type Manifest, manifestOrDamage } from '../lake/manifest.js';
import type { Problem } from '../lake/presence.js';
import { listSnapshots, olderThan } from '../lake/snapshots.js';
import { verifyFiles } from '../lake/verify-files.js';

/** A snapshot from which a rebuild carries rows over. */
export interface Carrier extends BaseState {
  /** Tables with files that are not as they were written. */
  readonly damaged: ReadonlySet<string>;
}

/**
 * The snapshots from which a rebuild carries rows over: the published one without its damaged files and, if it has such
 * files, the newest sound snapshot before it. Warns of the damage. Empty if nothing was published, or nothing can be read.
 */
export async function findCarriers(job: Job): Promise<Carrier[]> {
  const current = currentSnapshot(job.layout);
  const snapshots = listSnapshots(job.layout);
  const published = snapshots.filter(({ folder }) => folder === current);
  const older = current === undefined ? snapshots : olderThan(snapshots, basename(current));
  const carriers: Carrier[] = [];
  for (const { id, folder } of [...older, ...published].reverse()) {
    const manifest = manifestOrDamage(folder);
    if (manifest instanceof LotlakeError) {
      job.reporter.warn(`nothing is carried over from snapshot ${id}: ${manifest.message}`);
      continue;
    }
    const lost = await lostFiles(job, folder, manifest);
    // After a damaged snapshot, look for a sound one.
    if (carriers.length > 0 && lost.length > 0) continue;
    const damaged = new Set(lost.map(({ table }) => table));
    carriers.push({ folder, manifest: withoutFiles(manifest, lost), damaged });
    if (lost.length === 0) return carriers;
    job.reporter.warn(describeLost(id, lost));
  }
  return carriers;
}

/** Files of tables that differ from the manifest. Marts do not matter, since they are computed again. */
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

function describeLost(id: string, lost: readonly Problem[]): string {
  const [first] = lost;
  const tables = [...new Set(lost.map(({ table }) => table))].join(', ');
  return `snapshot ${id} is damaged in ${lost.length} files of ${tables} (${first?.file}: ${first?.found}): what they held comes from landing and from an older snapshot, as far as these have it`;
}
