import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checksumOf } from '../land/checksum.js';
import { FINGERPRINTS } from '../land/fingerprints.js';
import { WAREHOUSE } from './layout.js';
import type { LakeFile, Manifest } from './manifest.js';

/** One thing that is not as it should be. */
export interface Problem {
  /** Table or mart, data test, or `snapshot` for the folder itself. */
  readonly table: string;
  /** Path below the snapshot; null where it is about no one file. */
  readonly file: string | null;
  readonly check:
    | 'presence'
    | 'size'
    | 'checksum'
    | 'rows'
    | 'schema'
    | 'key'
    | 'readable'
    | 'warehouse'
    | 'test';
  readonly expected: string;
  readonly found: string;
  /** Set where a power cut leaves a file like this: cut, empty, or with zeros where its bytes were not written yet. */
  readonly torn?: true;
}

/** Tables and marts of a manifest by name. */
export const allTables = (manifest: Manifest): Manifest['tables'] => ({
  ...manifest.tables,
  ...manifest.marts,
});

/** Compares the files of a snapshot with its manifest by name, size and checksum. */
export async function verifyFiles(
  snapshot: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const problems = [...findStrays(snapshot, manifest), ...fingerprintProblems(snapshot, manifest)];
  for (const [table, { files, rows }] of Object.entries(allTables(manifest))) {
    for (const file of files) {
      signal.throwIfAborted();
      const problem = sizeProblem(snapshot, table, file) ?? (await checksumProblem(snapshot, table, file));
      if (problem !== undefined) problems.push(problem);
    }
    const sum = files.reduce((total, file) => total + file.rows, 0);
    if (sum !== rows)
      problems.push({
        table,
        file: 'manifest.json',
        check: 'rows',
        expected: `${rows}`,
        found: `${sum} in its files`,
      });
  }
  return problems;
}

function findStrays(snapshot: string, manifest: Manifest): Problem[] {
  const known = new Set([
    'manifest.json',
    WAREHOUSE,
    FINGERPRINTS,
    ...Object.values(allTables(manifest)).flatMap(({ files }) => files.map((file) => file.path)),
  ]);
  return readdirSync(snapshot, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(snapshot, join(entry.parentPath, entry.name)))
    .filter((file) => !known.has(file))
    .sort()
    .map((file) => ({
      table: file.split('/').length > 1 ? (file.split('/')[0] ?? '') : 'snapshot',
      file,
      check: 'presence',
      expected: 'no such file',
      found: 'a file that the manifest does not name',
    }));
}

function fingerprintProblems(snapshot: string, { fingerprints }: Manifest): Problem[] {
  const expected = fingerprints === null ? 0 : fingerprints.records * 16;
  const found = statSync(join(snapshot, FINGERPRINTS), { throwIfNoEntry: false })?.size ?? 0;
  const problem = { table: 'snapshot', file: FINGERPRINTS, check: 'size' } as const;
  const told = { ...problem, expected: `${expected} bytes`, found: `${found} bytes` };
  return found === expected ? [] : [{ ...told, ...tornIf(found < expected) }];
}

/** Files of a manifest that are not there, or not of their size. */
export function findMissing(snapshot: string, manifest: Manifest): Problem[] {
  return Object.entries(allTables(manifest)).flatMap(([table, { files }]) =>
    files.flatMap((file) => sizeProblem(snapshot, table, file) ?? []),
  );
}

function sizeProblem(snapshot: string, table: string, file: LakeFile): Problem | undefined {
  const found = statSync(join(snapshot, file.path), { throwIfNoEntry: false });
  if (found?.size === file.bytes) return undefined;
  const check = found === undefined ? 'presence' : 'size';
  const told = found === undefined ? 'no file' : `${found.size} bytes`;
  const isCut = found !== undefined && found.size < file.bytes;
  return { table, file: file.path, check, expected: `${file.bytes} bytes`, found: told, ...tornIf(isCut) };
}

async function checksumProblem(
  snapshot: string,
  table: string,
  file: LakeFile,
): Promise<Problem | undefined> {
  if (file.sha256 === undefined) return undefined;
  const found = await checksumOf(join(snapshot, file.path));
  if (found === file.sha256) return undefined;
  const torn = tornState(join(snapshot, file.path));
  const told = torn ?? found;
  return {
    table,
    file: file.path,
    check: 'checksum',
    expected: file.sha256,
    found: told,
    ...tornIf(torn !== undefined),
  };
}

/** Marks a problem that a power cut leaves. */
export const tornIf = (isTorn: boolean): Pick<Problem, 'torn'> => (isTorn ? { torn: true } : {});

/** What file systems allot at once; one of these that was not written in time reads as zeros. */
const BLOCK = 4096;

/** How a power cut left a file: empty, or with a block of zeros; undefined where it does not look like that. */
export function tornState(path: string): string | undefined {
  const { size } = statSync(path);
  if (size === 0) return 'an empty file';
  const block = Buffer.alloc(BLOCK);
  const file = openSync(path, 'r');
  try {
    for (let start = 0; start < size; start += BLOCK) {
      const read = readSync(file, block, 0, BLOCK, start);
      if (block.subarray(0, read).every((byte) => byte === 0)) return `zeros from byte ${start} on`;
    }
  } finally {
    closeSync(file);
  }
  return undefined;
}
