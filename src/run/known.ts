import type { Client } from '../extract/client.js';
import { readJson } from '../extract/client.js';
import { globRelation } from '../lake/files.js';
import { indexAbove } from '../land/fingerprints.js';
import { enumerations } from '../service/contract/enumerations.js';
import { BadRequestError, SourceRefusedError } from '../service/errors.js';
import { requests } from '../service/requests.js';
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

/**
 * Sources with active lots in the lake that the service refuses to the key at this moment: one small request for each
 * source that the lake knows. Vehicles come without the lots of such a source, as if these had gone.
 * @param among sources to ask for; all by default
 * @param isScroll whether the feed is walked as a scroll, whose host may know no pages
 */
export async function hiddenSources(
  job: Job,
  client: Client,
  isScroll: boolean,
  among: readonly number[] = Object.keys(enumerations.domain).map(Number),
): Promise<number[]> {
  const snapshot = job.base?.folder;
  if (snapshot === undefined || among.length === 0) return [];
  const reader = await job.session.connection.runAndReadAll(
    `select distinct domain_id from ${globRelation(snapshot, 'lots', true)}
    where not archived and domain_id in (${among.join(', ')}) order by domain_id`,
  );
  const ask = (selected: { readonly domain_id?: number }): Promise<unknown> => {
    const { path, query } = isScroll
      ? requests.carsScroll.from({ ...selected, limit: 1 })
      : requests.cars.from({ ...selected, per_page: 1 });
    return client.get(path, query, readJson, job.signal);
  };
  const hidden: number[] = [];
  for (const [source] of reader.getRows()) {
    try {
      await ask({ domain_id: Number(source) });
    } catch (error) {
      if (!(error instanceof SourceRefusedError || error instanceof BadRequestError)) throw error;
      // A 400 is about the source where the same request without it is answered.
      if (error instanceof BadRequestError) await ask({});
      hidden.push(Number(source));
    }
  }
  return hidden;
}
