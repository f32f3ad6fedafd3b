import { setTimeout as sleep } from 'node:timers/promises';
import { LotlakeError } from '../config/lotlake-error.js';

/** How long one piece of work is tried again. */
export interface RetryOptions {
  /** Seconds after the first failure at which no further attempt starts. */
  readonly budget: number;
  readonly signal?: AbortSignal;
  /** Called before each wait. */
  readonly onRetry?: (error: LotlakeError, attempt: number, wait: number) => void;
  /** First and longest wait in milliseconds; the wait doubles in between. */
  readonly firstWait?: number;
  readonly longestWait?: number;
  readonly random?: () => number;
  readonly now?: () => number;
}

/** Errors may carry how long the service asked to wait, in milliseconds. */
function askedWait(error: LotlakeError): number | undefined {
  const value: unknown = Reflect.get(error, 'retryAfter');
  return typeof value === 'number' ? value : undefined;
}

/** The wait before an attempt: exponential with full jitter, never shorter than the service asked for. */
export function waitBefore(attempt: number, options: RetryOptions, asked: number | undefined): number {
  const first = options.firstWait ?? 500;
  const longest = options.longestWait ?? 60_000;
  const ceiling = Math.min(longest, first * 2 ** (attempt - 1));
  const jittered = ceiling * (0.5 + 0.5 * (options.random ?? Math.random)());
  return Math.max(jittered, asked ?? 0);
}

/**
 * Runs `work`, and again after a retryable failure until the budget ends; then throws the last failure.
 * @param work one attempt; its number starts at 1
 */
export async function withRetry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const now = options.now ?? Date.now;
  let deadline: number | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!(error instanceof LotlakeError) || !error.retryable || options.signal?.aborted) throw error;
      deadline ??= now() + options.budget * 1000;
      const wait = waitBefore(attempt, options, askedWait(error));
      if (now() + wait > deadline) throw error;
      options.onRetry?.(error, attempt, wait);
      await sleep(wait, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  }
}

/** Milliseconds that a `Retry-After` header asks for: seconds or an HTTP date; undefined where it says nothing. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
