let lastMillisecond = 0;
let count = 0;

/**
 * The present instant as ISO 8601 with microseconds, later than every one given before: the microseconds count the
 * calls within a millisecond, so that the order of requests and answers can be read off.
 */
export function instant(): string {
  const now = Math.max(Date.now(), lastMillisecond);
  count = now === lastMillisecond ? count + 1 : 0;
  lastMillisecond = count > 999 ? now + 1 : now;
  if (count > 999) count = 0;
  return `${new Date(lastMillisecond).toISOString().slice(0, -1)}${String(count).padStart(3, '0')}Z`;
}
