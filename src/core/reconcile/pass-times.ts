import { isFuture } from '../job/clock.js';
import type { Job } from '../job/job.js';
import type { BaseState } from '../lake/base.js';
import { type Manifest, streamOf } from '../lake/manifest.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';

type PassTimes = Manifest['last_pass_at'];

/**
 * Starts of the last whole passes in a state, once the passes of one night are merged: the next window begins there.
 */
export function passTimes(base: BaseState | undefined, passes: readonly LoadedPass[]): PassTimes {
  const walked = passes.map(({ record }) => record).filter(({ kind }) => kind !== 'lookup');
  const merged = walked.flatMap(({ stream, sources, complete, started_at }) => {
    if (sources === null) return complete ? [[stream, started_at]] : [];
    return sources.map((source) => [streamOf(stream, source), started_at]);
  });
  return { ...base?.manifest.last_pass_at, ...Object.fromEntries(merged) };
}

/**
 * The later start for each stream: a rebuild may replay older passes than the snapshot knew that it carries over. What
 * the snapshot has from the future is left out.
 */
export function laterTimes(job: Pick<Job, 'now'>, replayed: PassTimes, known: PassTimes = {}): PassTimes {
  const latest = { ...replayed };
  for (const [name, started_at] of Object.entries(known))
    if (started_at > (latest[name] ?? '') && !isFuture(job, { started_at })) latest[name] = started_at;
  return latest;
}
