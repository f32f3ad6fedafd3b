import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literals, type Row, rows } from '../../base/duck/session.js';
import { type Field, fieldsOf } from '../../core/lake/field-ids.js';
import type { Manifest } from '../../core/lake/manifest.js';
import { boundOf } from './bounds.js';
import { primitiveOf } from './iceberg-schema.js';

/** Values by field id, in the form of an Avro map with integer keys. */
type ById<T> = readonly { readonly key: number; readonly value: T }[];

/**
 * Column statistics of a data file. A column is missing if the footer has no statistics of it. Bounds are in the
 * single-value serialization of Iceberg; texts have up to 16 characters.
 */
export type Metrics = Readonly<
  Record<'value_counts' | 'null_value_counts', ById<number>> &
    Record<'lower_bounds' | 'upper_bounds', ById<Buffer>>
>;

/** Statistics of a file without any. */
export const NO_METRICS: Metrics = {
  value_counts: [],
  null_value_counts: [],
  lower_bounds: [],
  upper_bounds: [],
};

/**
 * Reads the column statistics of Parquet files from their footers. The connection's time zone is UTC.
 * @param paths files of a snapshot, below its folder
 * @param tables tables and marts of the snapshot: the first folder of a path names one
 * @returns statistics by path
 */
export async function readMetrics(
  connection: DuckDBConnection,
  snapshot: string,
  paths: readonly string[],
  tables: Manifest['tables'],
): Promise<ReadonlyMap<string, Metrics>> {
  if (paths.length === 0) return new Map();
  const found = await rows(
    connection,
    `select file_name, path_in_schema as name, sum(num_values) as values,
       case when count(stats_null_count) = count(*) then sum(stats_null_count) end as nulls,
       count(stats_min_value) = count(*) filter (stats_null_count is distinct from num_values) as is_bounded,
       case when is_bounded then list(stats_min_value) filter (stats_min_value is not null) end as least,
       case when is_bounded then list(stats_max_value) filter (stats_max_value is not null) end as most
     from parquet_metadata(${literals(paths.map((path) => join(snapshot, path)))})
     group by all order by all`,
  );
  const byFile = new Map<string, Row[]>();
  for (const row of found) {
    const name = String(row.file_name);
    byFile.set(name, [...(byFile.get(name) ?? []), row]);
  }
  return new Map(
    paths.map((path) => {
      const table = tables[path.split('/')[0] ?? ''];
      const fields = table === undefined ? [] : fieldsOf(table);
      return [path, metricsOf(byFile.get(join(snapshot, path)) ?? [], fields)];
    }),
  );
}

/** Statistics of one file from the columns in its footer, without list elements. */
function metricsOf(stored: readonly Row[], fields: readonly Field[]): Metrics {
  const known = stored.flatMap((row) => {
    const field = fields.find(({ name }) => name === row.name);
    return field === undefined || field.element_id !== undefined
      ? []
      : [{ row, key: field.field_id, type: primitiveOf(field.type) }];
  });
  const bounds = (side: 'lower' | 'upper'): ById<Buffer> =>
    known.flatMap(({ key, type, row }) => {
      const texts = side === 'lower' ? row.least : row.most;
      const value = Array.isArray(texts) ? boundOf(texts.map(String), type, side) : undefined;
      return value === undefined ? [] : [{ key, value }];
    });
  return {
    value_counts: known.map(({ key, row }) => ({ key, value: Number(row.values) })),
    null_value_counts: known.flatMap(({ key, row: { nulls } }) =>
      nulls === null ? [] : [{ key, value: Number(nulls) }],
    ),
    lower_bounds: bounds('lower'),
    upper_bounds: bounds('upper'),
  };
}
