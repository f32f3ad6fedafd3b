import { globRelation } from '../lake/files.js';
import { indexAbove } from '../land/fingerprints.js';
import type { Job } from './job.js';

/**
 * Whether the lake has an active vehicle whose id lies between two others, borders left out; undefined where nothing
 * was published yet.
 * @param source counts only vehicles with an active lot on it
 */
export async function knownVehicles(
  job: Job,
  source: number | undefined,
): Promise<((low: number, high: number) => boolean) | undefined> {
  const snapshot = job.base?.folder;
  if (snapshot === undefined) return undefined;
  const sql =
    source === undefined
      ? `from ${globRelation(snapshot, 'vehicles', false)} where not archived`
      : `from ${globRelation(snapshot, 'lots', true)} where not archived and domain_id = ${source}`;
  const reader = await job.session.connection.runAndReadAll(
    `select distinct cast(vehicle_id as double) ${sql} order by 1`,
  );
  const ids = Float64Array.from(reader.getColumns()[0] ?? [], Number);
  return (low, high) => (ids[indexAbove(ids, low)] ?? high) < high;
}
