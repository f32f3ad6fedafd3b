// One process of test/lake/lock.test.ts: `take-lock.mjs <lock.js> <lock> <go> <witness> once|many <lease>`. Begins when
// `go` appears.
import { existsSync, mkdirSync, readlinkSync, renameSync, rmdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [library, path, go, witness, mode, lease] = process.argv.slice(2);
const { takeLock } = await import(pathToFileURL(library).href);
const { own } = await import(new URL('../../base/config/owned.js', pathToFileURL(library)).href);
own(dirname(path));
const taken = () =>
  takeLock(path, { pipeline: 'nightly', now: new Date(), ...(lease ? { lease: Number(lease) } : {}) });

/** Takes the lock and keeps it for a while; fails where another process holds it, too. */
async function take(ms) {
  const lock = await taken();
  mkdirSync(witness);
  if (ms > 0) await wait(ms);
  rmdirSync(witness);
  return lock;
}

/** Takes the lock again and again for a second, and leaves it each time as a process that died with it would. */
async function takeMany() {
  let count = 0;
  for (const end = Date.now() + 1000; Date.now() < end; ) {
    try {
      await take(0);
    } catch (error) {
      if (error.code !== 'LAKE_LOCKED') throw error;
      continue;
    }
    count++;
    const holder = JSON.parse(readlinkSync(path));
    symlinkSync(
      JSON.stringify({ ...holder, token: `${process.pid}-${count}`, pid: 2 ** 22 + 1 }),
      `${path}.${process.pid}`,
    );
    renameSync(`${path}.${process.pid}`, path);
  }
  return count;
}

process.stdout.write('ready\n');
while (!existsSync(go)) await wait(1);
if (mode === 'many') process.stdout.write(`${await takeMany()}\n`);
else {
  try {
    const lock = await take(mode === 'keep' ? 600_000 : 300);
    process.stdout.write('taken\n');
    lock.release();
  } catch (error) {
    process.stdout.write(`${error.code} ${error.message}\n`);
  }
}
// A lock that was left as a dead process leaves it is still renewed by nobody.
process.exit();
