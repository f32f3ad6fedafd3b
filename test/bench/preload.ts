import { writeFileSync } from 'node:fs';

/**
 * Loaded before the command line by `bench:real`. `new Date()` returns the moment of LOTLAKE_BENCH_CLOCK, so that lakes
 * made with different memory can be compared row by row. When the process ends, its peak memory and processor time go
 * to LOTLAKE_BENCH_USAGE.
 */
const { LOTLAKE_BENCH_CLOCK: clock, LOTLAKE_BENCH_USAGE: usage } = process.env;

if (clock !== undefined) {
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given, itself) =>
      Reflect.construct(target, given.length === 0 ? [clock] : given, itself),
  });
}

process.on('exit', () => {
  if (usage === undefined) return;
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const processor = (userCPUTime + systemCPUTime) / 1e6;
  writeFileSync(usage, JSON.stringify({ peak_bytes: maxRSS * 1024, processor_seconds: processor }));
});
