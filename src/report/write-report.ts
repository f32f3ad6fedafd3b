import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.js';
import { partialOf } from '../lake/leftovers.js';
import { assertOurs, assertOutside } from '../query/places.js';
import { compose } from './compose.js';
import { renderPage } from './page.js';
import { readReport } from './read-report.js';

/** Texts that every report has. */
const MARKS = ['<section id="reading"><header><h2>How to read this</h2></header>', 'Data health'];

/** Where `lotlake docs` puts its first page, beside a report of the same output folder. */
const DICTIONARY = 'docs/index.html';

/**
 * Writes the report of the published snapshot as one HTML file that needs nothing else, beside its name first, and
 * returns its path. Throws ShareError where nothing is published, and for a place that is not a report's (SHARE_PLACE).
 * @param to path of the file; `report.html` in the output folder by default
 */
export async function writeReport(config: Config, to = join(config.output, 'report.html')): Promise<string> {
  assertOutside(to, config.output);
  assertOurs(to, MARKS);
  const dictionary = existsSync(join(dirname(to), DICTIONARY)) ? DICTIONARY : undefined;
  const page = await renderPage(compose(await readReport(config), dictionary));
  const beside = partialOf(to);
  await mkdir(dirname(to), { recursive: true });
  try {
    await writeFile(beside, page);
    await rename(beside, to);
  } finally {
    await rm(beside, { force: true });
  }
  return to;
}
