import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from './layout.js';
import { CLAIM } from './lock.js';
import { findPartials } from './partial.js';
import type { Going } from './vacuum-plan.js';

/** Folder beside snapshots or streams that holds what is being deleted; no reader lists it. */
export const TRASH = '.trash';

/** Folders that a vacuum moves things to before it deletes them. */
export function trashFolders(layout: Layout): string[] {
  return [join(layout.lake, TRASH), join(layout.landing, TRASH)];
}

/**
 * Paths that no run and no reader needs: what runs and vacuums that died left. Only right while the lock of the output
 * folder is held.
 * @param kept folders of the snapshots and passes that stay
 */
export function findLeftovers(layout: Layout, kept: readonly string[]): Going<string>[] {
  const { output, landing, lake, work } = layout;
  const going = (reason: string, paths: readonly string[]): Going<string>[] =>
    paths.map((what) => ({ what, reason }));
  return [
    ...going('left by a run that died', [layout.work].filter(existsSync)),
    ...going(
      'left by a vacuum that died',
      trashFolders(layout).flatMap((folder) => matching(folder, /./)),
    ),
    ...going('a pass that never began', emptyPasses(layout)),
    ...going('begun by a process that died', findPartials(output, [landing, lake, work])),
    ...going('temporary file', [
      ...matching(layout.lake, /^(current\.\d+|warehouse\.\d+|failed-runs\.ndjson)\.tmp(\.wal)?$/),
      ...matching(output, /^lotlake\.lock\./).filter((path) => path.endsWith(CLAIM)),
      ...kept.flatMap((folder) => matching(folder, /\.tmp$/)),
    ]),
  ];
}

/** Pass folders without a `pass.json` and without a page: their run died as it made them. */
function emptyPasses(layout: Layout): string[] {
  return matching(layout.landing, /^[a-z_]+$/)
    .flatMap((stream) => matching(stream, /^\d{8}T\d{6}Z-[0-9a-f]{6}$/))
    .filter((folder) => matching(folder, /^pass\.json$|\.gz$/).length === 0);
}

function matching(folder: string, name: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((entry) => name.test(entry))
    .sort()
    .map((entry) => join(folder, entry));
}
