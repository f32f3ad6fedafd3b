import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the package: the nearest one above this file that holds `sql/`. It is the same from src and from dist. */
export const packageRoot: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'sql', 'flatten'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new TypeError('the folder sql/ of lotlake is missing');
    folder = parent;
  }
  return folder;
})();

/** Text of a file of the package, such as `site/docs.html`. */
export const packageFile = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const about = JSON.parse(packageFile('package.json'));

/** Version of lotlake, such as `0.1.0`. */
export const version = String(about.version);

/** Least version of Node that lotlake runs on, such as `20.19`. */
export const leastNode = String(about.engines.node).replace('>=', '');
