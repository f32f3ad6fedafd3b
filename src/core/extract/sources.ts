import { rows } from '../../base/duck/session.js';
import type { Job } from '../job/job.js';
import { tableRelation } from '../lake/files.js';
import { noteHidden, type Pass } from '../lake/passes/pass.js';
import { enumerations } from '../service/contract/enumerations.js';
import { isFailure } from '../service/errors.js';
import { probe } from './probe.js';

/**
 * Records which sources the key lacks: at the end of every full pass, and at the start if it is over all sources together.
 * A key that loses a source during a pass gets vehicles without the lots of that source, as if the lots had left. If sources
 * are requested one by one, a list that is refused from the start is left out.
 * @param among sources that were requested one by one; null if they were requested together
 */
export async function watchSources(
  job: Job,
  pass: Pass,
  among: readonly number[] | null = null,
): Promise<void> {
  if (pass.record.stream !== 'cars' || pass.record.kind !== 'full') return;
  const more = noteHidden(pass.folder, await hiddenSources(job, among));
  if (more.length === 0) return;
  job.reporter.warn(
    `the service refuses source ${more.join(', ')} to the key: its lots stay as the lake has them`,
  );
}

/**
 * Sources with active lots in the lake that the service refuses to the key at this moment. Sends one small request for each
 * source in the lake. Vehicles come without the lots of a refused source, as if the lots had left.
 */
async function hiddenSources(job: Job, among: readonly number[] | null): Promise<number[]> {
  const { base } = job;
  if (base === undefined) return [];
  const candidates = among ?? Object.keys(enumerations.domain);
  const listed = await rows(
    job.session.connection,
    `select distinct domain_id from ${tableRelation(base, 'lots')}
    where not archived and domain_id in (${candidates.join(', ')}) order by domain_id`,
  );
  const hidden: number[] = [];
  for (const { domain_id } of listed) {
    const source = Number(domain_id);
    try {
      await probe(job, { domain_id: source });
    } catch (error) {
      if (!isFailure(error, 'SERVICE_SOURCE_REFUSED', 'SERVICE_BAD_REQUEST')) throw error;
      // A 400 is about the source if the same request without the source succeeds.
      if (error.code === 'SERVICE_BAD_REQUEST') await probe(job, {});
      hidden.push(source);
    }
  }
  return hidden;
}
