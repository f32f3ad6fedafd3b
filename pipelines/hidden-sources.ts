import type { Client } from '../src/extract/client.js';
import { readJson } from '../src/extract/open-client.js';
import { globRelation } from '../src/lake/files.js';
import { currentSnapshot } from '../src/lake/layout.js';
import { enumerations } from '../src/service/contract/enumerations.js';
import { BadRequestError } from '../src/service/errors/bad-request-error.js';
import { SourceRefusedError } from '../src/service/errors/source-refused-error.js';
import { requests } from '../src/service/requests/registry.js';
import type { Job } from './job.js';

/**
 * Sources with active lots in the lake that the service refuses to the key at this moment: one small request for each
 * source that the lake knows. Vehicles come without the lots of such a source, as if these had gone.
 */
export async function hiddenSources(job: Job, client: Client): Promise<number[]> {
  const snapshot = currentSnapshot(job.layout);
  if (snapshot === undefined) return [];
  const reader = await job.session.connection.runAndReadAll(
    `select distinct domain_id from ${globRelation(snapshot, 'lots', true)}
    where not archived and domain_id in (${Object.keys(enumerations.domain).join(', ')}) order by domain_id`,
  );
  const hidden: number[] = [];
  for (const [source] of reader.getRows()) {
    const { path, query } = requests.cars.from({ domain_id: Number(source), per_page: 1 });
    try {
      await client.get(path, query, readJson, job.signal);
    } catch (error) {
      if (!(error instanceof SourceRefusedError || error instanceof BadRequestError)) throw error;
      hidden.push(Number(source));
    }
  }
  return hidden;
}
