import { globRelation } from '../src/lake/files.js';
import { currentSnapshot } from '../src/lake/layout.js';
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
  const snapshot = currentSnapshot(job.layout);
  if (snapshot === undefined) return undefined;
  const sql =
    source === undefined
      ? `from ${globRelation(snapshot, 'vehicles', false)} where not archived`
      : `from ${globRelation(snapshot, 'lots', true)} where not archived and domain_id = ${source}`;
  const reader = await job.session.connection.runAndReadAll(
    `select distinct cast(vehicle_id as double) ${sql} order by 1`,
  );
  const ids = Float64Array.from(reader.getColumns()[0] ?? [], Number);
  return (low, high) => (ids[firstAbove(ids, low)] ?? high) < high;
}

/** Index of the first number above a bound, in ascending numbers. */
function firstAbove(numbers: Float64Array, bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
