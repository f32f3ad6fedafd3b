import { join } from 'node:path';
import type { LoadedPass } from '../src/load/loader.js';
import { extractReference } from '../src/run/extract-reference.js';
import { extractStream } from '../src/run/extract-stream.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type Job, type JobOptions, runJob } from '../src/run/job.js';
import { archiveRequest, CARS } from '../src/run/window.js';

/** The nightly job: a full pass over the feed, what was archived since the last one, the statistics; then publish. */
export function nightly(options: JobOptions): Promise<RunResult> {
  return runJob('nightly', options, async (job) => {
    const stage = join(job.work, 'stage');
    const passes: LoadedPass[] = [];
    const keep = (pass: LoadedPass | undefined): void => {
      if (pass !== undefined) passes.push(pass);
    };

    job.reporter.step('extract', 'cars');
    keep(
      await extractStream(job, 'cars', stage, {
        kind: 'full',
        parameters: CARS,
        sources: job.config.sources,
      }),
    );

    job.reporter.step('extract', 'archived_lots');
    keep(await extractStream(job, 'archived_lots', stage, archiveRequest(job)));

    job.reporter.step('extract', 'statistics');
    keep(await extractStream(job, 'statistics', stage, { kind: 'full', parameters: {} }));

    if (isReferenceDue(job)) passes.push(...(await extractReference(job, stage, { everything: false })));

    return reconcileModelPublish(job, stage, passes);
  });
}

/** Whether the catalog and the reference lists are older than configured, or were never read. */
function isReferenceDue(job: Job): boolean {
  const last = job.base?.manifest.last_pass_at.manufacturers;
  if (last === undefined) return true;
  return job.now().getTime() - Date.parse(last) > job.config.referenceDays * 86_400_000;
}
