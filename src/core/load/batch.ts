import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { makeFolder } from '../../base/config/owned.js';
import { identifier, literal, literals, scalar } from '../../base/duck/session.js';
import type { LandedPage } from '../lake/passes/landed-page.js';
import { BATCH, planViews } from '../lake/rows/batch-views.js';
import { createViews, type StagedTable, selectSql, stagedTables } from '../lake/rows/schemas.js';
import { columnTypes, type LearnedPaths } from '../lake/rows/types.js';
import { RECEIPT_BITS } from '../lake/staged.js';
import type { Stream } from '../service/streams.js';

/** A file of newline-delimited records, with the order of receipt and the list of their page. */
export type BatchFile = Pick<LandedPage, 'seq' | 'list'> & { readonly path: string };

/** Records to be loaded together. */
export interface Batch {
  readonly stream: Stream;
  readonly learned: LearnedPaths;
  readonly files: readonly BatchFile[];
  /** Bytes of the largest record, which sets the size of the reader's buffers. */
  readonly largestRecord: number;
  readonly stage: string;
  readonly name: string;
  /** Whether the batch is too small to be staged by partition. */
  readonly isSmall: boolean;
  /** Whether some records were checked one by one: they may list rejected columns, and hold null in place of a row. */
  readonly isMended: boolean;
}

/**
 * Types a batch of records and stages each table of its stream as `<stage>/<table>/<batch>.parquet`, with `_seq`; a wide
 * table of a large batch by partition. Returns the number of records.
 */
export async function loadBatch(connection: DuckDBConnection, options: Batch): Promise<number> {
  const views = planViews(options.stream, options.learned, options.isMended);
  await createBatch(connection, options);
  try {
    await createViews(connection, views);
    const copies = stagedTables(options.stream.name).map((table) => copySql(options, table));
    await connection.run(copies.join(';\n'));
    return await scalar(connection, `select count(*) from ${BATCH}`);
  } finally {
    // Otherwise the batch and its unnested lists use memory until the next batch of this connection replaces them.
    const kept = views.filter(({ materialized }) => materialized).map(({ name }) => name);
    const drops = [BATCH, ...kept].map((name) => `drop table if exists ${identifier(name)} cascade`);
    await connection.run(drops.join(';\n'));
  }
}

async function createBatch(connection: DuckDBConnection, options: Batch): Promise<void> {
  const { files } = options;
  const columns = columnTypes(options.stream.contract, options.learned, options.isMended)
    .map(([name, type]) => `${identifier(name)}: ${literal(type)}`)
    .join(', ');
  const paths = literals(files.map((file) => file.path));
  const order = `map(${paths}, [${files.map((file) => file.seq).join(', ')}])`;
  const lists = `map(${paths}, ${literals(files.map((file) => file.list))})`;
  await connection.run(`
    create or replace temp table ${BATCH} as
    select * exclude (_file), (${order}[_file]::bigint << ${RECEIPT_BITS}) + row_number() over () as _seq, ${lists}[_file] as _list
    from read_json(${paths}, format = 'newline_delimited', hive_partitioning = false, filename = '_file',
      maximum_object_size = ${Math.max(options.isSmall ? 1 << 18 : 4 << 20, options.largestRecord * 2)}, columns = {${columns}})`);
}

function copySql({ stage, name, isSmall }: Batch, table: StagedTable): string {
  const folder = join(stage, table.name);
  const isPartitioned = table.wide !== undefined && !isSmall;
  makeFolder(folder);
  const target = isPartitioned ? folder : join(folder, `${name}.parquet`);
  const partition = isPartitioned
    ? `, partition_by (_domain, _month), overwrite_or_ignore true, filename_pattern ${literal(`${name}-{i}`)}`
    : '';
  return `copy (${selectSql(table)}) to ${literal(target)} (format parquet, compression snappy${partition})`;
}
