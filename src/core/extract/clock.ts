import type { IncomingHttpHeaders } from 'node:http';

/** Seconds between the clocks of machine and service from which a warning is due, and past which a run is refused. */
export const SKEW = { warning: 120, refused: 3600 };

/** Smaller distances count as none: a `Date` has whole seconds, and an answer takes a while to come. */
const LEAST = 10;

/**
 * Seconds by which a clock is ahead of the service's, by the `Date` of an answer, and its `Age` if a cache gave the answer
 * (RFC 9110). Undefined if the answer has no `Date`.
 */
export function secondsAhead({ date, age }: IncomingHttpHeaders, now: Date): number | undefined {
  const theirs = Date.parse(String(date));
  if (Number.isNaN(theirs)) return undefined;
  const seconds = Math.round((now.getTime() - theirs) / 1000 - (Number(age) || 0));
  return Math.abs(seconds) < LEAST ? 0 : seconds;
}

/** Says how far a clock is ahead, such as `the clock of this machine is 3 hours behind the one of the service`. */
export function aheadText(ahead: number): string {
  const seconds = Math.abs(ahead);
  const units: readonly [most: number, seconds: number, name: string][] = [
    [120, 1, 's'],
    [7200, 60, 'minutes'],
    [172_800, 3600, 'hours'],
    [Number.POSITIVE_INFINITY, 86_400, 'days'],
  ];
  const [, unit = 1, name = 's'] = units.find(([most]) => seconds < most) ?? [];
  const size = `${Math.round(seconds / unit)} ${name}`;
  return `the clock of this machine is ${size} ${ahead < 0 ? 'behind' : 'ahead of'} the one of the service`;
}
