import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../../../src/base/config/package-root.js';
import { literal } from '../../../src/base/duck/session.js';
import type { ManifestTable } from '../../../src/core/lake/manifest.js';
import { bareDuckDb, temporaryFolder } from '../../pipelines/support.js';
import { engine } from './engines.js';
import type { S3Server } from './s3.js';
import { type SparkCluster, sparkOptions, sparkProgram } from './spark.js';

/** Programs in test/engines/readers. Each reads Iceberg tables with another engine. */
export const READERS = ['pyiceberg', 'polars', 'duckdb', 'clickhouse', 'spark'] as const;

type Reader = (typeof READERS)[number] | 'catalog';

/** An Iceberg table to read: its current state, or its state at a snapshot or a time. */
export interface Wanted {
  readonly name: string;
  /** URI of the folder that has the folder `metadata`. */
  readonly location: string;
  /** Iceberg's id of a snapshot. */
  readonly snapshot?: string;
  /** Milliseconds since 1970. */
  readonly time?: number;
  /** Condition in SQL. */
  readonly filter?: string;
}

type Figure = string | number | null;

/** What a reader found in a table. describe.py explains the figures of a column. */
export interface Described {
  readonly name: string;
  readonly rows: number;
  readonly columns: Readonly<Record<string, { readonly nulls: number; readonly figures: readonly Figure[] }>>;
  /** Ids of the snapshots that a catalog has. */
  readonly snapshots?: readonly number[];
  /** Files that pyiceberg planned to read. */
  readonly files?: number;
  /** Files that Spark read and files that it skipped, if a filter was given. */
  readonly read?: number;
  readonly left_out?: number;
}

/** Object storage and cluster that readers use, if any. */
export interface Place {
  readonly s3?: S3Server;
  readonly cluster?: SparkCluster;
}

/** Reads tables with one engine. Throws with its stderr if it fails. */
export function readTables(reader: Reader, wanted: readonly Wanted[], place: Place = {}): Described[] {
  const { s3, cluster } = place;
  const folder = temporaryFolder();
  const list = join(folder.path, 'wanted.json');
  writeFileSync(list, JSON.stringify(wanted));
  const program = join(packageRoot, 'test', 'engines', 'readers', `read_${reader}.py`);
  const [command, options] =
    reader === 'spark'
      ? [sparkProgram('spark-submit'), sparkOptions(cluster, s3)]
      : [engine('python', 'bin', 'python'), []];
  const { status, stdout, stderr } = spawnSync(command, [...options, program, list], {
    env: {
      ...process.env,
      ...s3?.env,
      ...cluster?.env,
      PYTHONDONTWRITEBYTECODE: '1',
      PYSPARK_PYTHON: engine('python', 'bin', 'python'),
      ...(s3 === undefined ? {} : { LOTLAKE_TEST_ENDPOINT: s3.endpoint }),
    },
    maxBuffer: 1 << 28,
  });
  folder.remove();
  // Spark prints Python's error messages on stdout.
  if (status !== 0) throw new Error(`${reader} failed: ${stdout}\n${stderr}`);
  const lines = String(stdout).trim().split('\n');
  return lines.map((line): Described => JSON.parse(line));
}

/**
 * What DuckDB finds in the Parquet files of a table of a snapshot, as the same figures.
 * @param nullLists false reads a null list as an empty list, as ClickHouse does, which has no null lists
 */
export async function describeFiles(
  snapshot: string,
  name: string,
  table: ManifestTable,
  { filter = 'true', nullLists = true }: { readonly filter?: string; readonly nullLists?: boolean } = {},
): Promise<Described> {
  const files = table.files.map(({ path }) => literal(join(snapshot, path)));
  const types = table.partitioned ? ", hive_types = {'domain_id': bigint, 'month': varchar}" : '';
  const read = `read_parquet([${files}], hive_partitioning = ${table.partitioned}${types})`;
  // The manifest does not list the month, which is only in the path.
  const inPath = table.partitioned ? [{ name: 'month', type: 'VARCHAR' }] : [];
  const columns = [...table.columns, ...inPath].map(({ name: column, type }) => {
    const value = nullLists || !type.endsWith('[]') ? `"${column}"` : `coalesce("${column}", [])`;
    return `'${column}': {'nulls': count(*) - count(${value}), 'figures': [${figuresOf(value, type)}]}`;
  });
  const duck = await bareDuckDb();
  const select = `select {'rows': count(*), 'columns': {${columns.join(', ')}}}::json as found`;
  const [row] = await duck.query(`${select} from ${read} where ${filter}`);
  duck.close();
  return { name, ...JSON.parse(String(row?.found)) };
}

/** Figures of a column as JSON values; describe.py lists them by type. */
function figuresOf(column: string, type: string): string {
  if (type.endsWith('[]')) return `to_json(sum(len(${column}))::varchar)`;
  if (type === 'DOUBLE') return `to_json(sum(${column}))`;
  if (/INT$|^INTEGER$|^BOOLEAN$/.test(type)) return `to_json(sum(${column}::hugeint)::varchar)`;
  const value = type.startsWith('TIMESTAMP') ? `epoch_us(${column})` : column;
  return `to_json(min(${value})::varchar), to_json(max(${value})::varchar)`;
}

/**
 * Compares what an engine read with what DuckDB finds in the files. Sums of doubles agree to 1e-9, all other figures
 * exactly.
 */
export function expectSame(read: Described | undefined, files: Described): void {
  expect(read?.rows, files.name).toBe(files.rows);
  expect(Object.keys(read?.columns ?? {}).sort(), files.name).toEqual(Object.keys(files.columns).sort());
  for (const [column, { nulls, figures }] of Object.entries(files.columns)) {
    const found = read?.columns[column];
    expect(found?.nulls, `nulls of ${files.name}.${column}`).toBe(nulls);
    expect(found?.figures.length, `${files.name}.${column}`).toBe(figures.length);
    for (const [i, figure] of figures.entries())
      expectFigure(found?.figures[i], figure, `${files.name}.${column}`);
  }
}

/** A sum of doubles depends on the order in which an engine adds them. */
function expectFigure(read: Figure | undefined, figure: Figure, what: string): void {
  if (typeof figure === 'number' && typeof read === 'number')
    expect(Math.abs(read - figure), `${what}: ${read} and ${figure}`).toBeLessThanOrEqual(
      1e-9 * Math.abs(figure),
    );
  else expect(read, what).toBe(figure);
}
