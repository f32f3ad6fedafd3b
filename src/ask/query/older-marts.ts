import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { identifier, rows } from '../../base/duck/session.js';

/** Columns that marts of older snapshots may lack, by mart, with the SQL of what stands in for them. */
export type StandIns = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Adds the missing columns to the marts of an open snapshot.
 * @param needed marts that queries read even where they are missing; empty ones stand in for them
 * @returns the names of all tables and marts that the snapshot has
 */
export async function fillMarts(
  connection: DuckDBConnection,
  standIns: StandIns,
  needed: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await rows(
    connection,
    'select table_name, list(column_name) as columns from duckdb_columns() where not internal group by table_name',
  );
  const columns = new Map(found.map((row) => [String(row.table_name), Object(row.columns) as string[]]));
  for (const [mart, expected] of Object.entries(standIns)) {
    const has = columns.get(mart);
    const missing = Object.entries(expected).filter(([name]) => has?.includes(name) !== true);
    if (missing.length === 0 || (has === undefined && !needed.includes(mart))) continue;
    const added = missing.map(([name, sql]) => `${sql} as ${identifier(name)}`).join(', ');
    if (has === undefined) {
      await connection.run(`create view ${identifier(mart)} as select ${added} where false`);
      continue;
    }
    const older = identifier(`older_${mart}`);
    await connection.run(`alter view ${identifier(mart)} rename to ${older}`);
    await connection.run(`create view ${identifier(mart)} as select *, ${added} from ${older}`);
  }
  return new Set(columns.keys());
}

/**
 * Names the view `vins`: each vehicle with its VIN in upper case, without outer spaces. vin_facts has it so, and finding one
 * there takes a fifth of the time.
 * @param has the tables and marts of the snapshot
 */
export async function nameVins(connection: DuckDBConnection, has: ReadonlySet<string>): Promise<void> {
  const vins = has.has('vin_facts') ? 'vin from vin_facts' : 'upper(trim(vin)) as vin from vehicles';
  await connection.run(`create view if not exists vins as select vehicle_id, ${vins}`);
}

/** Throws QUERY_NO_TABLE for a query that found no such mart or column in a snapshot, and any other error as it is. */
export function failOlder(error: unknown): never {
  if (!/^(Catalog|Binder) Error/.test(messageOf(error))) throw error;
  throw new LotlakeError('QUERY_NO_TABLE', 'the snapshot lacks marts that this version of lotlake reads', {
    cause: error,
    hint: 'another version of lotlake made it; the next run computes its marts again',
  });
}
