import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { isFailure } from './errors.js';

/** Milliseconds by which the travel times of requests may differ without too many of them arriving in a second. */
const JITTER = 100;

/**
 * The request budget of the whole process. It spaces requests evenly: the service counts at most `perSecond` in any second,
 * and never two at once.
 * @param perSecond requests a second; undefined sets no limit
 */
export function createRateLimit(perSecond: number | undefined, now: () => number = Date.now) {
  const interval = perSecond === undefined ? 0 : (1000 + JITTER) / perSecond;
  let next = 0;
  let blocked = 0;
  const oneAfterTheOther = pLimit(1);
  /** Waits for its turn. The next turn counts from the moment of waking, since a timer may be late. */
  const pass = async (signal?: AbortSignal): Promise<void> => {
    for (let wait = Math.max(next, blocked) - now(); wait > 0; wait = Math.max(next, blocked) - now())
      await sleep(wait, undefined, { signal });
    // A timer cannot tell apart requests within a millisecond.
    next = (interval < 1 ? Math.max(next, now() - 1) : now()) + interval;
  };
  return {
    /** Resolves when the next request may be sent. */
    take: (signal?: AbortSignal): Promise<void> => oneAfterTheOther(pass, signal),
    /** Lets nothing through before `until` (milliseconds of the clock). */
    pause(until: number): void {
      blocked = Math.max(blocked, until);
    },
  };
}

/** How work is retried. */
export interface RetryOptions {
  /** Seconds after the first failure at which no further attempt starts. */
  readonly budget: number;
  readonly signal?: AbortSignal | undefined;
  /** Most attempts that may fail. One that is refused as too early does not count. Default: as the budget allows. */
  readonly attempts?: number | undefined;
  /** Called before each wait. */
  readonly onRetry?: ((error: LotlakeError, attempt: number, wait: number) => void) | undefined;
  /** First wait in milliseconds. It doubles up to {@link LONGEST_WAIT}, with jitter. */
  readonly firstWait?: number | undefined;
  readonly random?: () => number;
  readonly now?: () => number;
}

/** Longest wait in milliseconds, unless the service asks for more. */
const LONGEST_WAIT = 60_000;

/** Milliseconds before an attempt: exponential with jitter, and never shorter than the service asked for. */
export function waitBefore(attempt: number, options: RetryOptions, retryAfter = 0): number {
  const { firstWait = 500, random = Math.random } = options;
  const ceiling = Math.min(LONGEST_WAIT, firstWait * 2 ** (attempt - 1));
  return Math.max(ceiling * (0.5 + 0.5 * random()), retryAfter);
}

/** Runs `work`, and again after each retryable failure. Throws the last failure when the budget ends. */
export async function withRetry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const now = options.now ?? Date.now;
  let deadline: number | undefined;
  let left = options.attempts ?? Number.POSITIVE_INFINITY;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LotlakeError) || !error.retryable || options.signal?.aborted) throw error;
      if (!isFailure(error, 'SERVICE_RATE_LIMITED')) left--;
      if (left <= 0) throw error;
      deadline ??= now() + options.budget * 1000;
      const wait = waitBefore(attempt, options, error.retryAfter);
      if (now() + wait > deadline) throw error;
      options.onRetry?.(error, attempt, wait);
      await sleep(wait, undefined, { signal: options.signal });
    }
  }
}

/** Milliseconds that a `Retry-After` header asks for, in seconds or as an HTTP date; undefined if it says neither. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
