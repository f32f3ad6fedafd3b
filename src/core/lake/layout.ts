import { readlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isLink, isWithin, own, realPlace } from '../../base/config/owned.js';
import { ID } from './ids.js';

/** File name of the DuckDB database of a snapshot. */
export const WAREHOUSE = 'warehouse.duckdb';

/** Folders and files of one output folder. */
export type Layout = Readonly<ReturnType<typeof layoutOf>>;

/** Where everything is, below an output folder. That folder, lake, snapshots and landing may be links to other disks. */
export function layoutOf(output: string) {
  const lake = own(join(own(output), 'lake'));
  return {
    output,
    landing: own(join(output, 'landing')),
    lake,
    snapshots: own(join(lake, 'snapshots')),
    /** Symbolic link to the published snapshot. */
    current: join(lake, 'current'),
    /** Scratch space; nothing in it outlives the run that made it. */
    work: join(output, 'work'),
    lock: join(output, 'lotlake.lock'),
    /** Records of runs, one folder a run. */
    runs: join(output, 'runs'),
    /** Rows that failed the data tests of the last run. */
    failedTests: join(output, 'failed-tests'),
    /** Marts that `lotlake model` computed beside the lake. */
    models: join(output, 'models'),
    /** What each channel has been told, one file a channel. */
    notified: join(output, 'notified'),
    /** The cars that the user follows. */
    followed: join(output, 'followed.json'),
    /** What the pages of `lotlake explore` keep between starts. */
    explore: join(output, 'explore.json'),
  };
}

/** Folder of the published snapshot; undefined if nothing was published yet, or the link was not made by lotlake. */
export function currentSnapshot(layout: Layout): string | undefined {
  try {
    const id = basename(readlinkSync(layout.current));
    return ID.test(id) ? join(layout.snapshots, id) : undefined;
  } catch {
    return undefined;
  }
}

/** Id of the published snapshot; null if nothing was published yet. */
export function currentId(layout: Layout): string | null {
  const snapshot = currentSnapshot(layout);
  return snapshot === undefined ? null : basename(snapshot);
}

/**
 * The folder around a path that belongs to lotlake alone, in the given output folder or in any other that contains the
 * path. Undefined if there is none.
 */
export function ownFolderAround(path: string, output: string): string | undefined {
  const place = realPlace(path);
  for (const at of [realPlace(output), ...waysTo(place).filter((way) => isLink(layoutOf(way).current))]) {
    const { lake, snapshots, landing, work, failedTests, lock, runs, notified, followed, explore } =
      layoutOf(at);
    const own = [lake, snapshots, landing, work, failedTests, lock, runs, notified, followed, explore];
    const found = own.find((folder) => isWithin(place, realPlace(folder)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function waysTo(path: string): string[] {
  return path === dirname(path) ? [] : [dirname(path), ...waysTo(dirname(path))];
}
