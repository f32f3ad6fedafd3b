import { messageOf } from '../config/lotlake-error.js';
import { ShareError } from '../query/share-error.js';

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
