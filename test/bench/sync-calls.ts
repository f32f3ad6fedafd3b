import fs, { type PathLike, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before a night of `bench:sync`. If LOTLAKE_BENCH_SYNC is `off`, lotlake's own syncs do nothing; DuckDB still
 * syncs. Otherwise it prints on stderr, at the end, for how many seconds the night waited for at least one sync. Syncs
 * of the tables do not count, because they run beside the models until the manifest is written.
 */
const { fsync, openSync, writeFileSync } = fs;
const isOff = process.env.LOTLAKE_BENCH_SYNC === 'off';
const paths = new Map<number, string>();
let isSealed = false;
let underWay = 0;
let since = 0;
let waited = 0;
let calls = 0;

/** Notes the start of a sync. Returns a function that notes its end. */
function begin(path: string): () => void {
  calls++;
  if (!isSealed && path.includes('/snapshots/')) return () => undefined;
  if (underWay++ === 0) since = performance.now();
  return () => {
    if (--underWay === 0) waited += performance.now() - since;
  };
}

Object.assign(fs, {
  openSync: (path: PathLike, ...rest: [flags: string]) => {
    const file = openSync(path, ...rest);
    paths.set(file, String(path));
    return file;
  },
  fsync: (file: number, done: (error: Error | null) => void) => {
    if (isOff) return void setImmediate(done, null);
    const end = begin(paths.get(file) ?? '');
    fsync(file, (error) => {
      end();
      done(error);
    });
  },
  writeFileSync: (path: string, data: string, options?: { readonly flush?: boolean }) => {
    if (isOff || options?.flush !== true) return writeFileSync(path, data, { ...options, flush: false });
    if (path.includes('/snapshots/')) isSealed = true;
    const end = begin(path);
    writeFileSync(path, data, options);
    end();
  },
});
syncBuiltinESMExports();
process.on('exit', () => writeSync(2, `${JSON.stringify({ seconds: waited / 1000, calls })}\n`));
