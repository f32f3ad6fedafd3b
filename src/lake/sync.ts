import {
  closeSync,
  fsync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

/** Files that are synced at once: the disk writes the journal once for those that wait for it together. */
const AT_ONCE = 16;

const synced = promisify(fsync);

/** Waits until the contents of files are on disk. Throws the error of the system that names the reason. */
export async function syncFiles(paths: readonly string[]): Promise<void> {
  const limit = pLimit(AT_ONCE);
  await Promise.all(
    paths.map((path) =>
      limit(async () => {
        const file = openSync(path, 'r');
        try {
          await synced(file);
        } finally {
          closeSync(file);
        }
      }),
    ),
  );
}

/** What systems answer that cannot sync a folder, or do not let this user open it; there is nothing to do then. */
const NOT_POSSIBLE: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP']);

/** Waits until the names in folders are on disk, in the order given. */
export function syncFolders(paths: readonly string[]): void {
  for (const path of paths) {
    let folder: number | undefined;
    try {
      folder = openSync(path, 'r');
      fsyncSync(folder);
    } catch (error) {
      if (!NOT_POSSIBLE.has(error instanceof Error ? Reflect.get(error, 'code') : undefined)) throw error;
    } finally {
      if (folder !== undefined) closeSync(folder);
    }
  }
}

/** A folder and all folders below it, the deepest first. */
export function foldersBelow(path: string): string[] {
  const below = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return [path, ...below].reverse();
}

/**
 * Writes a file in place of the one of its name. After a power cut the name stands for the old text or the new one, never
 * for half of it; which of them, the folder's own sync decides. Nothing is left beside it where that fails.
 */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  try {
    writeFileSync(temporary, text, { flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
