import { setTimeout as sleep } from 'node:timers/promises';

/** One budget of requests for the whole process. */
export interface RateLimit {
  /** Resolves when the next request may be sent. */
  take(signal?: AbortSignal): Promise<void>;
  /** Lets nothing through before `until` (milliseconds of the clock). */
  pause(until: number): void;
}

/**
 * Spaces requests evenly: at most `perSecond` a second, never two at once.
 * @param perSecond requests a second; undefined sets no limit
 */
export function createRateLimit(perSecond: number | undefined, now: () => number = Date.now): RateLimit {
  const interval = perSecond === undefined ? 0 : 1000 / perSecond;
  let next = 0;
  let blocked = 0;
  return {
    async take(signal) {
      for (;;) {
        const at = Math.max(next, blocked, now());
        if (blocked <= at) next = at + interval;
        const wait = at - now();
        if (wait <= 0) return;
        await sleep(wait, undefined, signal === undefined ? {} : { signal });
        if (blocked <= now()) return;
      }
    },
    pause(until) {
      blocked = Math.max(blocked, until);
    },
  };
}
