import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../config/lotlake-error.js';
import { partialOf } from '../lake/leftovers.js';
import { ShareError } from '../query/share-error.js';

/** Writes a file beside its name and renames it, so that a reader never meets half of it. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const beside = partialOf(path);
  try {
    writeFileSync(beside, text);
    renameSync(beside, path);
  } finally {
    rmSync(beside, { force: true });
  }
}

/** Does what writes to a path. Throws ShareError (SHARE_DOCS) that names the path where it fails. */
export function writingTo(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new ShareError('SHARE_DOCS', `${path} cannot be written: ${messageOf(error)}`, {
      cause: error,
      hint: 'name another place',
    });
  }
}
