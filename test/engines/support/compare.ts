import { join } from 'node:path';
import { identifier, literal, row, rows, type Session } from '../../../src/base/duck/session.js';
import type { ManifestView } from '../../../src/core/lake/manifest.js';

/** Greatest relative difference of two floating-point values that count as equal. */
const RELATIVE = 1e-9;

type Described = Pick<ManifestView, 'columns' | 'key'>;

const files = (folder: string, table: string): string =>
  `read_parquet(${literal(join(folder, table, '**/*.parquet'))})`;

/**
 * Compares a table in two folders: names and types of its columns, and the values row by row, by its key. Returns the
 * differences and the number of compared rows.
 */
export async function differences(
  { connection }: Pick<Session, 'connection'>,
  table: string,
  { columns, key }: Described,
  [one, other]: readonly [string, string],
): Promise<{ readonly rows: number; readonly found: Readonly<Record<string, unknown>> }> {
  const described = await rows(connection, `describe select * from ${files(other, table)}`);
  const types = Object.fromEntries(
    described.map(({ column_name, column_type }) => [column_name, column_type]),
  );
  const wrong = columns
    .filter(({ name, type }) => types[name] !== type)
    .map(({ name }) => [`type of ${name}`, types[name]]);
  const counts = columns.map(
    ({ name, type }) =>
      `count(*) filter (where not (${sameValue(identifier(name), type)})) as ${identifier(name)}`,
  );
  const on = key.map((name) => `a.${identifier(name)} is not distinct from b.${identifier(name)}`);
  const { _a, _b, _both, ...cells } = await row(
    connection,
    `select (select count(*) from ${files(one, table)}) as _a, (select count(*) from ${files(other, table)}) as _b,
       count(*) as _both, ${counts.join(', ')}
     from ${files(one, table)} as a inner join ${files(other, table)} as b on ${on.join(' and ')}`,
  );
  const unequal = Object.entries(cells).filter(([, count]) => count !== 0);
  const missing = _a === _b && _a === _both ? [] : [['rows', [_a, _b, _both]]];
  return { rows: Number(_a), found: Object.fromEntries([...wrong, ...missing, ...unequal]) };
}

function sameValue(name: string, type: string): string {
  const same = `a.${name} is not distinct from b.${name}`;
  if (type !== 'DOUBLE') return same;
  const near = `abs(a.${name} - b.${name}) <= ${RELATIVE} * greatest(abs(a.${name}), abs(b.${name}))`;
  return `${same} or coalesce(${near}, false)`;
}
