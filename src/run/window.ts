import { ConfigError } from '../config/lotlake-error.js';
import type { BaseState } from '../lake/base.js';
import type { Manifest } from '../lake/manifest.js';
import type { LoadedPass } from '../load/loader.js';
import { MOST_MINUTES } from '../service/limits.js';
import type { StreamName } from '../service/streams.js';
import type { StreamRequest } from './extract-stream.js';
import type { Job } from './job.js';

/** Requests totals explicitly, because account defaults differ (service.md). */
const PAGED = { simple_paginate: false } as const;

/** Parameters of every pass over `/cars`. */
export const CARS = { ...PAGED, prices_history: true } as const;

/** Minutes by which a window starts before the last pass did: clocks differ, and updates arrive late. */
const OVERLAP_MINUTES = 60;

/** Requests the archive since the last archive pass in the lake, with an overlap; the whole archive if that is too long ago. */
export function archiveRequest(job: Job): StreamRequest {
  const elapsed = minutesSince(job, 'archived_lots');
  if (elapsed > MOST_MINUTES) return { kind: 'full', parameters: PAGED };
  return { kind: 'window', parameters: { ...PAGED, minutes: windowOf(elapsed) } };
}

/**
 * Requests what changed in the feed since the last feed pass in the lake, with an overlap. Throws ConfigError if no window
 * reaches back that far.
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
  const minutes = windowOf(elapsed);
  const detail = `cars, the last ${minutes} minutes`;
  return { kind: 'window', parameters: { ...CARS, minutes }, sources, detail };
}

const windowOf = (elapsed: number): number => Math.min(Math.ceil(elapsed) + OVERLAP_MINUTES, MOST_MINUTES);

/**
 * Minutes since the start of the last whole pass over a stream in the lake; infinite if there is none. With `sources`, each
 * of them has a last pass, and the earliest of these counts.
 */
export function minutesSince(job: Job, stream: StreamName, sources?: readonly number[]): number {
  const last = job.base?.manifest.last_pass_at ?? {};
  const startOf = (name: string): number => Date.parse(last[name] ?? '') || Number.NEGATIVE_INFINITY;
  const allSources = startOf(stream);
  const starts = sources?.map((source) => Math.max(allSources, startOf(streamOf(stream, source)))) ?? [
    allSources,
  ];
  return (job.now().getTime() - Math.min(...starts)) / 60_000;
}

type PassTimes = Manifest['last_pass_at'];

/** Starts of the last whole passes in a state, once the passes of one night are merged: the next window begins there. */
export function passTimes(base: BaseState | undefined, passes: readonly LoadedPass[]): PassTimes {
  const walked = passes.map(({ manifest }) => manifest).filter(({ kind }) => kind !== 'lookup');
  const merged = walked.flatMap(({ stream, sources, complete, started_at }) => {
    if (sources === null) return complete ? [[stream, started_at]] : [];
    return sources.map((source) => [streamOf(stream, source), started_at]);
  });
  return { ...base?.manifest.last_pass_at, ...Object.fromEntries(merged) };
}

/** The later start for each stream: a rebuild may replay older passes than the snapshot knew that it carries over. */
export function laterTimes(replayed: PassTimes, known: PassTimes | undefined): PassTimes {
  const latest = { ...replayed };
  for (const [name, at] of Object.entries(known ?? {})) if (at > (latest[name] ?? '')) latest[name] = at;
  return latest;
}

/** Key in a manifest for one source of a stream. */
const streamOf = (stream: StreamName, source: number): string => `${stream}:${source}`;
