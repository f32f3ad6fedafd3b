// One process of test/lake/lock.test.ts: `take-lock.mjs <lock.js> <lock> <go> <witness> once|many`. Begins when `go` appears.
import { existsSync, mkdirSync, renameSync, rmdirSync, symlinkSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [library, path, go, witness, mode] = process.argv.slice(2);
const { takeLock } = await import(pathToFileURL(library).href);
const stand = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Takes the lock and keeps it for a while; fails where another process holds it, too. */
function take(ms) {
  const release = takeLock(path, 'nightly', new Date());
  mkdirSync(witness);
  if (ms > 0) stand(ms);
  rmdirSync(witness);
  return release;
}

/** Takes the lock again and again for a second, and leaves it each time as a process that died with it would. */
function takeMany() {
  let taken = 0;
  for (const end = Date.now() + 1000; Date.now() < end; ) {
    try {
      take(0);
    } catch (error) {
      if (error.code !== 'LAKE_LOCKED') throw error;
      continue;
    }
    taken++;
    symlinkSync(
      JSON.stringify({ pid: 2 ** 22 + 1, pipeline: 'nightly', started_at: '' }),
      `${path}.${process.pid}`,
    );
    renameSync(`${path}.${process.pid}`, path);
  }
  return taken;
}

process.stdout.write('ready\n');
while (!existsSync(go)) stand(1);
if (mode === 'many') process.stdout.write(`${takeMany()}\n`);
else {
  try {
    const release = take(300);
    process.stdout.write('taken\n');
    release();
  } catch (error) {
    process.stdout.write(`${error.code} ${error.message}\n`);
  }
}
