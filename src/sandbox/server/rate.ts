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
