import type { Changes } from '../land/changes.js';
import type { LandedPage } from '../land/page.js';
import type { Pass, PassManifest } from '../land/pass.js';
import { rescanPage } from '../land/rescan.js';
import { type LoadedPass, Loader } from '../load/loader.js';
import { streams } from '../service/streams.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';

/**
 * Loads a pass into a stage: the pages that it has, then those that `walk` lands while they come.
 * @param changes finds what of the pages has to be loaded; whole pages are without it
 * @param walk adds more pages and gives the manifest of the pass
 */
export async function loadPass(
  job: Job,
  pass: Pass,
  stage: string,
  changes: Changes | undefined,
  walk: (add: (page: LandedPage) => void) => Promise<PassManifest>,
): Promise<LoadedPass> {
  const { stream: name, pass_id: passId, contract } = pass.manifest;
  const { session, signal, schemas, contracts } = job;
  const loader = new Loader({
    ...{ session, signal, schemas, passId, stage, changes },
    warn: job.reporter.warn,
    stream: streams[name],
    contract: contracts[name],
    passFolder: pass.folder,
  });
  try {
    const isSame = contract === contractFingerprint(job, name);
    for (const landed of pass.pages) {
      signal?.throwIfAborted();
      const page = isSame
        ? landed
        : await rescanPage(landed, pass.folder, contracts[name], streams[name].idField);
      changes?.acceptLanded(pass.folder, page);
      loader.add(page);
    }
    const manifest = await walk((page) => loader.add(page));
    const loaded = await loader.finish();
    job.drift.push(...loaded.drift);
    return { manifest, ...loaded, changes };
  } catch (error) {
    await loader.stop();
    throw error;
  }
}
