import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.js';
import { liveHolder, takeLock } from '../../src/lake/lock.js';
import { temporaryFolder } from '../pipelines/support.js';

const LIBRARY = join(packageRoot, 'dist', 'src', 'lake', 'lock.js');
const TAKER = join(packageRoot, 'test', 'lake', 'take-lock.mjs');

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'lotlake.lock');
});
afterEach(() => folder.remove());

/** A pid that no process has any more. */
const deadPid = (): number => spawnSync('true').pid;
const lockOf = (holder: object): string =>
  JSON.stringify({ pipeline: 'nightly', started_at: '2026-11-18T02:00:00.000Z', ...holder });

/** What processes say that each try to take the lock in the same moment. */
async function takeTogether(count: number, mode: 'once' | 'many'): Promise<string[]> {
  const go = join(folder.path, 'go');
  const witness = join(folder.path, 'witness');
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [TAKER, LIBRARY, path, go, witness, mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const said: string[] = children.map(() => '');
  const ended = children.map(async (child): Promise<void> => {
    await once(child, 'close');
  });
  const ready = children.map(async ({ stdout }, i): Promise<void> => {
    stdout.on('data', (data) => {
      said[i] += String(data);
    });
    await once(stdout, 'data');
  });
  await Promise.all(ready);
  writeFileSync(go, '');
  await Promise.all(ended);
  rmSync(go);
  return said;
}

describe('a lock', () => {
  it('names its holder to whoever is refused, and is gone when it is let go', () => {
    const release = takeLock(path, 'nightly', new Date('2026-11-18T02:00:00Z'));
    const holder = { pid: process.pid, pipeline: 'nightly', started_at: '2026-11-18T02:00:00.000Z' };
    expect(liveHolder(path)).toMatchObject(holder);
    expect(() => takeLock(path, 'rebuild', new Date())).toThrow(
      `${path} is held by process ${process.pid}, which runs nightly since 2026-11-18T02:00:00.000Z`,
    );
    release();
    takeLock(path, 'rebuild', new Date())();
    expect(liveHolder(path)).toBeUndefined();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.for([
    { of: 'a process that is gone', holder: () => ({ pid: deadPid() }) },
    { of: 'a process whose pid another has now', holder: () => ({ pid: process.ppid, ticks: '1' }) },
    { of: 'an earlier process of our pid', holder: () => ({ pid: process.pid, ticks: '1' }) },
  ])('of $of is taken over', ({ holder }) => {
    symlinkSync(lockOf(holder()), path);
    takeLock(path, 'nightly', new Date())();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('that is a file with nothing readable in it is taken over', () => {
    writeFileSync(path, '');
    takeLock(path, 'nightly', new Date())();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is taken over past the announcement of a process that died as it took over, not past a live one', () => {
    const dead = lockOf({ pid: deadPid() });
    symlinkSync(dead, path);
    const gate = `${path}.${deadPid()}.7.takeover`;
    writeFileSync(gate, '');
    takeLock(path, 'nightly', new Date())();
    symlinkSync(dead, path);
    rmSync(gate);
    writeFileSync(`${path}.${process.ppid}..takeover`, '');
    expect(() => takeLock(path, 'nightly', new Date())).toThrow(/cannot be taken/);
    expect(readlinkSync(path)).toBe(dead);
  });
});

describe('12 processes at once', () => {
  it('take over the lock of a process that was killed: one gets it, the others are told which', async () => {
    for (let round = 0; round < 3; round++) {
      symlinkSync(lockOf({ pid: deadPid() }), path);
      const [winner, ...others] = (await takeTogether(12, 'once')).sort().reverse();
      expect(winner).toBe('ready\ntaken\n');
      for (const other of others)
        expect(other).toMatch(/^ready\nLAKE_LOCKED .* is held by process \d+, which runs nightly since 20/);
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  it('that take it over again and again never hold it together', async () => {
    symlinkSync(lockOf({ pid: deadPid() }), path);
    const said = await takeTogether(12, 'many');
    const taken = said.map((text) => Number(/^ready\n(\d+)\n$/.exec(text)?.[1]));
    expect(taken.reduce((sum, times) => sum + times, 0)).toBeGreaterThan(20);
    expect(readdirSync(folder.path)).toEqual(['lotlake.lock']);
  });
});
