import { createHash } from 'node:crypto';
import { closeSync, fsync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { codeOf, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';

const CHUNK = 1 << 20;

/** SHA-256 of a file in hex. A core with SHA instructions hashes 1.4 GB/s, as fast as any hash of node:crypto. */
export async function checksumOf(path: string): Promise<string> {
  // Promises cost more than the hash for files of some kilobytes. Signals get their turn between files.
  await setImmediate();
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer))
      hash.update(buffer.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

/** Files and folders that are synced at once. One flush of the disk serves all that wait for it. */
const AT_ONCE = 16;

/** Codes of systems that cannot sync a folder, or do not let this user open it. Nothing can be done then. */
const NOT_POSSIBLE = ['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'];

const synced = promisify(fsync);

/** Waits until files are on disk. Throws the error of the system, unless its code is one of the ignored. */
export async function syncFiles(paths: readonly string[], ignored: readonly unknown[] = []): Promise<void> {
  const limit = pLimit(AT_ONCE);
  const sync = async (path: string): Promise<void> => {
    const file = openSync(path, 'r');
    await synced(file).finally(() => closeSync(file));
  };
  const syncOne = (path: string): Promise<void> =>
    sync(path).catch((error) => {
      if (!ignored.includes(codeOf(error))) throw error;
    });
  await Promise.all(paths.map((path) => limit(syncOne, path)));
}

/** Waits until the names in folders are on disk, if the system can do that. */
export const syncFolders = (paths: readonly string[]): Promise<void> => syncFiles(paths, NOT_POSSIBLE);

/** All folders below a folder. */
export function foldersBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Runs a function that writes a file of landing. Throws LAND_FAILED if it fails. */
export function writing<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The error of a file of landing that could not be written. It must not pass for an error of the service. */
export function unwritable(path: string, cause: unknown): LotlakeError {
  return new LotlakeError('LAND_FAILED', `${path} cannot be written: ${messageOf(cause)}`, {
    cause,
    hint: 'the last snapshot stays current and landing keeps every page that was whole; run the same command again when the folder can be written',
  });
}
