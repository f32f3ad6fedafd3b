import type { Job } from '../job/job.js';
import { readJson } from '../service/client.js';
import { ServiceError } from '../service/errors.js';
import { requests } from '../service/requests.js';
import { type Stream, streams } from '../service/streams.js';
import { ATTEMPTS, isOfPage } from './fetch-page.js';

/** Whether the pages of a stream are requested as a scroll. */
export const isScroll = ({ config }: Job, { name }: Stream): boolean =>
  name === 'cars' && config.paging === 'scroll';

/** Requests a list of one vehicle: the first, or the second if the service cannot serve the first. */
export async function probe(job: Job, selected: { readonly domain_id?: number }): Promise<unknown> {
  // A host that offers scrolls may not offer pages.
  const { path, query } = isScroll(job, streams.cars)
    ? requests.carsScroll.from({ ...selected, limit: 1 })
    : requests.cars.from({ ...selected, per_page: 1 });
  const get = (page: object, attempts?: number): Promise<unknown> =>
    job.client().get(path, { ...query, ...page }, readJson, job.signal, attempts);
  if (isScroll(job, streams.cars)) return await get({});
  return await get({}, ATTEMPTS).catch((error: unknown) => {
    if (!isOfPage(error)) throw error;
    return get({ page: 2 });
  });
}

/** Waits until the clock of the run follows the service: requests a list of one vehicle if no answer has come yet. */
export async function askTime(job: Job): Promise<void> {
  if (job.clock.isHeard) return;
  try {
    await probe(job, {});
  } catch (error) {
    // Any answer tells the time. What it refuses, the pass itself will be told.
    if (!(error instanceof ServiceError) || !job.clock.isHeard) throw error;
  }
}
