import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { append, writeNew } from '../../base/config/owned.js';
import { sumOf } from '../../base/config/printable.js';
import { identifier, literal } from '../../base/duck/session.js';
import { checksumOf } from '../../core/lake/disk.js';
import { diskFullError, outOfMemoryError } from '../../core/lake/lake-error.js';
import { metadataOf } from '../../core/lake/parquet.js';
import { withDatabase } from '../query/open-lake.js';
import { assertOutside } from '../query/places.js';
import { render } from '../query/render.js';
import { openResult } from '../query/result.js';
import { jsonValue } from '../query/result-values.js';
import { CHANGE, type Changes, type ChangesRequest, findChanges, type TableChanges } from './changes.js';
import { openTarget, SUMS, sumsText } from './target.js';

/** Formats of a feed of changes. */
export const changesFormats = ['parquet', 'ndjson', 'csv'] as const;

type ChangesFormat = (typeof changesFormats)[number];

/** A changed row, as NDJSON and the library give it. */
export interface Change {
  readonly table: string;
  readonly change: 'inserted' | 'updated' | 'left';
  /** Columns whose values differ; null if the earlier snapshot lacks the row, or the later one. */
  readonly changed: readonly string[] | null;
  /** Values by column, as JSON has them; the key alone of a row that is no longer in its table. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** The changes without their SELECTs, as a recipient reads them. */
export const headOf = ({ tables, ...snapshots }: Changes) => ({
  ...snapshots,
  tables: tables.map(({ sql: _, ...table }): TableChanges => table),
});

/** Yields the changed rows in pieces, table by table and by key. */
export async function* changedRows(
  connection: DuckDBConnection,
  { tables }: Changes,
): AsyncGenerator<readonly Change[]> {
  for (const { name, key, mark, sql } of tables) {
    if (sql === undefined) continue;
    const { columns, rows } = await openResult(connection, { sql, select: sql });
    const names = columns.slice(2).map((column) => column.name);
    for await (const piece of rows(jsonValue))
      yield piece.map(([change, changed, ...values]): Change => {
        const row = Object.fromEntries(names.map((column, i) => [column, values[i]]));
        const isKept = change !== 'left' || (mark !== null && row[mark] !== null);
        return {
          table: name,
          change: change as Change['change'],
          changed: changed as Change['changed'],
          row: isKept ? row : Object.fromEntries(key.map((column) => [column, row[column]])),
        };
      });
  }
}

/**
 * Yields a feed as lines of JSON: first what {@link headOf} says, then a line a changed row, and last the number of rows,
 * without which the feed was cut off.
 */
export async function* ndjsonOf(connection: DuckDBConnection, changes: Changes): AsyncGenerator<string> {
  yield `${JSON.stringify(headOf(changes))}\n`;
  let rows = 0;
  for await (const piece of changedRows(connection, changes)) {
    rows += piece.length;
    yield piece.map((change) => `${JSON.stringify(change)}\n`).join('');
  }
  yield `${JSON.stringify({ rows })}\n`;
}

/** Yields the changed rows of one table as a file of CSV or Parquet. */
export async function* fileOf(
  connection: DuckDBConnection,
  { tables: [table] }: Changes,
  format: 'csv' | 'parquet',
  temp: string,
): AsyncGenerator<string | Uint8Array> {
  const sql = table?.sql ?? emptyOf(table);
  const query = { sql, select: sql, needed: () => [] };
  yield* render(connection, query, format, { temp, view: { rows: 0, width: undefined } });
}

/** SELECT of no rows with the columns that those of a table would have. */
const emptyOf = (table: TableChanges | undefined): string =>
  `select ${[...CHANGE, ...(table?.columns ?? [])]
    .map(({ name, type }) => `cast(null as ${type}) as ${identifier(name)}`)
    .join(', ')} limit 0`;

/** A feed that was written, and the folder that holds it. */
export type WrittenChanges = ReturnType<typeof headOf> & { readonly path: string };

/**
 * Writes the changes into a folder, whole or not at all: `changes.json` with what {@link headOf} says, a file with the rows of
 * each table that has some, and checksums. Throws as `findChanges` does, EXPORT_EXISTS if the folder is taken, and
 * LAKE_DISK_FULL.
 */
export async function writeChanges(
  request: ChangesRequest & { readonly to: string; readonly format: ChangesFormat },
  config: Config,
  signal: AbortSignal | undefined,
): Promise<WrittenChanges> {
  const { to, format } = request;
  assertOutside(to, config.output);
  const target = openTarget({ to, zip: false, force: false });
  try {
    return await withDatabase(config, signal, async ({ session: { connection }, temp }) => {
      const changes = await findChanges(connection, config, request);
      const files: { readonly path: string; readonly sha256: string }[] = [];
      for (const table of changes.tables) {
        if (table.sql === undefined) continue;
        signal?.throwIfAborted();
        const path = `data/${table.name}.${format}`;
        await writeRows(
          connection,
          { ...changes, tables: [table] },
          format,
          join(target.staging, path),
          temp,
        );
        files.push({ path, sha256: await checksumOf(join(target.staging, path)) });
      }
      const head = join(target.staging, 'changes.json');
      writeNew(head, `${JSON.stringify(headOf(changes), null, 1)}\n`);
      files.push({ path: 'changes.json', sha256: await checksumOf(head) });
      writeNew(join(target.staging, SUMS), sumsText(files));
      target.commit(target.staging);
      return { ...headOf(changes), path: target.path };
    });
  } catch (error) {
    throw diskFullError(error, target.path) ?? outOfMemoryError(error, config.memory) ?? error;
  } finally {
    target.discard();
  }
}

async function writeRows(
  connection: DuckDBConnection,
  changes: Changes,
  format: ChangesFormat,
  path: string,
  temp: string,
): Promise<void> {
  const [{ name, sql } = { name: '', sql: '' }] = changes.tables;
  if (format === 'parquet') {
    const options = [
      'format parquet',
      'parquet_version v1',
      'compression zstd',
      metadataOf(name, changes.until),
    ];
    await connection.run(`copy (${sql}) to ${literal(path)} (${options.join(', ')})`);
    return;
  }
  writeNew(path, '');
  if (format === 'csv') {
    for await (const piece of fileOf(connection, changes, 'csv', temp)) append(path, String(piece));
    return;
  }
  for await (const piece of changedRows(connection, changes))
    append(path, piece.map((change) => `${JSON.stringify(change)}\n`).join(''));
}

/** Number of changed rows. */
export const rowsOf = (tables: readonly TableChanges[]): number =>
  sumOf(tables, ({ inserted, updated, left }) => inserted + updated + left);
