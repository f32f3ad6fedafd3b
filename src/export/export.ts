import { rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../config/config.js';
import { LotlakeError } from '../config/lotlake-error.js';
import { version } from '../config/package-root.js';
import { dictionary } from '../docs/dictionary.js';
import { diskFullError, outOfMemoryError } from '../lake/lake-error.js';
import type { Choice } from '../lake/snapshots.js';
import { checksumOf } from '../land/files.js';
import { type OpenLake, publishedSnapshot, readLake } from '../query/open-lake.js';
import { assertOutside } from '../query/places.js';
import { sumOf } from '../query/printable.js';
import { queryError } from '../query/read-only.js';
import { type DataFile, nameParts, type WrittenPart, writeArrow, writeCsv } from './data-files.js';
import { descriptor } from './descriptor.js';
import { dictionaryCsv, dictionaryPage } from './dictionary-pages.js';
import { writeParquet } from './parquet.js';
import { type ExportedTable, type ExportFacts, planExport, type TablePlan } from './plan.js';
import { readme } from './readme.js';
import type { ExportRequest } from './request.js';
import { openTarget, SUMS, sumsText, writeZip } from './target.js';

/** An export that was made. */
export interface Exported {
  /** The folder or .zip. */
  readonly path: string;
  readonly snapshot: string;
  readonly tables: readonly {
    readonly name: string;
    readonly rows: number;
    readonly columns: number;
    readonly files: readonly DataFile[];
  }[];
}

/**
 * Writes tables of a snapshot with their dictionary and checksums into a folder or a .zip to hand over, whole or not at
 * all. Throws ShareError where the request does not fit the lake or something is in the way, LakeError where the disk is
 * full.
 */
export async function exportLake(
  request: ExportRequest,
  config: Config,
  now: Date,
  options: { readonly choice?: Choice | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Exported> {
  // Before a folder is made for it.
  publishedSnapshot(config);
  assertOutside(request.zip ? `${request.to}.zip` : request.to, config.output);
  const target = openTarget(request);
  const { signal, choice } = options;
  const named = [...request.tables, request.where ?? ''].join(' ');
  try {
    return await readLake(config, { named, choice, into: target.staging, signal }, async (lake) => {
      const facts = { request, manifest: lake.manifest, createdAt: now.toISOString(), version };
      const tables = await writeTables(facts, lake, target.staging, signal);
      const files = await writePages(facts, tables, target.staging);
      signal?.throwIfAborted();
      const packed = join(target.staging, '.zip');
      const mtime = new Date(lake.manifest.created_at);
      if (request.zip) await writeZip(packed, target.staging, files, basename(request.to), mtime);
      target.commit(request.zip ? packed : target.staging);
      return exported(target.path, facts, tables);
    });
  } catch (error) {
    throw diskFullError(error, target.path) ?? outOfMemoryError(error, config.memory) ?? error;
  } finally {
    target.discard();
  }
}

async function writeTables(
  facts: ExportFacts,
  lake: OpenLake,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<ExportedTable[]> {
  const { request } = facts;
  const { connection } = lake.session;
  const plans = await planExport(request, dictionary(lake.manifest), connection);
  const tables: ExportedTable[] = [];
  for (const plan of plans) {
    signal?.throwIfAborted();
    const parts = join(folder, 'data', `.${plan.name}`);
    const written = await writeTable(connection, plan, parts, facts);
    const files = await nameParts(folder, plan.name, request.format, written);
    rmdirSync(parts);
    tables.push({ plan, files });
  }
  return tables;
}

async function writeTable(
  connection: DuckDBConnection,
  plan: TablePlan,
  folder: string,
  { request, manifest }: ExportFacts,
): Promise<WrittenPart[]> {
  const stored = manifest.tables[plan.name] ?? manifest.marts[plan.name];
  const rowBytes = (stored?.bytes ?? 0) / Math.max(stored?.rows ?? 0, 1);
  try {
    if (request.format === 'csv') return await writeCsv(connection, plan.sql, folder, request);
    if (request.format === 'arrow') return await writeArrow(connection, plan.sql, folder, request);
    return await writeParquet(connection, plan, folder, request, rowBytes, manifest.snapshot_id);
  } catch (error) {
    throw error instanceof LotlakeError ? error : queryError(error);
  }
}

/** Writes what explains the data, and the sums of all files; returns their paths. */
async function writePages(
  facts: ExportFacts,
  tables: readonly ExportedTable[],
  folder: string,
): Promise<string[]> {
  const plans = tables.map(({ plan }) => plan);
  const pages = {
    'README.md': readme(facts, tables),
    'datapackage.json': `${JSON.stringify(descriptor(facts, tables), null, 2)}\n`,
    'dictionary.csv': dictionaryCsv(plans, facts.request.bom),
    'dictionary.md': dictionaryPage(plans),
  };
  const summed: { path: string; sha256: string }[] = tables.flatMap(({ files }) => files);
  for (const [path, text] of Object.entries(pages)) {
    writeFileSync(join(folder, path), text);
    summed.push({ path, sha256: await checksumOf(join(folder, path)) });
  }
  writeFileSync(join(folder, SUMS), sumsText(summed));
  return [...Object.keys(pages), SUMS, ...tables.flatMap(({ files }) => files.map(({ path }) => path))];
}

function exported(path: string, facts: ExportFacts, tables: readonly ExportedTable[]): Exported {
  return {
    path,
    snapshot: facts.manifest.snapshot_id,
    tables: tables.map(({ plan, files }) => ({
      name: plan.name,
      rows: sumOf(files, ({ rows }) => rows),
      columns: plan.columns.length,
      files,
    })),
  };
}
