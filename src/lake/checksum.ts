import { statSync } from 'node:fs';
import { join } from 'node:path';
import { checksumOf } from '../land/checksum.js';
import type { LakeFile, Manifest } from './manifest.js';

/**
 * Adds checksums to the files of a snapshot. A file that is linked to the one of the snapshot before has that one's, so
 * that only what was written is read.
 */
export async function withChecksums(
  snapshot: string,
  manifest: Manifest,
  base: { readonly folder: string; readonly manifest: Manifest } | undefined,
  signal?: AbortSignal,
): Promise<Manifest> {
  const known = new Map(
    tablesOf(base?.manifest).flatMap(({ files }) => files.map((file) => [file.path, file.sha256])),
  );
  const isLinked = (path: string): boolean =>
    inode(join(snapshot, path)) === inode(join(base?.folder ?? '', path));
  const add = async (file: LakeFile): Promise<LakeFile> => {
    signal?.throwIfAborted();
    const linked = known.get(file.path);
    const isKnown = linked !== undefined && isLinked(file.path);
    return { ...file, sha256: isKnown ? linked : await checksumOf(join(snapshot, file.path)) };
  };
  const addAll = async (tables: Manifest['tables']): Promise<Manifest['tables']> => {
    const added: [string, Manifest['tables'][string]][] = [];
    for (const [name, table] of Object.entries(tables)) {
      const files: LakeFile[] = [];
      for (const file of table.files) files.push(await add(file));
      added.push([name, { ...table, files }]);
    }
    return Object.fromEntries(added);
  };
  return { ...manifest, tables: await addAll(manifest.tables), marts: await addAll(manifest.marts) };
}

const tablesOf = (manifest: Manifest | undefined): Manifest['tables'][string][] =>
  Object.values({ ...manifest?.tables, ...manifest?.marts });

function inode(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
