import { setTimeout as sleep } from 'node:timers/promises';

/** One budget of requests for the whole process. */
export interface RateLimit {
  /** Resolves when the next request may be sent. */
  take(signal?: AbortSignal): Promise<void>;
  /** Lets nothing through before `until` (milliseconds of the clock). */
  pause(until: number): void;
}

/** How much longer than another a request may take to arrive, in milliseconds, without a second holding one too many. */
const JITTER = 100;

/**
 * Spaces requests evenly: at most `perSecond` in any second, never two at once, as the service counts them.
 * @param perSecond requests a second; undefined sets no limit
 */
export function createRateLimit(perSecond: number | undefined, now: () => number = Date.now): RateLimit {
  const interval = perSecond === undefined ? 0 : (1000 + JITTER) / perSecond;
  let next = 0;
  let blocked = 0;
  let turn: Promise<void> = Promise.resolve();
  /** Waits for the moment and counts on from the one at which it woke, since a timer may be late. */
  const pass = async (signal?: AbortSignal): Promise<void> => {
    for (let wait = Math.max(next, blocked) - now(); wait > 0; wait = Math.max(next, blocked) - now())
      await sleep(wait, undefined, signal === undefined ? {} : { signal });
    // Many requests within a millisecond are below what a timer can tell apart.
    next = (interval < 1 ? Math.max(next, now() - 1) : now()) + interval;
  };
  return {
    take(signal) {
      const mine = turn.then(() => pass(signal));
      turn = mine.catch(() => undefined);
      return mine;
    },
    pause(until) {
      blocked = Math.max(blocked, until);
    },
  };
}
