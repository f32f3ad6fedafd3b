import type { Job } from '../job/job.js';
import { driftIn } from '../lake/drift-of-passes.js';
import { tableRelation } from '../lake/files.js';
import type { LandedPage } from '../lake/passes/landed-page.js';
import type { DatedDrift, DriftReport, LoadedPass } from '../lake/passes/loaded-pass.js';
import type { Pass, PassRecord } from '../lake/passes/pass.js';
import { Loader } from './loader.js';

/** The pages of a pass as they come; at their end its record, sealed. */
export type PagesOf = AsyncGenerator<LandedPage, PassRecord, void>;

/**
 * Stages the records of a pass while its pages come. Throws LoadError, and the error that ends the pages; then what was
 * staged of the pass is left behind.
 */
export async function load(job: Job, pass: Pass, pages: PagesOf): Promise<LoadedPass> {
  const { folder } = pass;
  const loader = new Loader({ ...job, pass, warn: job.reporter.warn });
  try {
    const record = await takeAll(pages, (page) => loader.add(page));
    const staged = await loader.finish();
    const loaded = { folder, record, ...staged, drift: await dated(job, staged.drift) };
    job.recorder.loaded(loaded);
    return loaded;
  } catch (error) {
    await loader.stop();
    throw error;
  }
}

/** Takes pages as they come. Returns what they end with. */
async function takeAll<P, R>(pages: AsyncGenerator<P, R, void>, take: (page: P) => void): Promise<R> {
  for (;;) {
    const next = await pages.next();
    if (next.done === true) return next.value;
    try {
      take(next.value);
    } catch (error) {
      await pages.return(undefined as never);
      throw error;
    }
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

export { discardStaged, isCausedByPages, LoadError } from './loader.js';
