import { existsSync, readFileSync, statSync } from 'node:fs';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { replaceFile } from '../../base/config/owned.js';
import { partialOf } from '../../core/job/leftovers.js';
import { ownFolderAround } from '../../core/lake/layout.js';

/** Throws QUERY_PLACE for a path inside a lake or landing. Follows links. */
export function assertOutside(path: string, output: string): void {
  const folder = ownFolderAround(path, output);
  if (folder === undefined) return;
  throw refused(`${path} lies in ${folder}, which only runs write to`, 'name a place beside the lake');
}

/**
 * Throws QUERY_PLACE if the path holds a file that lotlake did not write.
 * @param marks texts that every file of this kind contains, whichever version of lotlake wrote it
 */
export function assertOurs(path: string, marks: readonly string[]): void {
  if (!existsSync(path)) return;
  const text = statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  if (marks.every((mark) => text.includes(mark))) return;
  throw refused(`${path} exists, and lotlake did not write it`, 'name another place, or move what is there');
}

/** Writes a file beside its name and renames it, so that no reader sees half of it. Several processes may do so at once. */
export function writeWhole(path: string, text: string): void {
  replaceFile(path, text, { temporary: partialOf(path) });
}

/** Runs a function that writes to a path. Throws DOCS_FAILED, which names the path, if it fails. */
export function writingTo(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new LotlakeError('DOCS_FAILED', `${path} cannot be written: ${messageOf(error)}`, {
      cause: error,
      hint: 'name another place',
    });
  }
}

function refused(message: string, hint: string): LotlakeError {
  return new LotlakeError('QUERY_PLACE', message, { outcome: 'usage', hint });
}
