import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { layoutOf } from './layout.js';

/** A path without symbolic links, also where the last parts of it are not there yet or a link leads nowhere. */
export function realPlace(path: string): string {
  if (path === dirname(path)) return path;
  const place = join(realPlace(dirname(path)), basename(path));
  if (!isLink(place)) return place;
  try {
    return realpathSync(place);
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ENOENT') throw error;
    return realPlace(resolve(dirname(place), readlinkSync(place)));
  }
}

/** Whether one path is another one or below it; both without symbolic links. */
export const isWithin = (inner: string, outer: string): boolean =>
  `${inner}${sep}`.startsWith(`${outer}${sep}`);

/**
 * The folder of a lake that a path lies in and that is lotlake's alone: of the lake of an output folder, and of any
 * other whose output folder is on the way to the path. Undefined where there is none.
 */
export function ownFolderAround(path: string, output: string): string | undefined {
  const place = realPlace(path);
  for (const at of [realPlace(output), ...waysTo(place).filter((way) => isLink(layoutOf(way).current))]) {
    const { lake, snapshots, landing, work, failedTests, lock } = layoutOf(at);
    const own = [lake, snapshots, landing, work, failedTests, lock];
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
    // Nothing is there, or it cannot be reached; who writes there is told why.
    return false;
  }
}
