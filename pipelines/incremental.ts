import { join } from 'node:path';
import type { LoadedPass } from '../src/load/loader.js';
import { extractStream } from '../src/run/extract-stream.js';
import { type RunResult, reconcileModelPublish } from '../src/run/finish.js';
import { type JobOptions, runJob } from '../src/run/job.js';
import { archiveRequest, changesRequest } from '../src/run/window.js';

/**
 * What changed in the feed and the archive since the last pass, for hours between full passes. A window shows what is
 * there, never what is absent: nothing is archived for absence.
 */
export function incremental(options: JobOptions): Promise<RunResult> {
  return runJob('incremental', options, async (job) => {
    const stage = join(job.work, 'stage');
    const changes = changesRequest(job);
    const passes: LoadedPass[] = [];
    job.reporter.step('extract', `cars, the last ${changes.parameters.minutes} minutes`);
    passes.push(...(await extracted(extractStream(job, 'cars', stage, changes))));
    job.reporter.step('extract', 'archived_lots');
    passes.push(...(await extracted(extractStream(job, 'archived_lots', stage, archiveRequest(job)))));
    return reconcileModelPublish(job, stage, passes);
  });
}

const extracted = async (pass: Promise<LoadedPass | undefined>): Promise<LoadedPass[]> =>
  [await pass].filter((loaded) => loaded !== undefined);
