import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

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

function filesBelow(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}
