import { createHash } from 'node:crypto';
import { identifier } from '../duck/session.js';

/**
 * Field id of a column in Parquet and Iceberg, from 1 to 2^24 - 1: a hash of its path, so that it is the same in every
 * table, lake and version without a registry. A test shows that no table has two columns of one id.
 * @param path name of a column, or `tags.element` for the elements of a list
 */
export function fieldId(path: string): number {
  const id = known.get(path) ?? createHash('sha256').update(path).digest().readUIntBE(0, 3);
  known.set(path, id);
  return id;
}

const known = new Map<string, number>();

/** Option of COPY that writes field ids into a Parquet file. */
export function fieldIdsOf(columns: readonly { readonly name: string; readonly type?: string }[]): string {
  const ids = columns.map(({ name, type }) => {
    const id = fieldId(name);
    const nested = `{__duckdb_field_id: ${id}, element: ${fieldId(`${name}.element`)}}`;
    return `${identifier(name)}: ${type?.endsWith('[]') ? nested : id}`;
  });
  return `field_ids {${ids.join(', ')}}`;
}
