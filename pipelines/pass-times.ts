import type { Manifest } from '../src/lake/manifest.js';
import type { BaseState, Evidence } from '../src/reconcile/context.js';
import type { StreamName } from '../src/service/streams.js';
import type { LoadedPass } from './extract-stream.js';

/** Starts of the whole passes that a state holds, after the passes of one night: what a window has to reach back to. */
export function passTimes(
  base: BaseState | undefined,
  evidence: Evidence,
  passes: readonly LoadedPass[],
  seen: readonly number[],
): Pick<Manifest, 'last_full_pass_at' | 'last_full_pass_by_source' | 'last_pass_at'> {
  const walked = passes.map(({ manifest }) => manifest).filter(({ kind }) => kind !== 'lookup');
  const merged = walked.flatMap(({ stream, sources, complete, started_at }) => {
    if (sources === null) return complete ? [[stream, started_at]] : [];
    return sources.map((source) => [streamOf(stream, source), started_at]);
  });
  return {
    ...fullPasses(base, evidence, seen),
    last_pass_at: { ...base?.manifest.last_pass_at, ...Object.fromEntries(merged) },
  };
}

/** What a manifest calls the part of a stream that is of one source. */
export const streamOf = (stream: StreamName, source: number): string => `${stream}:${source}`;

function fullPasses(
  base: BaseState | undefined,
  { carsComplete, sources, seenAt }: Evidence,
  seen: readonly number[],
): Pick<Manifest, 'last_full_pass_at' | 'last_full_pass_by_source'> {
  const now = carsComplete ? seen.map((source) => [source, seenAt]) : [];
  const isOverAll = carsComplete && sources === undefined;
  return {
    last_full_pass_at: isOverAll ? seenAt : (base?.manifest.last_full_pass_at ?? null),
    last_full_pass_by_source: { ...base?.manifest.last_full_pass_by_source, ...Object.fromEntries(now) },
  };
}
