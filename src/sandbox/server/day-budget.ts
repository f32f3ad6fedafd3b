import { DAY, type Instant } from '../world/instants.js';

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
