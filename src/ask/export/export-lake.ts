import { basename, join } from 'node:path';
import type { Config } from '../../base/config/config.js';
import { writeNew } from '../../base/config/owned.js';
import { checksumOf } from '../../core/lake/disk.js';
import { diskFullError, outOfMemoryError } from '../../core/lake/lake-error.js';
import type { Choice } from '../../core/lake/snapshots.js';
import { readCatalog } from '../../core/model/dictionary.js';
import { readLake, snapshotFolder } from '../query/open-lake.js';
import { assertOutside } from '../query/places.js';
import { type ExportedTable, writeTable } from './data-files.js';
import { planExport } from './export-plan.js';
import { type ExportFacts, pagesOf } from './pages.js';
import type { ExportRequest } from './request.js';
import { openTarget, SUMS, sumsText, writeZip } from './target.js';

/** An export that was made; its path is the folder or .zip. */
export interface Exported {
  readonly path: string;
  /** Id of the snapshot. */
  readonly snapshot: string;
  readonly tables: readonly (Pick<ExportedTable, 'name' | 'rows' | 'files'> & { readonly columns: number })[];
}

/**
 * Writes tables of a snapshot with their dictionary and checksums into a folder or a .zip to hand over, whole or not at
 * all. Throws QUERY_* if the request does not fit the lake or the path is taken, and LAKE_* if the disk is full.
 */
export async function exportLake(
  request: ExportRequest,
  config: Config,
  now: Date,
  options: { readonly choice?: Choice | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Exported> {
  // Throws before a folder is made.
  snapshotFolder(config);
  assertOutside(request.zip ? `${request.to}.zip` : request.to, config.output);
  const target = openTarget(request);
  const { signal, choice } = options;
  const named = [...request.tables, request.where ?? ''].join(' ');
  try {
    return await readLake(config, { named, choice, into: target.staging, signal }, async (lake) => {
      const { session, manifest } = lake;
      const tables: ExportedTable[] = [];
      const catalog = await readCatalog(session.connection, manifest);
      for (const plan of await planExport(request, catalog, session.connection)) {
        signal?.throwIfAborted();
        tables.push(await writeTable(session.connection, plan, request, manifest, target.staging));
      }
      const createdAt = now.toISOString();
      const files = await writePages({ request, manifest, createdAt, tables }, target.staging);
      signal?.throwIfAborted();
      const packed = join(target.staging, '.zip');
      const mtime = new Date(manifest.created_at);
      if (request.zip) await writeZip(packed, target.staging, files, basename(request.to), mtime);
      target.commit(request.zip ? packed : target.staging);
      return {
        path: target.path,
        snapshot: manifest.snapshot_id,
        tables: tables.map(({ name, rows, columns, files }) => {
          return { name, rows, columns: columns.length, files };
        }),
      };
    });
  } catch (error) {
    throw diskFullError(error, target.path) ?? outOfMemoryError(error, config.memory) ?? error;
  } finally {
    target.discard();
  }
}

/** Writes the pages that explain the data, and the checksums of all files. Returns the paths of all files. */
async function writePages(facts: ExportFacts, folder: string): Promise<string[]> {
  const pages = pagesOf(facts);
  const files = facts.tables.flatMap((table) => table.files);
  const summed: { readonly path: string; readonly sha256: string }[] = [...files];
  for (const [path, text] of Object.entries(pages)) {
    writeNew(join(folder, path), text);
    summed.push({ path, sha256: await checksumOf(join(folder, path)) });
  }
  writeNew(join(folder, SUMS), sumsText(summed));
  return [...Object.keys(pages), SUMS, ...files.map(({ path }) => path)];
}
