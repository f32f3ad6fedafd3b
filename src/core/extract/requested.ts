import { ConfigError } from '../../base/config/lotlake-error.js';
import type { Job } from '../job/job.js';
import { streamOf } from '../lake/manifest.js';
import { SKEW } from '../service/compare-clocks.js';
import { MOST_MINUTES } from '../service/limits.js';
import type { StreamName } from '../service/streams.js';
import { askTime } from './probe.js';
import type { StreamRequest } from './stage.js';

/** Requests totals explicitly, because account defaults differ (service.md#filters). */
const PAGED = { simple_paginate: false } as const;

/** Parameters of every pass over `/cars`. */
export const CARS = { ...PAGED, prices_history: true } as const;

/** Minutes by which a window starts before the last pass did: clocks differ, and updates arrive late. */
const OVERLAP_MINUTES = SKEW.refused / 60;

/**
 * Requests the archive since the last archive pass in the lake, with an overlap; the whole archive if that is too long
 * ago, or in the future.
 */
export async function archiveRequest(job: Job): Promise<StreamRequest> {
  await askTime(job);
  const elapsed = minutesSince(job, 'archived_lots');
  if (elapsed > MOST_MINUTES) return { kind: 'full', parameters: PAGED };
  return { kind: 'window', parameters: { ...PAGED, minutes: windowOf(elapsed) } };
}

/**
 * Requests what changed in the feed since the last feed pass in the lake, with an overlap; the whole feed if that pass
 * is in the future. Throws ConfigError if there is none, or no window reaches back that far.
 */
export async function changesRequest(job: Job): Promise<StreamRequest> {
  const { sources } = job.config;
  const last = lastStart(job, 'cars', sources);
  if (last === undefined)
    throw new ConfigError(
      `there is no full pass to add changes to${sources === undefined ? '' : ` for each of the sources ${sources.join(', ')}`}`,
      'a full pass is due: lotlake run nightly',
    );
  await askTime(job);
  if (isAhead(job, last)) {
    job.reporter.warn(
      `the last pass over /cars in the lake began at ${new Date(last).toISOString()}, which is in the future, by a clock that was wrong: this run reads the whole feed`,
    );
    return { kind: 'full', parameters: CARS, sources };
  }
  const elapsed = minutesSince(job, 'cars', sources);
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
 * Minutes since the start of the last whole pass over a stream in the lake, as {@link lastStart} has it; infinite if
 * there is none. A pass in the future had a wrong clock and says nothing: infinite, too.
 */
export function minutesSince(job: Job, stream: StreamName, sources?: readonly number[]): number {
  const last = lastStart(job, stream, sources);
  if (last === undefined || isAhead(job, last)) return Number.POSITIVE_INFINITY;
  return (job.now().getTime() - last) / 60_000;
}

/**
 * Start of the last whole pass over a stream in the lake, in milliseconds; undefined if there is none. With `sources`,
 * each of them has a last pass, and the earliest of these counts.
 */
function lastStart(
  { base }: Pick<Job, 'base'>,
  stream: StreamName,
  sources?: readonly number[],
): number | undefined {
  const last = base?.manifest.last_pass_at ?? {};
  const startOf = (name: string): number => Date.parse(last[name] ?? '') || Number.NEGATIVE_INFINITY;
  const allSources = startOf(stream);
  const starts = sources?.map((source) => Math.max(allSources, startOf(streamOf(stream, source)))) ?? [
    allSources,
  ];
  const earliest = Math.min(...starts);
  return earliest === Number.NEGATIVE_INFINITY ? undefined : earliest;
}

/** Whether a last pass began after this moment. A window has whole minutes, so less than one is not ahead. */
const isAhead = ({ now }: Pick<Job, 'now'>, start: number): boolean => start - now().getTime() >= 60_000;
