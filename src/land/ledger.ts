import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { jsonIn } from './files.js';
import { unwritable } from './land-error.js';
import type { LandedPage } from './page.js';

/** File of a pass with a line for each landed page. */
const LEDGER = 'pages.ndjson';

/** Adds a landed page to the ledger of its pass. */
export function recordPage(folder: string, page: LandedPage): void {
  const path = join(folder, LEDGER);
  // Each line begins with its line end: a torn line must not swallow the next one.
  const separator = existsSync(path) ? '\n' : '';
  try {
    appendFileSync(path, separator + JSON.stringify(page));
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Pages of a ledger whose files are there and whole. A crash may leave a torn last line, which is ignored. */
export function readLedger(folder: string): LandedPage[] {
  const path = join(folder, LEDGER);
  if (!existsSync(path)) return [];
  const byFile = new Map<string, LandedPage>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const page = jsonIn(line) as LandedPage | null | undefined;
    if (page == null) continue;
    // A page that was landed again under its name counts once, at its later receipt.
    byFile.delete(page.file);
    byFile.set(page.file, page);
  }
  return [...byFile.values()].filter((page) => {
    const file = statSync(join(folder, page.file), { throwIfNoEntry: false });
    return file !== undefined && file.size === page.fileBytes;
  });
}
