import type { BaseState } from '../lake/base.js';
import type { Manifest } from '../lake/manifest.js';
import type { StreamName } from '../service/streams.js';
import type { LoadedPass } from './extract-stream.js';

type PassTimes = Pick<Manifest, 'last_pass_at'>;

/** Starts of the whole passes that a state holds, after the passes of one night: what a window has to reach back to. */
export function passTimes(base: BaseState | undefined, passes: readonly LoadedPass[]): PassTimes {
  const walked = passes.map(({ manifest }) => manifest).filter(({ kind }) => kind !== 'lookup');
  const merged = walked.flatMap(({ stream, sources, complete, started_at }) => {
    if (sources === null) return complete ? [[stream, started_at]] : [];
    return sources.map((source) => [streamOf(stream, source), started_at]);
  });
  return { last_pass_at: { ...base?.manifest.last_pass_at, ...Object.fromEntries(merged) } };
}

/** The later start of each of two: what a rebuild replays is older than what the snapshot that it carries over knew. */
export function laterTimes(replayed: PassTimes, known: PassTimes | undefined): PassTimes {
  const last_pass_at = { ...replayed.last_pass_at };
  for (const [name, at] of Object.entries(known?.last_pass_at ?? {}))
    if (at > (last_pass_at[name] ?? '')) last_pass_at[name] = at;
  return { last_pass_at };
}

/** What a manifest calls the part of a stream that is of one source. */
export const streamOf = (stream: StreamName, source: number): string => `${stream}:${source}`;
