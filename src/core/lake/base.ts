import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { filesBelow } from './files.js';
import { unsoundError } from './lake-error.js';
import { currentSnapshot, type Layout } from './layout.js';
import { type Manifest, manifestIn, manifestOrDamage } from './manifest.js';
import { findMissing } from './presence.js';
import { hasManifest, listSnapshots, olderThan } from './snapshots.js';
import { lakeTables, systemTables } from './tables.js';

/** A snapshot on disk with its manifest, such as the base of a run. */
export interface BaseState {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * The snapshot that a run builds on: the published one. If that is damaged or its link is lost, warns and takes the newest
 * older snapshot that has all of its files. Undefined if nothing was published yet. Throws LAKE_UNSOUND if no snapshot can be
 * used.
 */
export function findBase(layout: Layout, warn: (message: string) => void): BaseState | undefined {
  const current = currentSnapshot(layout);
  if (current === undefined) return withoutLink(layout, warn);
  const found = readBase(current);
  if (typeof found !== 'string') return found;
  const sound = newestSound(layout, basename(current));
  if (sound === undefined)
    throw unsoundError(
      `the published snapshot ${basename(current)} is damaged: ${found}`,
      'nothing was changed, and no older snapshot has all of its files; lotlake run rebuild makes the lake again from landing and from what can be read of it, lotlake verify names all that is wrong',
    );
  warn(
    `the published snapshot ${basename(current)} is damaged: ${found}; going on from ${basename(sound.folder)}, the newest with all of its files. What runs saw in between comes back with lotlake run rebuild`,
  );
  return sound;
}

/**
 * The manifest whose ids of columns a run goes on with: that of the published snapshot, also if files of it are damaged, or
 * else of the base or the newest snapshot that can be read.
 */
export function recordedIds(layout: Layout, base: BaseState | undefined): Manifest | undefined {
  const current = currentSnapshot(layout);
  const published = current === undefined ? undefined : manifestIn(current);
  return published ?? base?.manifest ?? listSnapshots(layout).findLast(hasManifest)?.manifest;
}

/** A copy may have lost the link `current`, which named the newest snapshot. */
function withoutLink(layout: Layout, warn: (message: string) => void): BaseState | undefined {
  const sound = newestSound(layout);
  if (sound !== undefined) {
    warn(`the link ${layout.current} is lost; going on from the newest snapshot, ${basename(sound.folder)}`);
    return sound;
  }
  if (!listSnapshots(layout).some(({ isSealed }) => isSealed)) return undefined;
  throw unsoundError(
    `${layout.current} is not there, and no snapshot has all of its files`,
    'nothing was changed; lotlake run rebuild makes the lake again from landing and from what can be read of it',
  );
}

/** The newest snapshot, or the newest before another one, that has all files of its manifest. */
function newestSound(layout: Layout, than?: string): BaseState | undefined {
  const snapshots = listSnapshots(layout);
  const older = than === undefined ? snapshots : olderThan(snapshots, than);
  return older
    .filter(hasManifest)
    .findLast(
      ({ folder, manifest }) =>
        lostTable(folder, manifest) === undefined && findMissing(folder, manifest).length === 0,
    );
}

/** A table of lotlake whose files lie in a snapshot though its manifest has no such table: a run would take it for new and empty. */
function lostTable(folder: string, { tables }: Manifest): string | undefined {
  const missing = [...lakeTables(), ...systemTables].flatMap(({ name }) =>
    tables[name] === undefined ? [name] : [],
  );
  return missing.find((name) => {
    const own = join(folder, name);
    return existsSync(own) && filesBelow(own).some((file) => file.endsWith('.parquet'));
  });
}

/** A snapshot, or what is wrong with its manifest or the sizes of its files. Throws LAKE_FORMAT for a later format. */
function readBase(folder: string): BaseState | string {
  const manifest = manifestOrDamage(folder);
  if (manifest instanceof LotlakeError) return manifest.message;
  const lost = lostTable(folder, manifest);
  if (lost !== undefined)
    return `table ${lost}: its files are there, and the manifest does not name the table`;
  const [first, ...more] = findMissing(folder, manifest);
  if (first === undefined) return { folder, manifest };
  const tables = new Set([first, ...more].map(({ table }) => table));
  const others = more.length === 0 ? '' : `, and ${more.length} more files of ${[...tables].join(', ')}`;
  return `table ${first.table}: ${first.file}: ${first.found} instead of ${first.expected}${others}`;
}
