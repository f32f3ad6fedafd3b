import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { takeLock } from '../../src/core/job/lock.js';
import { readRuns, unresolvedRuns } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listSnapshots } from '../../src/core/lake/snapshots.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import {
  bareDuckDb,
  configFor,
  expectSameLake,
  readLake,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';
import { CLI, runLotlake } from './support.js';

const START = Date.parse('2026-11-18T02:00:00Z');
const NIGHT = 36 * 3_600_000;
const folder = temporaryFolder();
const original = join(folder.path, 'lake');
const copy = join(folder.path, 'backups', 'first');
let sandbox: Sandbox;

const jobAt = (output: string, time: number) => {
  sandbox.setClock(new Date(time));
  const config = configFor(sandbox.url, output, { referenceDays: 1000 });
  return { config, reporter: silentReporter(), now: () => new Date(time) };
};
const backup = (...args: string[]) => runLotlake(original, 'backup', ...args);

/** Paths below a folder, each with the first path that names the same file. */
function namesIn(output: string): Map<string, string> {
  const first = new Map<number, string>();
  const names = new Map<string, string>();
  const entries = readdirSync(output, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of entries) {
    const { ino } = lstatSync(path);
    const name = relative(output, path);
    if (!first.has(ino)) first.set(ino, name);
    names.set(name, first.get(ino) ?? '');
  }
  return names;
}

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 60, seed: 1, clock: new Date(START), faults: WITHOUT_CATALOG });
  for (const night of [0, 1, 2]) await nightly(jobAt(original, START + night * NIGHT));
  // Files that dead runs and readers leave behind, and files that people keep beside the lake.
  mkdirSync(join(original, 'work', 'dead'), { recursive: true });
  mkdirSync(join(original, 'lake', 'snapshots', '20261101T000000Z-dead00', 'lots'), { recursive: true });
  writeFileSync(join(original, 'lake', 'current.1.tmp'), '');
  writeFileSync(join(original, 'notes.md'), 'mine');
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

describe('lotlake backup', () => {
  it('is refused while a run is at work, and names the run', async () => {
    const { release } = await takeLock(layoutOf(original).lock, { pipeline: 'nightly', now: new Date() });
    const { code, err } = backup('--to', copy);
    release();
    expect(code).toBe(6);
    expect(err).toMatch(/runs nightly since .* \[LAKE_LOCKED\]/);
    expect(existsSync(join(folder.path, 'backups'))).toBe(false);
  });

  it('is refused, and writes nothing, if the target exists', () => {
    const foreign = join(folder.path, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'thesis.txt'), '');
    for (const [to, ...more] of [
      [foreign],
      [foreign, '--force'],
      [original, '--force'],
      [join(original, 'copy')],
      [folder.path, '--force'],
    ]) {
      const { code, err } = backup('--to', String(to), ...more);
      expect(code, err).toBe(2);
      expect(err).toContain('LAKE_BACKUP_EXISTS');
    }
    expect(readdirSync(foreign)).toEqual(['thesis.txt']);
    expect(readdirSync(folder.path).sort()).toEqual(['foreign', 'lake']);
  });

  it('copies everything but scratch space, keeps links between snapshots, and prints sizes and the path', () => {
    const { code, out, err } = backup('--to', copy, '--json');
    expect(code, err).toBe(0);
    const made = JSON.parse(out);
    const names = namesIn(copy);
    const expected = namesIn(original);
    // The notes say which lake this is; the copy is another one.
    for (const name of ['lake/current.1.tmp', 'lake/.lake.json', 'landing/.lake.json']) expected.delete(name);
    expect(new Map([...names].filter(([name]) => name !== 'backup.json'))).toEqual(expected);
    const links = [...names].filter(([name, first]) => name !== first);
    expect(links.length).toBeGreaterThan(50);
    expect(made).toMatchObject({
      path: copy,
      from: original,
      snapshots: 3,
      links: links.length,
      files: expected.size,
      left_out: ['20261101T000000Z-dead00'],
    });
    const bytes = [...new Set(expected.values())].map((name) => statSync(join(original, name)).size);
    expect(made.bytes).toBe(bytes.reduce((sum, size) => sum + size, 0));
    expect(JSON.parse(readFileSync(join(copy, 'backup.json'), 'utf8'))).toEqual(made);
    expect(readlinkSync(join(copy, 'lake', 'current'))).toBe(readlinkSync(join(original, 'lake', 'current')));
    expect(readdirSync(join(folder.path, 'backups'))).toEqual(['first']);
    expect(readdirSync(copy)).not.toContain('work');
    expect(readdirSync(original)).not.toContain('lotlake.lock');
  });

  it('shares no file with the lake', () => {
    const inodes = new Set([...namesIn(original).keys()].map((name) => statSync(join(original, name)).ino));
    const shared = [...namesIn(copy).keys()].filter((name) => inodes.has(statSync(join(copy, name)).ino));
    expect(shared).toEqual([]);
  });

  it('replaces an earlier backup only with --force', () => {
    expect(backup('--to', copy).err).toContain('LAKE_BACKUP_EXISTS');
    writeFileSync(join(copy, 'old'), '');
    expect(backup('--to', copy, '--force').err).toContain('holds old, which no backup made');
    rmSync(join(copy, 'old'));
    const { code, out, err } = backup('--to', copy, '--force');
    expect(code, err).toBe(0);
    expect(out).toMatch(/files \(.* further names of the others\), .* MB, 3 snapshots; current: \S+\n/);
    expect(out).toContain('left out, never finished or not sound: 20261101T000000Z-dead00');
    expect(out).toContain(`sound, in ${copy}`);
    expect(readdirSync(join(folder.path, 'backups'))).toEqual(['first']);
  });

  it.each(['backup.file-copied#40', 'backup.copied', 'backup.checked'])(
    'killed at %s leaves only what the next one removes',
    (point) => {
      const env = { ...process.env, LOTLAKE_OUTPUT: original, LOTLAKE_KILL_AT: point };
      const killed = spawnSync(process.execPath, [CLI, 'backup', '--to', `${copy}-killed`], { env });
      expect(killed.signal).toBe('SIGKILL');
      expect(readdirSync(join(folder.path, 'backups')).filter((name) => name.startsWith('.'))).toHaveLength(
        1,
      );
      expect(existsSync(`${copy}-killed`)).toBe(false);
      // A killed backup is not a failed run.
      expect(unresolvedRuns(readRuns(layoutOf(original)))).toEqual([]);
      const { code, err } = backup('--to', `${copy}-second`);
      expect(code, err).toBe(0);
      expect(readdirSync(join(folder.path, 'backups')).sort()).toEqual(['first', 'first-second']);
      rmSync(`${copy}-second`, { recursive: true });
    },
  );

  it('leaves out a damaged older snapshot, and fails if the current one is damaged', () => {
    const broken = join(folder.path, 'broken');
    cpSync(copy, broken, { recursive: true, verbatimSymlinks: true });
    const [first, , current] = listSnapshots(layoutOf(broken));
    const marts = (snapshot: string) => join(snapshot, 'sales', 'data_0.parquet');
    truncateSync(marts(first?.folder ?? ''), 100);
    const { code, out, err } = runLotlake(broken, 'backup', '--to', `${broken}-copy`, '--json');
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ snapshots: 2, left_out: [first?.id] });
    const bytes = readFileSync(marts(current?.folder ?? ''));
    bytes[30] = (bytes[30] ?? 0) ^ 1;
    writeFileSync(marts(current?.folder ?? ''), bytes);
    const held = runLotlake(broken, 'backup', '--to', `${broken}-again`);
    expect(held.code).toBe(5);
    expect(held.err).toMatch(/sales\/data_0\.parquet.* \[LAKE_UNSOUND\]/);
    expect(readdirSync(folder.path).filter((name) => name.includes('again'))).toEqual([]);
  });
});

describe('a backup, when the lake is gone', () => {
  it('passes verify, can be queried through its views, and continues with the next night', async () => {
    const before = await readLake(layoutOf(original).current);
    rmSync(original, { recursive: true });
    const snapshots = listSnapshots(layoutOf(copy));
    expect(snapshots).toHaveLength(3);
    const duck = await bareDuckDb();
    for (const { id, folder: snapshot } of snapshots) {
      await duck.query(`attach '${join(snapshot, 'warehouse.duckdb')}' as w (read_only)`);
      const [lots] = await duck.query('select count(*) as n from w.lots');
      expect(lots?.n, id).toBeGreaterThan(0);
      await duck.query('detach w');
    }
    duck.close();
    const { code, out, err } = runLotlake(copy, 'verify', '--json');
    expect(code, out + err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ sound: true, problems: [] });
    const answer = runLotlake(copy, 'query', 'select count(*) as n from lots', '--json');
    expect(JSON.parse(answer.out)).toEqual([{ n: before.get('lots')?.length }]);
    await rebuild(jobAt(copy, START + 2 * NIGHT));
    expectSameLake(await readLake(layoutOf(copy).current), before);
    await nightly(jobAt(copy, START + 3 * NIGHT));
    const current = basename(readlinkSync(layoutOf(copy).current));
    expect(snapshots.map(({ id }) => id)).not.toContain(current);
    expect(runLotlake(copy, 'verify').code).toBe(0);
  });
});
