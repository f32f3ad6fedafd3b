import { statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { isLink, linksBelow, realPlace } from '../../base/config/owned.js';
import { filesBelow } from './files.js';
import { FINGERPRINTS } from './ids.js';
import { unsoundError } from './lake-error.js';
import { WAREHOUSE } from './layout.js';
import { allFiles, allTables, type LakeFile, type Manifest } from './manifest.js';

type Check = 'presence' | 'size' | 'checksum' | 'rows' | 'schema' | 'key' | 'readable' | 'warehouse' | 'test';

/** One difference between a snapshot and its manifest, or a failed test. */
export interface Problem {
  /** Table or mart, data test, or `snapshot` for the folder itself. */
  readonly table: string;
  /** Path below the snapshot; null if the problem is not about one file. */
  readonly file: string | null;
  readonly check: Check;
  readonly expected: string;
  readonly found: string;
  /** Set if the file looks as after a power cut: cut, empty, or with a block of zeros. */
  readonly torn?: true;
}

/** The mark of a file that looks as after a power cut. */
export const tornIf = (isTorn: boolean): Pick<Problem, 'torn'> => (isTorn ? { torn: true } : {});

/** Path, below a snapshot, of a file of Iceberg metadata. It is made of the data files and can be made again. */
const METADATA = /^[^/]+\/metadata\/[^/]+\.(avro|metadata\.json|text)$/;

/** Files of a snapshot that its manifest does not name. No view reads them. */
export function findStrays(snapshot: string, manifest: Manifest): Problem[] {
  const files = allFiles(manifest).map(({ path }) => path);
  const known = new Set(['manifest.json', WAREHOUSE, FINGERPRINTS, ...files]);
  return filesBelow(snapshot)
    .map((path) => relative(snapshot, path))
    .filter((file) => !known.has(file) && !METADATA.test(file) && !isLink(join(snapshot, file)))
    .map((file) => ({
      ...placeOf(file),
      check: 'presence',
      expected: 'no such file',
      found: 'a file that the manifest does not name',
    }));
}

/** A path below a snapshot, with its table. */
const placeOf = (file: string): Pick<Problem, 'table' | 'file'> => ({
  table: file.includes('/') ? (file.split('/')[0] ?? '') : 'snapshot',
  file,
});

/** Links in a snapshot, and files of its manifest that are missing or have another size. */
export function findMissing(snapshot: string, manifest: Manifest): Problem[] {
  const sizes = Object.entries(allTables(manifest)).flatMap(([table, { files }]) =>
    files.flatMap((file) => sizeProblem(snapshot, table, file) ?? []),
  );
  return [...linkProblems(snapshot), ...sizes];
}

/** Links in a snapshot. lotlake makes none there: what is behind one is not of the lake. */
export const linkProblems = (snapshot: string): Problem[] =>
  linksBelow(snapshot).map((path) => ({
    ...placeOf(relative(snapshot, path)),
    check: 'presence',
    expected: 'no link',
    found: `a link to ${realPlace(path)}`,
  }));

/** What is wrong with the presence or the size of a file; undefined if nothing is. */
export function sizeProblem(snapshot: string, table: string, file: LakeFile): Problem | undefined {
  const size = statSync(join(snapshot, file.path), { throwIfNoEntry: false })?.size;
  if (size === file.bytes) return undefined;
  const check = size === undefined ? 'presence' : 'size';
  const found = size === undefined ? 'no file' : `${size} bytes`;
  const torn = tornIf(size !== undefined && size < file.bytes);
  return { table, file: file.path, check, expected: `${file.bytes} bytes`, found, ...torn };
}

/** A problem in words, with the file that it is about. */
export const sayProblem = ({ table, file, expected, found }: Problem): string =>
  `table ${table}: ${file ?? table}: ${found} instead of ${expected}`;

/**
 * Throws LAKE_UNSOUND if a file of these tables or marts is missing or has another size than the manifest says. A query over
 * the others would give an answer that nobody can see to be short.
 */
export function assertPresent(snapshot: string, manifest: Manifest, names: ReadonlySet<string>): void {
  const problems = Object.entries(allTables(manifest)).flatMap(([table, { files }]) =>
    names.has(table) ? files.flatMap((file) => sizeProblem(snapshot, table, file) ?? []) : [],
  );
  const [first, ...more] = problems;
  if (first === undefined) return;
  const others = more.length === 0 ? '' : `, and ${more.length} more of its files`;
  throw unsoundError(
    `snapshot ${basename(snapshot)} is damaged in ${sayProblem(first)}${others}`,
    'nothing was read; lotlake verify names all that is wrong, and lotlake run rebuild makes the lake again from landing and from what can be read of it',
  );
}

/** Throws LAKE_UNSOUND if a folder of these tables holds a Parquet file that the manifest does not name. */
export function assertUnmixed(snapshot: string, manifest: Manifest, names: ReadonlySet<string>): void {
  const stray = findStrays(snapshot, manifest).find(
    ({ table, file }) => names.has(table) && file?.endsWith('.parquet') === true,
  );
  if (stray === undefined) return;
  throw unsoundError(
    `snapshot ${basename(snapshot)} holds ${stray.file}, which is none of its files`,
    'nothing was read; move this file out of the snapshot',
  );
}
