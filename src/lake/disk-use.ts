import { lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Size of a file or folder, and what its removal gives back. */
export interface DiskUse {
  /** Bytes of all files in it. */
  readonly bytes: number;
  /** Bytes of the files that have no name left once it and those before it are removed. */
  readonly freed: number;
}

/**
 * Measures files and folders that are removed in the order given. A file with a name elsewhere, such as one that
 * another snapshot links to, frees nothing; it is counted where its last name goes.
 */
export function measure(paths: readonly string[]): DiskUse[] {
  const gone = new Map<string, number>();
  return paths.map((path) => {
    let bytes = 0;
    let freed = 0;
    for (const file of filesBelow(path)) {
      const { dev, ino, nlink, size } = lstatSync(file);
      const names = (gone.get(`${dev}:${ino}`) ?? 0) + 1;
      gone.set(`${dev}:${ino}`, names);
      bytes += size;
      if (names === nlink) freed += size;
    }
    return { bytes, freed };
  });
}

/** Files of a snapshot that its run wrote, and those that it shares with the snapshot before. */
export interface FileUse {
  readonly writtenFiles: number;
  readonly writtenBytes: number;
  readonly linkedFiles: number;
  readonly linkedBytes: number;
}

/** Tells the files of a snapshot folder that are those of another from the ones that are its own. */
export function compareFiles(snapshot: string, before: string | undefined): FileUse {
  const use = { writtenFiles: 0, writtenBytes: 0, linkedFiles: 0, linkedBytes: 0 };
  for (const file of filesBelow(snapshot)) {
    const { size } = lstatSync(file);
    if (isLinked(snapshot, before, file)) {
      use.linkedFiles++;
      use.linkedBytes += size;
    } else {
      use.writtenFiles++;
      use.writtenBytes += size;
    }
  }
  return use;
}

/** Files of a snapshot folder that are not those of another. */
export function ownFiles(snapshot: string, before: string | undefined): string[] {
  return filesBelow(snapshot).filter((file) => !isLinked(snapshot, before, file));
}

function isLinked(snapshot: string, before: string | undefined, file: string): boolean {
  if (before === undefined) return false;
  const { dev, ino } = lstatSync(file);
  const known = lstatSync(join(before, relative(snapshot, file)), { throwIfNoEntry: false });
  return known?.ino === ino && known.dev === dev;
}

function filesBelow(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}
