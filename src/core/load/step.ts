import type { Job } from '../job/job.js';
import { driftIn } from '../lake/drift.js';
import { tableRelation } from '../lake/files.js';
import type { LandedPage } from '../lake/passes/landed-page.js';
import type { DatedDrift, DriftReport, LoadedPass } from '../lake/passes/loaded-pass.js';
import { type Pass, readPass } from '../lake/passes/pass.js';
import { Loader } from './loader.js';

/**
 * Stages the records of a pass while its pages come. Throws LoadError, and the error that ends the pages; then what was
 * staged of the pass is left behind.
 */
export async function load(job: Job, pass: Pass, pages: AsyncIterable<LandedPage>): Promise<LoadedPass> {
  const { folder } = pass;
  const loader = new Loader({ ...job, pass, warn: job.reporter.warn });
  try {
    for await (const page of pages) loader.add(page);
    const staged = await loader.finish();
    // The pages have ended, so that the pass is sealed.
    const { record } = readPass(folder);
    const loaded = { folder, record, ...staged, drift: await dated(job, staged.drift) };
    job.recorder.loaded(loaded);
    return loaded;
  } catch (error) {
    await loader.stop();
    throw error;
  }
}

/** Adds to unknown members the run that first reported each. */
async function dated({ base, session }: Job, found: readonly DriftReport[]): Promise<readonly DatedDrift[]> {
  if (found.length === 0) return [];
  const passes = base === undefined ? undefined : tableRelation(base, 'passes');
  const known = passes === undefined ? [] : await driftIn(session.connection, passes);
  return found.map((member) => {
    const first = known.find(({ stream, path }) => stream === member.stream && path === member.path);
    return { ...member, since: first?.run_id ?? null };
  });
}
