import { existsSync, readFileSync, statSync } from 'node:fs';
import { ownFolderAround } from '../lake/layout.js';
import { ShareError } from './share-error.js';

/** Throws ShareError (SHARE_PLACE) for a place inside a lake or landing, by whatever way it is named. */
export function assertOutside(path: string, output: string): void {
  const folder = ownFolderAround(path, output);
  if (folder === undefined) return;
  throw refused(`${path} lies in ${folder}, which only runs write to`, 'name a place beside the lake');
}

/**
 * Throws ShareError (SHARE_PLACE) where a file is in the way that lotlake did not write.
 * @param marks texts that every file of this kind has, whichever version of lotlake wrote it
 */
export function assertOurs(path: string, marks: readonly string[]): void {
  if (!existsSync(path)) return;
  const text = statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  if (marks.every((mark) => text.includes(mark))) return;
  throw refused(`${path} exists, and lotlake did not write it`, 'name another place, or move what is there');
}

function refused(message: string, hint: string): ShareError {
  return new ShareError('SHARE_PLACE', message, { outcome: 'usage', hint });
}
