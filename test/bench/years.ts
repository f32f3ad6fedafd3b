import { realpathSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { own } from '../../src/base/config/owned.js';
import { identifier, literal } from '../../src/base/duck/session.js';
import { checksumOf } from '../../src/core/lake/disk.js';
import { filesBelow, filesRelation } from '../../src/core/lake/files.js';
import { readManifest, writeManifest } from '../../src/core/lake/manifest.js';
import { lakeTables } from '../../src/core/lake/tables.js';

/** Distance of the ids of a copy from those of the copy before. */
const IDS = 1_000_000_000;

/** SQL of a column of a copy: keys of their own, times so many years earlier, archived. */
function copied({ name, type }: { readonly name: string; readonly type: string }, year: number): string {
  const column = identifier(name);
  if (name === 'archived') return `true as ${column}`;
  if (name === 'archived_by') return `'absence' as ${column}`;
  if (name === 'archived_at') return `cast('2026-11-01' as timestamptz) - interval ${year} year as ${column}`;
  if (/^(vehicle|lot|price|listing|report)_id$/.test(name))
    return type === 'VARCHAR'
      ? `${column} || '-${year}' as ${column}`
      : `${column} + ${year * IDS} as ${column}`;
  if (type.startsWith('TIMESTAMP')) return `${column} - interval ${year} year as ${column}`;
  return column;
}

/**
 * Adds the archive of so many years to the published snapshot of a lake: for each year a copy of all lots and vehicles with
 * their rows, archived, a year older than the last. Such a lake has the files that nights of these years would have left.
 */
export async function addYears(output: string, years: number): Promise<void> {
  const snapshot = realpathSync(join(output, 'lake', 'current'));
  const manifest = readManifest(snapshot);
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '4GB' });
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  const tables = { ...manifest.tables };
  const copiedTables = lakeTables()
    .filter(({ stream }) => stream === 'cars')
    .map(({ name }) => name);
  for (const name of [...copiedTables, 'sightings']) {
    const table = tables[name];
    if (table === undefined) continue;
    const { partitioned, columns } = table;
    const folder = join(snapshot, name);
    const from = filesRelation(snapshot, table.files, partitioned);
    for (let year = 1; year <= years; year++) {
      const inFile = columns.filter(
        ({ name: column }) => !partitioned || !/^(domain_id|month)$/.test(column),
      );
      const selected = inFile.map((column) => copied(column, year));
      const target = partitioned
        ? `to ${literal(folder)} (format parquet, compression zstd, partition_by (domain_id, month), overwrite_or_ignore true, filename_pattern ${literal(`year-${year}-{i}`)})`
        : `to ${literal(join(folder, `year-${year}.parquet`))} (format parquet, compression zstd)`;
      const month = `case when month like '____-__' then cast(cast(left(month, 4) as integer) - ${year} as varchar) || substr(month, 5) else month end as month`;
      const places = partitioned ? `, domain_id, ${month}` : '';
      const order = partitioned ? ' order by domain_id, month' : '';
      await connection.run(`copy (select ${selected.join(', ')}${places} from ${from}${order}) ${target}`);
    }
    const known = new Set(table.files.map(({ path }) => resolve(snapshot, path)));
    const added = filesBelow(folder).filter((path) => path.endsWith('.parquet') && !known.has(path));
    const counts = await connection.runAndReadAll(
      `select file_name, num_rows from parquet_file_metadata([${added.map((path) => literal(path)).join(', ')}])`,
    );
    const rowsOf = new Map(counts.getRows().map(([path, rows]) => [String(path), Number(rows)]));
    const files = [...table.files];
    for (const path of added) {
      const sha256 = await checksumOf(path);
      files.push({
        path: relative(snapshot, path),
        bytes: statSync(path).size,
        rows: rowsOf.get(path) ?? 0,
        sha256,
      });
    }
    const sum = (of: 'rows' | 'bytes'): number => files.reduce((total, file) => total + file[of], 0);
    tables[name] = { ...table, files, rows: sum('rows'), bytes: sum('bytes') };
  }
  own(snapshot);
  writeManifest(snapshot, { ...manifest, tables });
  connection.closeSync();
  instance.closeSync();
}
