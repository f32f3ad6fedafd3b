import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Loaded before a night of `bench:sync`: lotlake's own syncs do nothing. Those of DuckDB stay. */
const { writeFileSync } = fs;
Object.assign(fs, {
  fsync: (_file: number, done: (error: null) => void) => setImmediate(done, null),
  fsyncSync: () => undefined,
  writeFileSync: (path: string, data: string, options?: object) =>
    writeFileSync(path, data, { ...options, flush: false }),
});
syncBuiltinESMExports();
