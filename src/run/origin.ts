import { LakeError } from '../lake/lake-error.js';
import { listPasses } from '../land/pass.js';
import { streamNames } from '../service/streams.js';
import type { Job } from './job.js';

/** The service that an output folder is of: that of its lake, else of what a run landed; null where neither says. */
export function knownOrigin({ base, layout }: Pick<Job, 'base' | 'layout'>): string | null {
  if (base !== undefined && base.manifest.origin !== null) return base.manifest.origin;
  const passes = streamNames.flatMap((stream) => listPasses(layout.landing, stream));
  const landed = passes.filter(({ manifest }) => manifest.state !== 'abandoned' && manifest.origin !== null);
  return landed[0]?.manifest.origin ?? null;
}

/**
 * Makes sure that a run asks the service that the lake is of: records of another would be merged with it, and its own
 * archived for their absence. Throws LakeError (LAKE_ORIGIN).
 */
export function assertOrigin(job: Pick<Job, 'base' | 'layout' | 'config'>): void {
  const { origin } = job.config;
  const known = knownOrigin(job);
  if (origin === undefined || known === null || known === origin) return;
  const isUrl = [known, origin].every((name) => URL.canParse(name));
  const moved = isUrl ? `; if it is the same service under a new address, set LOTLAKE_ORIGIN=${known}` : '';
  throw new LakeError(
    'LAKE_ORIGIN',
    `${job.config.output} holds the lake of ${known}, and this run asks ${origin}`,
    {
      outcome: 'usage',
      hint: `nothing was asked and nothing was changed; name another folder with --output or LOTLAKE_OUTPUT${moved}`,
    },
  );
}
