import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the package: the nearest one above this file that holds `sql/`; the same from src and from dist. */
export const packageRoot: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'sql', 'flatten'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new TypeError('the folder sql/ of lotlake is missing');
    folder = parent;
  }
  return folder;
})();
