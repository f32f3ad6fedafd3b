import { closeSync, fsync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

/** Files and folders that are synced at once: one flush of the disk serves those that wait for it together. */
const AT_ONCE = 16;

/** What systems answer that cannot sync a folder, or do not let this user open it; there is nothing to do then. */
const NOT_POSSIBLE: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP']);

const synced = promisify(fsync);

/** Waits until the contents of files are on disk. Throws the error of the system that names the reason. */
export async function syncFiles(paths: readonly string[]): Promise<void> {
  const limit = pLimit(AT_ONCE);
  await Promise.all(paths.map((path) => limit(() => sync(path))));
}

/** Waits until the names in folders are on disk, where the system can do that. */
export async function syncFolders(paths: readonly string[]): Promise<void> {
  const limit = pLimit(AT_ONCE);
  const syncFolder = (path: string): Promise<void> =>
    sync(path).catch((error) => {
      if (!NOT_POSSIBLE.has(error instanceof Error ? Reflect.get(error, 'code') : undefined)) throw error;
    });
  await Promise.all(paths.map((path) => limit(() => syncFolder(path))));
}

async function sync(path: string): Promise<void> {
  const file = openSync(path, 'r');
  try {
    await synced(file);
  } finally {
    closeSync(file);
  }
}

/** All folders below a folder. */
export function foldersBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
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
