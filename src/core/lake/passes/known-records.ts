import type { DuckDBConnection } from '@duckdb/node-api';
import type { BaseState } from '../base.js';
import { rowCode } from '../rows/row-code.js';
import { Fingerprints, readFingerprints } from './fingerprints.js';

/** Fingerprints of the records that a state was made from; none if they were read by other rules than those of today. */
export function knownRecords(base: BaseState | undefined): Fingerprints {
  const stored = base?.manifest.fingerprints ?? undefined;
  if (base === undefined || stored === undefined || stored.code !== rowCode()) return new Fingerprints();
  return readFingerprints(base.folder, stored.records);
}

/** The vehicle ids that a query returns, ascending. */
export async function vehicleIds(connection: DuckDBConnection, sql: string): Promise<Float64Array> {
  const reader = await connection.runAndReadAll(
    `select cast(vehicle_id as double) from (${sql}) where vehicle_id is not null order by 1`,
  );
  return Float64Array.from(reader.getColumns()[0] ?? [], Number);
}
