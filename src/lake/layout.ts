import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { codeOf } from '../config/lotlake-error.js';

/** File name of the DuckDB database of a snapshot. */
export const WAREHOUSE = 'warehouse.duckdb';

/** Folders and files of one output folder. */
export type Layout = Readonly<ReturnType<typeof layoutOf>>;

/** Where everything is, below an output folder. */
export function layoutOf(output: string) {
  const lake = join(output, 'lake');
  return {
    output,
    landing: join(output, 'landing'),
    lake,
    snapshots: join(lake, 'snapshots'),
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
  };
}

/** Folder of the published snapshot, resolved; undefined if nothing was published yet. */
export function currentSnapshot(layout: Layout): string | undefined {
  try {
    return join(layout.snapshots, basename(readlinkSync(layout.current)));
  } catch {
    return undefined;
  }
}

/** Id of the published snapshot; null if nothing was published yet. */
export function currentId(layout: Layout): string | null {
  const snapshot = currentSnapshot(layout);
  return snapshot === undefined ? null : basename(snapshot);
}

/** A path without symbolic links. Its last parts may not exist yet, and a link may lead nowhere. */
export function realPlace(path: string): string {
  if (path === dirname(path)) return path;
  const place = join(realPlace(dirname(path)), basename(path));
  if (!isLink(place)) return place;
  try {
    return realpathSync(place);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return realPlace(resolve(dirname(place), readlinkSync(place)));
  }
}

/** Whether one path is another one or below it; both without symbolic links. */
export const isWithin = (inner: string, outer: string): boolean =>
  `${inner}${sep}`.startsWith(`${outer}${sep}`);

/**
 * The folder around a path that belongs to lotlake alone, in the given output folder or in any other that contains the
 * path. Undefined if there is none.
 */
export function ownFolderAround(path: string, output: string): string | undefined {
  const place = realPlace(path);
  for (const at of [realPlace(output), ...waysTo(place).filter((way) => isLink(layoutOf(way).current))]) {
    const { lake, snapshots, landing, work, failedTests, lock, runs } = layoutOf(at);
    const own = [lake, snapshots, landing, work, failedTests, lock, runs];
    const found = own.find((folder) => isWithin(place, realPlace(folder)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function waysTo(path: string): string[] {
  return path === dirname(path) ? [] : [dirname(path), ...waysTo(dirname(path))];
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // Nothing is there, or it cannot be reached. Writing to it will say why.
    return false;
  }
}
