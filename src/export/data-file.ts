import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checksumOf } from '../land/files.js';

/** A data file of an export. */
export interface DataFile {
  /** Path below the folder of the export, with slashes. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

/** A file that a writer has closed. */
export interface WrittenPart {
  /** Absolute path. */
  readonly path: string;
  readonly rows: number;
}

/**
 * Gives the parts of a table their names, `data/lots.csv` where there is one and `data/lots-0001.csv` and so on where
 * there are more, and takes their sizes and checksums.
 * @param folder of the export, which has a folder `data`
 */
export async function nameParts(
  folder: string,
  table: string,
  extension: string,
  parts: readonly WrittenPart[],
): Promise<DataFile[]> {
  const named: DataFile[] = [];
  for (const [i, part] of parts.entries()) {
    const number = parts.length === 1 ? '' : `-${String(i + 1).padStart(4, '0')}`;
    const path = `data/${table}${number}.${extension}`;
    const absolute = join(folder, path);
    renameSync(part.path, absolute);
    const sha256 = await checksumOf(absolute);
    named.push({ path, rows: part.rows, bytes: statSync(absolute).size, sha256 });
  }
  return named;
}
