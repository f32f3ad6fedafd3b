import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../../base/config/lotlake-error.js';
import { identifier, literal, rows, scalar } from '../../base/duck/session.js';
import { checksumOf } from './disk.js';
import { FINGERPRINTS } from './ids.js';
import { WAREHOUSE } from './layout.js';
import { allTables, type LakeFile, type Manifest } from './manifest.js';
import { findStrays, linkProblems, type Problem, sizeProblem, tornIf } from './presence.js';
import { FOLDER, namedFolders } from './views.js';

/** Compares the files of a snapshot with its manifest by name, size and checksum. */
export async function verifyFiles(
  snapshot: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const problems = [
    ...linkProblems(snapshot),
    ...findStrays(snapshot, manifest),
    ...fingerprintProblems(snapshot, manifest),
  ];
  for (const [table, { files, rows }] of Object.entries(allTables(manifest))) {
    for (const file of files) {
      signal.throwIfAborted();
      const problem = sizeProblem(snapshot, table, file) ?? (await checksumProblem(snapshot, table, file));
      if (problem !== undefined) problems.push(problem);
    }
    const sum = files.reduce((total, file) => total + file.rows, 0);
    const found = `${sum} in its files`;
    if (sum !== rows)
      problems.push({ table, file: 'manifest.json', check: 'rows', expected: `${rows}`, found });
  }
  return problems;
}

function fingerprintProblems(snapshot: string, { fingerprints }: Manifest): Problem[] {
  const expected = fingerprints === null ? 0 : fingerprints.records * 16;
  const found = statSync(join(snapshot, FINGERPRINTS), { throwIfNoEntry: false })?.size ?? 0;
  const problem = { table: 'snapshot', file: FINGERPRINTS, check: 'size' } as const;
  const sizes = { expected: `${expected} bytes`, found: `${found} bytes` };
  return found === expected ? [] : [{ ...problem, ...sizes, ...tornIf(found < expected) }];
}

async function checksumProblem(snapshot: string, table: string, { path, sha256 }: LakeFile) {
  if (sha256 === undefined) return undefined;
  const checksum = await checksumOf(join(snapshot, path));
  if (checksum === sha256) return undefined;
  const torn = tornState(join(snapshot, path));
  const problem = { table, file: path, check: 'checksum' } as const;
  return { ...problem, expected: sha256, found: torn ?? checksum, ...tornIf(torn !== undefined) };
}

/** Block size of file systems. A block that was not written before a power cut reads as zeros. */
const BLOCK = 4096;

/** How a power cut left a file: empty, or with a block of zeros; undefined if the file does not look like that. */
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

/**
 * Reads every view and table of a snapshot's `warehouse.duckdb` and compares the rows with the manifest. Views that name
 * another folder are a warning: the lake was moved, and no run has been since. They are read in this folder all the same.
 */
export async function verifyWarehouse(
  connection: DuckDBConnection,
  snapshot: string,
  manifest: Manifest,
): Promise<{ readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }> {
  const path = join(snapshot, WAREHOUSE);
  if (!existsSync(path))
    return { problems: [warehouseProblem('snapshot', 'a database', 'no file')], warnings: [] };
  try {
    await connection.run(`attach ${literal(path)} as warehouse (read_only)`);
  } catch (error) {
    const { size } = statSync(path);
    const torn = tornState(path) ?? (isCut(size) ? `a file that ends at byte ${size}` : undefined);
    const found = warehouseProblem('snapshot', 'a database that opens', torn ?? messageOf(error));
    return { problems: [{ ...found, ...tornIf(torn !== undefined) }], warnings: [] };
  }
  try {
    const strange = await namedFolders(connection, 'warehouse', snapshot);
    const help = `set variable ${FOLDER} = ${literal(snapshot)}`;
    const warnings = strange.map((folder) =>
      warehouseProblem('snapshot', `views on ${snapshot}`, `views on ${folder}; ${help}`),
    );
    await connection.run(`set variable ${FOLDER} = ${literal(snapshot)}`);
    const problems: Problem[] = [];
    for (const [name, table] of Object.entries(allTables(manifest))) {
      const found = await countIn(connection, name);
      if (found !== `${table.rows} rows`) problems.push(warehouseProblem(name, `${table.rows} rows`, found));
    }
    for (const name of Object.keys(manifest.views)) {
      const found = await bindingOf(connection, name);
      if (found !== undefined) problems.push(warehouseProblem(name, 'a view that can be asked', found));
    }
    return { problems, warnings };
  } finally {
    await connection.run(`reset variable ${FOLDER}`);
    await connection.run('detach warehouse');
  }
}

/** Whether a database of this size was cut: a whole one is three headers of 4 KiB and blocks of 256 KiB. */
const isCut = (size: number): boolean => (size - 3 * 4096) % (1 << 18) !== 0;

function warehouseProblem(table: string, expected: string, found: string): Problem {
  return { table, file: WAREHOUSE, check: 'warehouse', expected, found };
}

/** Why a view cannot be asked; undefined if it can. */
async function bindingOf(connection: DuckDBConnection, name: string): Promise<string | undefined> {
  try {
    await rows(connection, `describe warehouse.${identifier(name)}`);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function countIn(connection: DuckDBConnection, name: string): Promise<string> {
  try {
    return `${await scalar(connection, `select count(*) from warehouse.${identifier(name)}`)} rows`;
  } catch (error) {
    return messageOf(error);
  }
}
