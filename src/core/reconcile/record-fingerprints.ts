import type { Manifest } from '../lake/manifest.js';
import { Fingerprints, writeFingerprints } from '../lake/passes/fingerprints.js';
import { knownRecords, vehicleIds } from '../lake/passes/known-records.js';
import { rowCode } from '../lake/rows/row-code.js';
import type { MergeContext } from './relations.js';
import { ruleOf } from './rules.js';
import { bindNext } from './state.js';

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
