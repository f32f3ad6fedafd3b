import type { BaseState } from '../src/lake/base.js';
import type { Manifest } from '../src/lake/manifest.js';
import type { StreamName } from '../src/service/streams.js';
import type { LoadedPass } from './extract-stream.js';

/** Starts of the whole passes that a state holds, after the passes of one night: what a window has to reach back to. */
export function passTimes(
  base: BaseState | undefined,
  passes: readonly LoadedPass[],
): Pick<Manifest, 'last_pass_at'> {
  const walked = passes.map(({ manifest }) => manifest).filter(({ kind }) => kind !== 'lookup');
  const merged = walked.flatMap(({ stream, sources, complete, started_at }) => {
    if (sources === null) return complete ? [[stream, started_at]] : [];
    return sources.map((source) => [streamOf(stream, source), started_at]);
  });
  return { last_pass_at: { ...base?.manifest.last_pass_at, ...Object.fromEntries(merged) } };
}

/** What a manifest calls the part of a stream that is of one source. */
export const streamOf = (stream: StreamName, source: number): string => `${stream}:${source}`;
