import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../base/config/config.js';
import { makeFolder, ownNamed } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { outOfMemoryError } from '../../core/lake/lake-error.js';
import { readLake } from '../query/open-lake.js';
import { assertOurs, assertOutside, writeWhole, writingTo } from '../query/places.js';
import { pathOf } from './html.js';
import { indexPage, readSite, type Site, tablePage } from './pages.js';

/** Files of the site that are the same for every lake. */
const ASSETS = ['docs.css', 'docs.js'];

/** Texts that every first page contains. */
const MARKS = ['search-index.js', '>lotlake data<'];

/**
 * Writes the pages about the published snapshot into a folder, which is made if needed; other files in it stay. Returns
 * the path of the first page, the number of pages, and the id of the snapshot. Throws QUERY_NO_SNAPSHOT if nothing is
 * published, QUERY_PLACE if the folder is inside the lake or holds other files of these names, and DOCS_FAILED if it cannot
 * be written.
 * @param signal ends the work before anything is written
 */
export async function writeSite(config: Config, folder: string, signal?: AbortSignal) {
  const index = join(folder, 'index.html');
  assertOutside(folder, config.output);
  // A site of ours has such a first page. In any other folder, files of these names are not ours to replace.
  assertOurs(index, MARKS);
  if (!existsSync(index))
    for (const name of ['search-index.js', ...ASSETS]) assertOurs(join(folder, name), MARKS);
  try {
    return await readLake(config, { signal }, async (lake) => {
      // Before the tables are read, so that a folder that cannot be written fails at once.
      writingTo(folder, () => makeFolder(ownNamed(folder)));
      const site = await readSite(lake);
      // An interrupted test must not count as one that could not be run.
      signal?.throwIfAborted();
      const pages = site.catalog.map((table) => [pathOf(table), tablePage(table, site)] as const);
      const first = { 'search-index.js': searchIndex(site), 'index.html': indexPage(site) };
      writingTo(folder, () => {
        for (const [path, text] of [...Object.entries(first), ...pages]) {
          makeFolder(dirname(join(folder, path)));
          writeWhole(join(folder, path), text);
        }
        for (const asset of ASSETS) writeWhole(join(folder, asset), packageFile(join('site', asset)));
      });
      return { index, pages: pages.length + 1, snapshot_id: lake.manifest.snapshot_id };
    });
  } catch (error) {
    throw outOfMemoryError(error, config.memory) ?? error;
  }
}

/** An entry of the search: `[name, table of a column, kind, description, path of its page]`. */
type Entry = readonly [name: string, table: string, kind: string, description: string, path: string];

/** The entries of the search as a script, because a page that is opened as a file cannot fetch JSON. */
function searchIndex({ catalog }: Site): string {
  const entries = catalog.flatMap((table): Entry[] => {
    const path = pathOf(table);
    const columns = table.columns.map(
      ({ name, description }): Entry => [name, table.name, 'column', description, `${path}#c-${name}`],
    );
    return [[table.name, '', table.kind, table.description, path], ...columns];
  });
  return `globalThis.searchIndex = [\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n];\n`;
}
