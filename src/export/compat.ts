import type { ColumnEntry } from '../docs/dictionary.js';
import { identifier } from '../duck/session.js';

/** Types that old readers know, as DuckDB writes them into Parquet: INT64, DOUBLE, BOOLEAN, UTF8, TIMESTAMP_MICROS, DATE. */
const KNOWN = /^(BIGINT|DOUBLE|BOOLEAN|VARCHAR|TIMESTAMP|TIMESTAMP WITH TIME ZONE|DATE)$/;

const INTEGER = /^(TINY|SMALL|UTINY|USMALL|U)?INT(EGER)?$/;

const NUMBER = /^(DECIMAL.*|FLOAT|HUGEINT|UHUGEINT|UBIGINT)$/;

/** A column and the SQL that gives it. */
export interface SelectedColumn {
  readonly column: ColumnEntry;
  readonly sql: string;
}

/**
 * A column in a type that the compat profile allows (docs/decisions/0010-compat-profile.md): integers BIGINT, other
 * numbers DOUBLE, lists and nested values JSON text, what else there is text.
 */
export function compatColumn(column: ColumnEntry): SelectedColumn {
  const name = identifier(column.name);
  const { type } = column;
  if (KNOWN.test(type)) return { column, sql: name };
  const as = (to: string, sql: string): SelectedColumn => ({
    column: { ...column, type: to },
    sql: `${sql} as ${name}`,
  });
  if (INTEGER.test(type)) return as('BIGINT', `cast(${name} as bigint)`);
  if (NUMBER.test(type)) return as('DOUBLE', `cast(${name} as double)`);
  if (type.startsWith('TIMESTAMP')) return as('TIMESTAMP', `cast(${name} as timestamp)`);
  if (/(\]|^STRUCT.*|^MAP.*|^JSON)$/.test(type)) return as('VARCHAR', `cast(to_json(${name}) as varchar)`);
  return as('VARCHAR', `cast(${name} as varchar)`);
}
