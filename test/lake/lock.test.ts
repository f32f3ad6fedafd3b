import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { holderAtWork, type LockOptions, placeOf, takeLock } from '../../src/core/job/lock.js';
import { temporaryFolder } from '../pipelines/support.js';

const LIBRARY = join(packageRoot, 'dist', 'src', 'core', 'job', 'lock.js');
const TAKER = join(packageRoot, 'test', 'lake', 'take-lock.mjs');

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'lotlake.lock');
});
afterEach(() => folder.remove());

/** The pid of a process that has ended. */
const deadPid = (): number => spawnSync('true').pid;
const lockOf = (holder: object): string =>
  JSON.stringify({
    place: placeOf(),
    pipeline: 'nightly',
    started_at: '2026-11-18T02:00:00.000Z',
    ...holder,
  });
const take = (options: Partial<LockOptions> = {}) =>
  takeLock(path, { pipeline: 'nightly', now: new Date('2026-11-18T02:00:00Z'), ...options });
const takeAndLetGo = async (options: Partial<LockOptions> = {}): Promise<void> =>
  (await take(options)).release();

/** Results of processes that all try to take the lock at the same moment. */
async function takeTogether(count: number, mode: 'once' | 'many'): Promise<string[]> {
  const go = join(folder.path, 'go');
  const witness = join(folder.path, 'witness');
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [TAKER, LIBRARY, path, go, witness, mode, ''], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const outputs: string[] = children.map(() => '');
  const ended = children.map(async (child): Promise<void> => {
    await once(child, 'close');
  });
  const ready = children.map(async ({ stdout }, i): Promise<void> => {
    stdout.on('data', (data) => {
      outputs[i] += String(data);
    });
    await Promise.race([once(stdout, 'data'), ended[i]]);
    expect(outputs[i], 'a process ended before it was ready').not.toBe('');
  });
  await Promise.all(ready);
  writeFileSync(go, '');
  await Promise.all(ended);
  rmSync(go);
  return outputs;
}

describe('a lock', () => {
  it('names its holder when it refuses another, and is gone after its release', async () => {
    const lock = await take();
    const holder = { pid: process.pid, pipeline: 'nightly', started_at: '2026-11-18T02:00:00.000Z' };
    expect(holderAtWork(path)).toMatchObject({ holder, runs: true });
    await expect(take({ pipeline: 'rebuild' })).rejects.toMatchObject({
      code: 'LAKE_LOCKED',
      outcome: 'locked',
      message: `${path} is held by process ${process.pid}, which runs nightly since 2026-11-18T02:00:00.000Z`,
    });
    lock.release();
    await takeAndLetGo({ pipeline: 'rebuild' });
    expect(holderAtWork(path)).toBeUndefined();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.for([
    { of: 'a process that is gone', holder: () => ({ pid: deadPid() }) },
    { of: 'a process whose pid another has now', holder: () => ({ pid: process.ppid, ticks: '1' }) },
    { of: 'an earlier process of our pid', holder: () => ({ pid: process.pid, ticks: '1' }) },
  ])('of $of is taken over at once', async ({ holder }) => {
    symlinkSync(lockOf(holder()), path);
    const lock = await take();
    expect(lock.isHeld()).toBe(true);
    lock.release();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.for([
    {
      of: 'a place whose processes cannot be seen',
      holder: () => ({ pid: process.pid, place: 'elsewhere', lease: 1 }),
    },
    {
      of: 'an earlier lotlake, whose process may be elsewhere',
      holder: () => ({ pid: deadPid(), place: undefined, lease: 1 }),
    },
  ])('of $of is taken over when it was not renewed for its lease, not before', async ({ holder }) => {
    symlinkSync(lockOf(holder()), path);
    const messages: string[] = [];
    const begun = performance.now();
    await takeAndLetGo({ onWait: (message) => messages.push(message) });
    expect(performance.now() - begun).toBeGreaterThan(990);
    expect(messages.join()).toMatch(/cannot be seen from here; waiting up to 1 s/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is taken over despite the claim of a dead process, but not against a live claim', async () => {
    const dead = lockOf({ pid: deadPid() });
    symlinkSync(dead, path);
    const claim = leaveClaim(lockOf({ pid: deadPid() }), dead);
    await takeAndLetGo();
    expect(readdirSync(folder.path)).toEqual([]);
    symlinkSync(dead, path);
    symlinkSync(lockOf({ pid: process.ppid }), claim);
    await expect(take({ signal: AbortSignal.timeout(300) })).rejects.toThrow(/timeout/);
    expect(readlinkSync(path)).toBe(dead);
  });

  it('that is an unreadable file is taken over after a lease', async () => {
    writeFileSync(path, '');
    await takeAndLetGo({ lease: 1 });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('that another process took is not released, and its former holder is notified', async () => {
    let isLost = false;
    const lock = await take({ lease: 1, onLost: () => (isLost = true) });
    rmSync(path);
    symlinkSync(lockOf({ pid: process.ppid }), path);
    expect(lock.isHeld()).toBe(false);
    await wait(400);
    expect(isLost).toBe(true);
    lock.release();
    expect(readlinkSync(path)).toContain(String(process.ppid));
  });
});

/** Leaves the claim that a process makes on a dead lock before it removes the lock. Returns the path of the claim. */
function leaveClaim(claimant: string, dead: string): string {
  const claim = `${path}.${createHash('sha256').update(dead).digest('hex').slice(0, 12)}.takeover`;
  symlinkSync(claimant, claim);
  return claim;
}

/** Whether this machine can start processes in another process namespace. */
const canUnshare = spawnSync('unshare', ['-pf', '--mount-proc', 'true']).status === 0;

describe.runIf(canUnshare)('a process in another namespace', () => {
  /** Holds the lock in another process namespace until it is killed. */
  async function holdElsewhere(lease: number): Promise<ChildProcess> {
    const go = join(folder.path, 'go');
    writeFileSync(go, '');
    const given = [LIBRARY, path, go, join(folder.path, 'witness'), 'keep', String(lease)];
    const child = spawn('unshare', [
      '-pf',
      '--kill-child',
      '--mount-proc',
      process.execPath,
      TAKER,
      ...given,
    ]);
    while (holderAtWork(path) === undefined) {
      expect(child.exitCode, 'the process ended before it held the lock').toBeNull();
      await wait(20);
    }
    return child;
  }

  it('keeps its lock as long as it renews it, and loses it one lease after it was killed', async () => {
    const child = await holdElsewhere(3);
    expect(holderAtWork(path)).toMatchObject({ holder: { pid: 1 }, runs: undefined });
    for (let i = 0; i < 3; i++)
      await expect(take()).rejects.toThrow(/is held by process 1, which runs nightly/);
    child.kill('SIGKILL');
    await once(child, 'close');
    const begun = performance.now();
    const lock = await take();
    expect(performance.now() - begun).toBeGreaterThan(2900);
    expect(lock.isHeld()).toBe(true);
    lock.release();
  });
});

describe('12 processes at once', () => {
  it('take over the lock of a killed process: one gets it, and the others learn its holder', async () => {
    for (let round = 0; round < 3; round++) {
      symlinkSync(lockOf({ pid: deadPid() }), path);
      const [winner, ...others] = (await takeTogether(12, 'once')).sort().reverse();
      expect(winner).toBe('ready\ntaken\n');
      for (const other of others)
        expect(other).toMatch(/^ready\nLAKE_LOCKED .* is held by process \d+, which runs nightly since 20/);
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  it('that take it over again and again never hold it at the same time', async () => {
    symlinkSync(lockOf({ pid: deadPid() }), path);
    const outputs = await takeTogether(12, 'many');
    const taken = outputs.map((text) => Number(/^ready\n(\d+)\n$/.exec(text)?.[1]));
    expect(taken.reduce((sum, times) => sum + times, 0)).toBeGreaterThan(20);
    expect(readdirSync(folder.path)).toEqual(['lotlake.lock']);
  });
});
