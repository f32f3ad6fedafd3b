import type { DuckDBConnection } from '@duckdb/node-api';
import type { BaseState } from '../lake/base.js';
import type { Manifest } from '../lake/manifest.js';
import { Fingerprints, readFingerprints, writeFingerprints } from '../land/fingerprints.js';
import { rowCode } from '../load/row-code.js';
import type { MergeContext } from './relations.js';
import { ruleOf } from './rules.js';
import { bindNext } from './state.js';

/** Fingerprints of the records that a state was made from; none if they were read by other rules than those of today. */
export function knownRecords(base: BaseState | undefined): Fingerprints {
  const stored = base?.manifest.fingerprints ?? undefined;
  if (base === undefined || stored === undefined || stored.code !== rowCode()) return new Fingerprints();
  return readFingerprints(base.folder, stored.records);
}

/**
 * Writes the fingerprints of the records that a new state was made from: those of the base without stale vehicles, and
 * those that this run loaded without unsettled vehicles (see the rules in `sql/reconcile`).
 * @param isCarried whether rows of a published snapshot were carried over
 */
export async function recordFingerprints(
  context: MergeContext,
  isCarried = false,
): Promise<NonNullable<Manifest['fingerprints']>> {
  const { connection, base, target, passes } = context;
  await connection.run(`update run.facts set is_carried = ${isCarried}`);
  // A carry over may have written lots again, as other files than those that were bound.
  for (const table of ['inspections', 'history_reports', 'lots', 'vehicles']) await bindNext(context, table);
  const loaded = new Fingerprints();
  for (const prints of passes.flatMap((pass) => pass.prints)) loaded.addAll(prints);
  const added = loaded.sorted().without(await vehicleIds(connection, ruleOf('unsettled_vehicles').sql));
  const kept = knownRecords(base).without(await vehicleIds(connection, ruleOf('stale_vehicles').sql));
  const all = kept.updated(added);
  writeFingerprints(target, all);
  return { records: all.ids.length, code: rowCode() };
}

/** The vehicle ids that a query returns, ascending. */
export async function vehicleIds(connection: DuckDBConnection, sql: string): Promise<Float64Array> {
  const reader = await connection.runAndReadAll(
    `select cast(vehicle_id as double) from (${sql}) where vehicle_id is not null order by 1`,
  );
  return Float64Array.from(reader.getColumns()[0] ?? [], Number);
}
