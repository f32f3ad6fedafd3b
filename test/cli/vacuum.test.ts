import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { takeLock } from '../../src/core/job/lock.js';
import { listSnapshots } from '../../src/core/lake/snapshots.js';
import { expectSameLake, type PlainRow, readLake } from '../pipelines/support.js';
import { fileOf, threeNights } from './three-nights.js';

const { folder, lastNight, layout, lotlake, snapshots } = threeNights();

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Bytes of all files below a folder. A file with several names counts once. */
function diskUse(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = new Map(
    files.map((entry) => {
      const { ino, size } = statSync(join(entry.parentPath, entry.name));
      return [ino, size];
    }),
  );
  return sum([...sizes.values()]);
}

describe('lotlake vacuum', () => {
  let before: Map<string, PlainRow[]>;

  it('is refused while a run is at work, and names the run', async () => {
    const { release } = await takeLock(layout.lock, { pipeline: 'nightly', now: new Date() });
    const { code, err } = lotlake('vacuum', '--dry-run');
    release();
    expect(code).toBe(6);
    expect(err).toMatch(
      new RegExp(`held by process ${process.pid}, which runs nightly since .* \\[LAKE_LOCKED\\]`),
    );
  });

  it('is refused, with nothing removed, if the current snapshot lacks a file', () => {
    const file = join(layout.current, fileOf(layout.current, 'titles'));
    renameSync(file, `${file}.away`);
    const { code, err } = lotlake('vacuum');
    renameSync(`${file}.away`, file);
    expect(code).toBe(5);
    expect(err).toMatch(/titles.*no file instead of .*\[LAKE_UNSOUND\]/);
    expect(listSnapshots(layout).length).toBe(4);
  });

  it('removes what its dry run lists, and frees as much as it says', async () => {
    before = await readLake(layout.current);
    writeFileSync(
      join(folder.path, 'lotlake.config.json'),
      '{"keepSnapshots": 2, "keepDays": 0, "keepPasses": {"cars": 2}}',
    );
    writeFileSync(join(layout.lake, 'current.1.tmp'), 'left');
    const dry = JSON.parse(lotlake('vacuum', '--dry-run', '--json').out);
    expect(dry.removals.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'leftover',
      'pass',
      'snapshot',
      'snapshot',
    ]);
    const lines = lotlake('vacuum', '--dry-run').out.split('\n');
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('│ landing/cars/'))).toEqual([
      expect.stringMatching(/before the oldest complete pass kept +│$/),
    ]);
    const used = diskUse(folder.path);
    expect(existsSync(join(layout.lake, 'current.1.tmp'))).toBe(true);
    const done = JSON.parse(lotlake('vacuum', '--json').out);
    expect(done).toEqual({ ...dry, dry_run: false });
    expect(used - diskUse(folder.path)).toBe(done.freed);
    expect(done.freed).toBeLessThan(sum(done.removals.map(({ bytes }: { bytes: number }) => bytes)));
    expect(listSnapshots(layout).map(({ id }) => id)).toEqual(snapshots.slice(-2).map(({ id }) => id));
    expect(lotlake('vacuum').out).toContain('nothing to remove');
    expect(lotlake('verify').code).toBe(0);
  });

  it('leaves a landing from which a rebuild gives every row unchanged', async () => {
    expect(readdirSync(join(layout.landing, 'cars')).length).toBe(3);
    await rebuild(lastNight());
    expectSameLake(await readLake(layout.current), before);
    expect(lotlake('verify').code).toBe(0);
  });
});
