import type { IncomingHttpHeaders } from 'node:http';

/** Seconds between the clocks of machine and service from which a warning is due, and past which a run is refused. */
export const SKEW = { warning: 120, refused: 3600 };

/** Smaller distances count as none: a `Date` has whole seconds, and an answer takes a while to come. */
const LEAST = 10;

/**
 * Seconds by which a clock is ahead of the service's, by the `Date` of an answer, and its `Age` if a cache gave the answer
 * (RFC 9110). Undefined if the answer has no `Date`.
 */
function secondsAhead({ date, age }: IncomingHttpHeaders, now: Date): number | undefined {
  const theirs = Date.parse(String(date));
  if (Number.isNaN(theirs)) return undefined;
  const seconds = Math.round((now.getTime() - theirs) / 1000 - (Number(age) || 0));
  return Math.abs(seconds) < LEAST ? 0 : seconds;
}

/** An answer whose `Date` is far from this clock. */
interface Far {
  readonly seconds: number;
  readonly date: string;
  readonly at: number;
}

/** Most answers that are kept to be compared with later ones. */
const MOST_KEPT = 8;

/** What the answers tell about the clock of this machine. */
export interface Comparison {
  /** Seconds by which it is ahead, as far as answers agree on it; undefined until they do. */
  readonly ahead: number | undefined;
  /** Whether answers told other times than this clock, and none agrees with another. */
  readonly isUnsure: boolean;
  /** Takes the headers of an answer. Returns the seconds by which the clock is ahead of it alone, as `secondsAhead` does. */
  hear(headers: IncomingHttpHeaders, now: Date): number | undefined;
}

/**
 * Compares the clock of this machine with the answers of the service. One answer that is far off proves nothing: a cache
 * may have kept it without an `Age`. A wrong clock is off by the same distance in every answer, and the `Date` of a live
 * answer moves on. So a large distance counts once two answers agree on it. A cache makes an answer older and never newer:
 * the newest `Date` wins.
 */
export function compareClocks(): Comparison {
  let ahead: number | undefined;
  const kept: Far[] = [];
  return {
    get ahead() {
      return ahead;
    },
    get isUnsure() {
      return ahead === undefined && kept.length > 0;
    },
    hear(headers, now) {
      const seconds = secondsAhead(headers, now);
      if (seconds === undefined) return undefined;
      if (Math.abs(seconds) < SKEW.warning) {
        if (ahead === undefined || seconds < ahead) ahead = seconds;
      } else if (ahead === undefined) {
        const far = { seconds, date: String(headers.date), at: now.getTime() };
        const same = kept.find((other) => agree(other, far));
        if (same !== undefined) ahead = Math.min(same.seconds, seconds);
        else kept.splice(0, kept.length, ...[...kept, far].slice(-MOST_KEPT));
      }
      return seconds;
    },
  };
}

/** Whether two answers show the same distance, and the second is not the first one again. */
const agree = (one: Far, other: Far): boolean =>
  Math.abs(one.seconds - other.seconds) < LEAST && (one.date !== other.date || other.at - one.at < 1000);

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
