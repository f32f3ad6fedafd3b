import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type Exported, exportLake } from '../../src/ask/export/export-lake.js';
import { type ExportInput, exportRequest } from '../../src/ask/export/request.js';
import { type Config, readConfig } from '../../src/base/config/config.js';
import { literal } from '../../src/base/duck/session.js';
import { giveIds } from '../../src/core/lake/field-ids.js';
import { type ManifestTable, writeManifest } from '../../src/core/lake/manifest.js';
import { temporaryFolder } from '../pipelines/support.js';

/** A hand-written lake. */
export interface HandMade {
  readonly config: Config;
  /** Folder that contains `output/`, for exports beside it. */
  readonly folder: string;
  remove(): void;
}

/** Time at which the snapshot was published. */
export const PUBLISHED = '2026-11-20T00:00:09.162Z';

export const SNAPSHOT = '20261120T000000Z-bbaa00';

/**
 * Publishes a snapshot whose tables and marts have the rows of queries, by name.
 * @param below path from the temporary folder to that of `output/`
 */
export async function handMadeLake(
  tables: Readonly<Record<string, string>>,
  marts: Readonly<Record<string, string>> = {},
  below = '',
): Promise<HandMade> {
  const folder = temporaryFolder();
  const output = join(folder.path, below, 'output');
  const snapshot = join(output, 'lake', 'snapshots', SNAPSHOT);
  mkdirSync(snapshot, { recursive: true });
  const write = async (all: Readonly<Record<string, string>>): Promise<Record<string, ManifestTable>> => {
    const entries: [string, ManifestTable][] = [];
    for (const [name, sql] of Object.entries(all))
      entries.push([name, await writeTable(snapshot, name, sql)]);
    return Object.fromEntries(entries);
  };
  writeManifest(snapshot, {
    snapshot_id: SNAPSHOT,
    schema_version: 4,
    lotlake_version: '0',
    origin: null,
    run_id: SNAPSHOT,
    sequence: 1,
    pipeline: 'nightly',
    created_at: PUBLISHED,
    last_pass_at: {},
    pass_ids: [],
    fingerprints: null,
    tables: await write(tables),
    marts: await write(marts),
    views: {},
  });
  symlinkSync(join('snapshots', SNAPSHOT), join(output, 'lake', 'current'));
  const config = readConfig({ output, memory: '700MB', threads: 2 }, { env: {}, cwd: output });
  return { config, folder: folder.path, remove: folder.remove };
}

async function writeTable(snapshot: string, name: string, sql: string): Promise<ManifestTable> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  const described = await connection.runAndReadAll(`describe ${sql}`);
  const columns = described.getRowObjectsJson().map((row) => ({
    name: String(row.column_name),
    type: String(row.column_type),
  }));
  const partitioned = columns.some((column) => column.name === 'month' && column.type === 'VARCHAR');
  mkdirSync(join(snapshot, name));
  const [to, by] = partitioned
    ? [join(snapshot, name), ', partition_by (domain_id, month), overwrite_or_ignore']
    : [join(snapshot, name, 'part.parquet'), ''];
  await connection.run(`copy (${sql}) to ${literal(to)} (format parquet, compression zstd${by})`);
  const counted = await connection.runAndReadAll(`select count(*) as n from (${sql})`);
  connection.closeSync();
  instance.closeSync();
  const files = filesBelow(join(snapshot, name)).map((path) => ({
    path: `${name}/${path}`,
    bytes: statSync(join(snapshot, name, path)).size,
    rows: 0,
  }));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    ...giveIds(columns, undefined, partitioned),
    key: [],
    partitioned,
    rows: Number(counted.getRowsJson()[0]?.[0]),
    bytes,
    files,
  };
}

/** Paths of all files below a folder, in order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Exports from a lake into a folder beside it. */
export function exportFrom(lake: HandMade, input: ExportInput, signal?: AbortSignal): Promise<Exported> {
  const request = exportRequest({ ...input, to: resolve(lake.folder, input.to) });
  return exportLake(request, lake.config, new Date('2026-11-21T06:00:00Z'), { signal });
}

let exports = 0;

/** Exports into a new folder. Returns its path, the printed text, and the paths of its files. */
export async function exportTo(
  lake: HandMade,
  input: Omit<ExportInput, 'to'>,
): Promise<{ readonly made: Exported; readonly path: string; at(...names: readonly string[]): string }> {
  const made = await exportFrom(lake, { ...input, to: `export-${exports++}` });
  return { made, path: made.path, at: (...names) => join(made.path, ...names) };
}

/** Lots with values that are hard for some format, in two sources and three months. */
export const LOTS = `
  select
    cast(9007199254740000 + i as bigint) as lot_id,
    case when i % 3 > 0 then cast(i * 7 as bigint) end as vehicle_id,
    [
      'plain', '', 'a "quoted", text', 'two' || chr(10) || 'lines', '=1+1', '@sum(a1)', '-12.5', '+49 30', '''=1', 'Ünï 車',
    ][i % 10 + 1] as title_name,
    case when i % 4 > 0 then cast(i * 12.25 - 100 as double) end as bid,
    case when i % 5 > 0 then i % 2 = 0 end as keys_available,
    case when i % 6 > 0 then timestamptz '2026-09-30 23:59:58.123456+00' + interval (i) day end as sale_date,
    case when i % 7 > 0 then ['tag ' || i, null, 'a, "b"'] end as tags,
    cast(null as varchar) as extra,
    cast(case when i % 2 = 0 then 1 else 3 end as bigint) as domain_id,
    '2026-' || lpad(cast(9 + i % 3 as varchar), 2, '0') as month
  from range(120) t(i)`;

/** Sales with the column types of that mart. */
export const SALES = `
  select
    cast(i as bigint) as lot_id,
    cast(1 as bigint) as attempt,
    timestamptz '2026-11-01 14:00:00+00' as sale_date,
    date '2026-11-01' as sale_month,
    case when i % 2 = 0 then cast(1000.5 + i as double) end as price,
    i % 2 = 0 as is_trusted,
    case when i % 2 = 0 then 'trusted' else 'not_sold' end as trust_reason
  from range(50) t(i)`;
