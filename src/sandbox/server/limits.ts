import type { Plan } from '../../service/limits.js';
import { DAY, type Instant } from '../world/instants.js';

/** Requests a day of a plan; null for no limit. A demo key has 100 to 150 (field-notes.md). */
export const requestsPerDay: Readonly<Record<Plan, number | null>> = {
  demo: 120,
  small: null,
  unlimited: null,
};

/** Continuation requests of one scroll: enough for a full pass at the smallest usual page. */
export const SCROLL_REQUESTS = 5_000;

/** A budget of requests a second over a sliding window; null for no limit. The answer says whether one more may pass. */
export function rateBudget(rate: number | null, now: () => number = () => performance.now()): () => boolean {
  if (rate === null) return () => true;
  const windowMs = Math.max(1000, 1000 / rate);
  const allowed = Math.max(1, Math.floor(rate * (windowMs / 1000)));
  let passed: number[] = [];
  return () => {
    const since = now() - windowMs;
    passed = passed.filter((at) => at > since);
    if (passed.length >= allowed) return false;
    passed.push(now());
    return true;
  };
}

/**
 * A budget of requests a calendar day (UTC); null for no limit. The answer is null while there is some left, else the
 * seconds until the next day.
 */
export function dayBudget(perDay: number | null, now: () => Instant): () => number | null {
  let day = Number.NaN;
  let used = 0;
  return () => {
    const today = Math.floor(now() / DAY);
    if (today !== day) [day, used] = [today, 0];
    used += 1;
    return perDay === null || used <= perDay ? null : Math.ceil(((today + 1) * DAY - now()) / 1000);
  };
}
