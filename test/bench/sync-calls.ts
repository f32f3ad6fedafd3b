import fs, { writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before a night of `bench:sync`. With LOTLAKE_BENCH_SYNC `off` lotlake's own syncs do nothing; those of DuckDB
 * stay. Otherwise it says on stderr, at the end, for how many seconds at least one was under way: more than the night
 * waits for them, since some go on beside other work.
 */
const { fsync, writeFileSync } = fs;
const isOff = process.env.LOTLAKE_BENCH_SYNC === 'off';
let underWay = 0;
let since = 0;
let total = 0;
let calls = 0;

function begin(): void {
  calls++;
  if (underWay++ === 0) since = performance.now();
}

function end(): void {
  if (--underWay === 0) total += performance.now() - since;
}

Object.assign(fs, {
  fsync: (file: number, done: (error: Error | null) => void) => {
    if (isOff) return void setImmediate(done, null);
    begin();
    fsync(file, (error) => {
      end();
      done(error);
    });
  },
  writeFileSync: (path: string, data: string, options?: { readonly flush?: boolean }) => {
    const isFlushed = !isOff && options?.flush === true;
    if (isFlushed) begin();
    writeFileSync(path, data, { ...options, flush: isFlushed });
    if (isFlushed) end();
  },
});
syncBuiltinESMExports();
process.on('exit', () => writeSync(2, `${JSON.stringify({ seconds: total / 1000, calls })}\n`));
