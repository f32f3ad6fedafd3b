import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** File with the checksums of all others, as `sha256sum -c` reads it. */
export const SUMS = 'SHA256SUMS';

/** The text of the sums. */
export function sumsText(files: readonly { readonly path: string; readonly sha256: string }[]): string {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`);
  return lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join('');
}

/** Paths that the sums of a folder list. */
export function summedFiles(folder: string): string[] {
  const lines = readFileSync(join(folder, SUMS), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => line.slice(66));
}
