import { ConfigError } from '../config/lotlake-error.js';
import type { BaseState } from '../lake/base.js';
import type { Manifest } from '../lake/manifest.js';
import type { LoadedPass } from '../load/loader.js';
import { MOST_MINUTES } from '../service/limits.js';
import type { StreamName } from '../service/streams.js';
import type { StreamRequest } from './extract-stream.js';
import type { Job } from './job.js';

/** Totals are asked for, because account defaults differ (service.md). */
const PAGED = { simple_paginate: false } as const;

/** What every pass over `/cars` asks for. */
export const CARS = { ...PAGED, prices_history: true } as const;

/** Minutes by which a window reaches back past the start of the last pass: clocks differ, and updates arrive late. */
const OVERLAP_MINUTES = 60;

/** The archive since the last pass over it that the lake holds, with an overlap; all of it where that is too long ago. */
export function archiveRequest(job: Job): StreamRequest {
  const elapsed = minutesSince(job, 'archived_lots');
  if (elapsed > MOST_MINUTES) return { kind: 'full', parameters: PAGED };
  return { kind: 'window', parameters: { ...PAGED, minutes: windowOf(elapsed) } };
}

/**
 * What changed in the feed since the last pass over it that the lake holds, with an overlap. Throws ConfigError where
 * no window reaches back so far.
 */
export function changesRequest(job: Job): StreamRequest {
  const { sources } = job.config;
  const elapsed = minutesSince(job, 'cars', sources);
  if (elapsed === Number.POSITIVE_INFINITY)
    throw new ConfigError(
      `there is no full pass to add changes to${sources === undefined ? '' : ` for each of the sources ${sources.join(', ')}`}`,
      'a full pass is due: lotlake run nightly',
    );
  if (elapsed > MOST_MINUTES) {
    const since = `the last pass over /cars began ${(elapsed / 1440).toFixed(1)} days ago`;
    throw new ConfigError(
      `${since}, and the service tells the changes of ${MOST_MINUTES / 1440} days only`,
      'a full pass is due: lotlake run nightly',
    );
  }
  return { kind: 'window', parameters: { ...CARS, minutes: windowOf(elapsed) }, sources };
}

const windowOf = (elapsed: number): number => Math.min(Math.ceil(elapsed) + OVERLAP_MINUTES, MOST_MINUTES);

/**
 * Minutes since the start of the last whole pass over a stream that the lake holds, infinite where there is none; of some
 * of its sources, since the earliest of their last ones.
 */
export function minutesSince(job: Job, stream: StreamName, sources?: readonly number[]): number {
  const last = job.base?.manifest.last_pass_at ?? {};
  const startOf = (name: string): number => Date.parse(last[name] ?? '') || Number.NEGATIVE_INFINITY;
  const overAll = startOf(stream);
  const starts = sources?.map((source) => Math.max(overAll, startOf(streamOf(stream, source)))) ?? [overAll];
  return (job.now().getTime() - Math.min(...starts)) / 60_000;
}

type PassTimes = Manifest['last_pass_at'];

/** Starts of the whole passes that a state holds, after the passes of one night: what a window has to reach back to. */
export function passTimes(base: BaseState | undefined, passes: readonly LoadedPass[]): PassTimes {
  const walked = passes.map(({ manifest }) => manifest).filter(({ kind }) => kind !== 'lookup');
  const merged = walked.flatMap(({ stream, sources, complete, started_at }) => {
    if (sources === null) return complete ? [[stream, started_at]] : [];
    return sources.map((source) => [streamOf(stream, source), started_at]);
  });
  return { ...base?.manifest.last_pass_at, ...Object.fromEntries(merged) };
}

/** The later start of each of two: what a rebuild replays is older than what the snapshot that it carries over knew. */
export function laterTimes(replayed: PassTimes, known: PassTimes | undefined): PassTimes {
  const latest = { ...replayed };
  for (const [name, at] of Object.entries(known ?? {})) if (at > (latest[name] ?? '')) latest[name] = at;
  return latest;
}

/** What a manifest calls the part of a stream that is of one source. */
const streamOf = (stream: StreamName, source: number): string => `${stream}:${source}`;
