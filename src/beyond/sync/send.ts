import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Config } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { remove } from '../../base/config/owned.js';
import { identifier, literal } from '../../base/duck/session.js';
import { filesRelation } from '../../core/lake/files.js';
import { allTables, type LakeFile, type Manifest } from '../../core/lake/manifest.js';
import type { Column } from '../../core/lake/schema.js';
import { asCsv, copyOptions } from './pg-columns.js';
import { columnsOf, listOf, type Target } from './target.js';

/** A snapshot of the lake, and the scratch folder for what is sent. */
export interface Source {
  readonly connection: DuckDBConnection;
  readonly config: Config;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly temp: string;
}

/** Makes the temporary table for rows that are sent. */
export async function beginRows(client: Client, target: Target, before = ''): Promise<void> {
  await client.query('drop table if exists lotlake_rows');
  await client.query(`create temporary table lotlake_rows (${before}${columnsOf(target)}) on commit drop`);
  killPoint('sync.rows-begun');
}

/** Condition that a row is not deleted for having left. */
export const present = ({ mark, deletesGone }: Target): string =>
  deletesGone ? ` and coalesce(${identifier(mark ?? '')}::text, 'false') = 'false'` : '';

/** Bytes of Parquet that are sent at once; as CSV they take some ten times as much of the scratch folder, twice. */
const BYTES_AT_ONCE = 64e6;

/** Sends every row of a table of the snapshot. While one part is sent, DuckDB writes the next. Returns how many rows it sent. */
export async function sendAll(client: Client, source: Source, target: Target, into: string): Promise<number> {
  const { folder, manifest } = source;
  const table = allTables(manifest)[target.name];
  if (table === undefined) throw new TypeError(`no table ${target.name}`);
  const where = target.deletesGone ? ` where true${present(target)}` : '';
  const parts = inParts(table.files);
  const write = (i: number): Promise<string> | undefined => {
    const files = parts[i];
    if (files === undefined) return undefined;
    const relation = `(select * from ${filesRelation(folder, files, table.partitioned)}${where})`;
    return writeRows(source, target.columns, relation, i);
  };
  let sent = 0;
  let next = write(0);
  try {
    for (let i = 0; next !== undefined; i++) {
      const path = await next;
      next = write(i + 1);
      sent += await copyRows(client, path, target.columns, into);
    }
  } finally {
    // The session is closed when this returns.
    await next?.catch(() => undefined);
  }
  return sent;
}

function inParts(files: readonly LakeFile[]): readonly (readonly LakeFile[])[] {
  const parts: LakeFile[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const file of files) {
    if (bytes + file.bytes > BYTES_AT_ONCE) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(file);
    bytes += file.bytes;
  }
  return parts;
}

/** Sends the rows of a relation. Returns how many. */
export async function sendRows(
  client: Client,
  source: Source,
  columns: readonly Column[],
  relation: string,
  into: string,
): Promise<number> {
  return copyRows(client, await writeRows(source, columns, relation), columns, into);
}

/** Writes the rows of a relation as CSV. Returns the path of the file. */
async function writeRows(
  { connection, temp }: Source,
  columns: readonly Column[],
  relation: string,
  part = 0,
): Promise<string> {
  const path = join(temp, `rows-${part}.csv`);
  await connection.run(`copy (${asCsv(columns, relation)}) to ${literal(path)} (${copyOptions(columns)})`);
  killPoint('sync.rows-written');
  return path;
}

/** Sends the rows of a CSV file by COPY, and removes the file. Returns how many they were. */
async function copyRows(
  client: Client,
  path: string,
  columns: readonly Column[],
  into: string,
): Promise<number> {
  const list = listOf(columns.map(({ name }) => name));
  const stream = client.query(copyFrom(`copy ${into} (${list}) from stdin (format csv)`));
  await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), stream);
  remove(path);
  killPoint('sync.rows-sent');
  return stream.rowCount;
}
