import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { packageRoot } from '../config/package-root.js';
import { interruptOn } from '../duck/session.js';
import { outOfMemoryError } from '../lake/lake-error.js';
import { openLake } from '../query/open-lake.js';
import { assertOurs, assertOutside } from '../query/places.js';
import type { Html } from './html.js';
import { indexPage } from './index-page.js';
import { searchIndex } from './search-index.js';
import { pathOf, readSite, type Site } from './site.js';
import { tablePage } from './table-page.js';
import { writeWhole, writingTo } from './write-whole.js';

/** Files of the site that are the same for every lake. */
const ASSETS = ['docs.css', 'docs.js'];

/** Texts that every first page has. */
const MARKS = ['search-index.js', '>lotlake data<'];

/** A site that was written. */
export interface WrittenSite {
  readonly index: string;
  readonly pages: number;
  readonly snapshot_id: string;
}

/**
 * Writes the pages about the published snapshot into a folder, which is made where there is none; other files in it stay.
 * @param signal ends the work before anything is written
 * Throws ShareError where nothing is published (SHARE_NO_SNAPSHOT), the place is not a site's (SHARE_PLACE), or the folder cannot be written (SHARE_DOCS).
 */
export async function writeSite(config: Config, folder: string, signal?: AbortSignal): Promise<WrittenSite> {
  assertOutside(folder, config.output);
  // A folder with a site of ours has such a first page; the files of another are not ours to replace.
  assertOurs(join(folder, 'index.html'), MARKS);
  if (!existsSync(join(folder, 'index.html')))
    for (const name of ['search-index.js', ...ASSETS]) assertOurs(join(folder, name), MARKS);
  const lake = await openLake(config);
  const endInterrupts = interruptOn(signal, lake.session);
  try {
    // Before the tables are read, so that a folder that cannot be is told of at once.
    writingTo(folder, () => mkdirSync(folder, { recursive: true }));
    const site = await readSite(lake);
    // A test that was interrupted is no test that could not be run.
    signal?.throwIfAborted();
    const files = await filesOf(site);
    writingTo(folder, () => {
      for (const [path, text] of files) writeWhole(join(folder, path), text);
      for (const asset of ASSETS) copyFileSync(join(packageRoot, 'site', asset), join(folder, asset));
    });
    const index = join(folder, 'index.html');
    return { index, pages: site.catalog.length + 1, snapshot_id: lake.manifest.snapshot_id };
  } catch (error) {
    throw outOfMemoryError(error, config.memory) ?? error;
  } finally {
    endInterrupts();
    lake.close();
  }
}

async function filesOf(site: Site): Promise<readonly (readonly [path: string, text: string])[]> {
  const pages: [string, Html][] = [
    ['index.html', indexPage(site)],
    ...site.catalog.map((table): [string, Html] => [pathOf(site, table.name), tablePage(table, site)]),
  ];
  const files: [string, string][] = [['search-index.js', searchIndex(site)]];
  for (const [path, page] of pages) files.push([path, String(await page)]);
  return files;
}
