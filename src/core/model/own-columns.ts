import type { DuckDBConnection } from '@duckdb/node-api';
import { clip, printable } from '../../base/config/printable.js';
import { columnName } from '../lake/manifest.js';
import { columnsOf } from '../lake/schema.js';
import type { Model } from './model-files.js';

/** Types of columns that a mart of the user may have: those that all engines read. */
const TYPES = /^(BIGINT|INTEGER|DOUBLE|BOOLEAN|VARCHAR|DATE|TIMESTAMP WITH TIME ZONE)(\[\])?$/;

/** Why a manifest cannot hold columns of these names; undefined if it can. DuckDB is blind to the case of a name. */
export function columnProblem(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    const shown = clip(printable(name), 80);
    if (!columnName.safeParse(name).success)
      return `a column cannot be named ${shown}: a name has letters of a to z, digits and _, 63 at most, so write ${AS}`;
    if (name.toLowerCase() === 'filename')
      return 'a column cannot be named filename, which DuckDB adds to the rows of a file';
    if (seen.has(name.toLowerCase())) return `two columns are named ${shown}, if case does not count`;
    seen.add(name.toLowerCase());
  }
  return undefined;
}

const AS = 'count(*) as lots';

/** Checks that the SELECT of a model has the columns of its .yml, of types and names that a snapshot can hold. Throws TypeError. */
export async function assertColumns(connection: DuckDBConnection, { sql, columns }: Model): Promise<void> {
  const selected = await columnsOf(connection, sql);
  const problem = columnProblem(selected.map(({ name }) => name));
  if (problem !== undefined) throw new TypeError(problem);
  for (const { name, type } of selected) {
    if (!Object.hasOwn(columns, name)) throw new TypeError(`its .yml does not describe the column ${name}`);
    if (!TYPES.test(type))
      throw new TypeError(
        `the column ${name} is ${clip(type, 200)}; cast it to bigint, integer, double, boolean, varchar, date or timestamptz`,
      );
  }
  const missing = Object.keys(columns).find((name) => !selected.some((column) => column.name === name));
  if (missing !== undefined) throw new TypeError(`its SELECT gives no column ${missing}`);
}
