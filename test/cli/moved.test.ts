import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listSnapshots } from '../../src/core/lake/snapshots.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';
import { CLI, runLotlake } from './support.js';

const START = Date.parse('2026-11-18T02:00:00Z');
const NIGHT = 36 * 3_600_000;
const folder = temporaryFolder();
const original = join(folder.path, "dealer's lake");
let sandbox: Sandbox;
let made = 0;

async function night(output: string, time: number): Promise<void> {
  sandbox.setClock(new Date(time));
  const config = configFor(sandbox.url, output, { referenceDays: 1000 });
  await nightly({ config, reporter: silentReporter(), now: () => new Date(time) });
}

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 60, seed: 1, clock: new Date(START), faults: WITHOUT_CATALOG });
  await night(original, START);
  await night(original, START + NIGHT);
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

/** A copy of the lake, made with `cp -a`. */
function copied(): string {
  const copy = join(folder.path, `copy-${made++}`);
  cpSync(original, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** Rows of a query in a plain DuckDB that has opened the database of a snapshot and run some statements. */
async function openedPlainly(snapshot: string, sql: string, ...before: string[]): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(join(snapshot, 'warehouse.duckdb'), {
    access_mode: 'READ_ONLY',
  });
  const connection = await instance.connect();
  try {
    for (const statement of before) await connection.run(statement);
    return (await connection.runAndReadAll(sql)).getRowsJS();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Snapshots that the views of a snapshot name. */
async function namedBy(snapshot: string): Promise<unknown[]> {
  const views = await openedPlainly(snapshot, 'select sql from duckdb_views() where not internal');
  expect(views.length).toBeGreaterThan(50);
  const named = views.flatMap((view) => [
    ...String(view).matchAll(/'(\/[^']*(?:''[^']*)*\/snapshots\/[^/']+)/g),
  ]);
  return [...new Set(named.map(([, folder = '']) => folder.replaceAll("''", "'")))];
}

const snapshotsOf = (output: string) => listSnapshots(layoutOf(output)).map((snapshot) => snapshot.folder);

/** Moves the files of the original away during some work, so that nothing can read them. */
async function withoutOriginal<T>(work: () => Promise<T>): Promise<T> {
  renameSync(original, `${original}.away`);
  try {
    return await work();
  } finally {
    renameSync(`${original}.away`, original);
  }
}

describe('the views of a lake that was copied', () => {
  it('name the copy, in every snapshot, after a vacuum', async () => {
    const copy = copied();
    const descriptions = "select comment from duckdb_views() where view_name = 'lots'";
    const before = await openedPlainly(snapshotsOf(copy)[1] ?? '', descriptions);
    const { code, err } = runLotlake(copy, 'vacuum');
    expect(code, err).toBe(0);
    expect(snapshotsOf(copy)).toHaveLength(2);
    for (const snapshot of snapshotsOf(copy)) {
      expect(await namedBy(snapshot)).toEqual([snapshot]);
      expect(await openedPlainly(snapshot, descriptions)).toEqual(before);
    }
    expect(String(before)).toContain('one row a lot');
    expect(readdirSync(join(copy, 'lake')).sort()).toEqual(['.lake.json', 'current', 'snapshots']);
  });

  it.each([
    ['query', ['query', 'select count(*) from lots']],
    ['query --as-of', ['query', 'select 1', '--as-of', '2026-11-18']],
    ['status', ['status']],
    ['report', ['report']],
    ['verify', ['verify']],
    ['docs', ['docs']],
    ['vacuum --dry-run', ['vacuum', '--dry-run']],
  ])('and everything else in the lake stay as they are after lotlake %s', async (_, command) => {
    const copy = copied();
    const files = (): string[] =>
      readdirSync(join(copy, 'lake'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== '.lake.json')
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => `${path} ${statSync(path).mtimeMs} ${statSync(path).ino}`);
    const before = files();
    await withoutOriginal(async () => {
      const { code, err } = runLotlake(copy, ...command);
      expect(code, err).toBe(0);
    });
    expect(files()).toEqual(before);
  });

  it('name the copy, in every snapshot, after a run', async () => {
    const copy = copied();
    await night(copy, START + 2 * NIGHT);
    expect(snapshotsOf(copy)).toHaveLength(3);
    for (const snapshot of snapshotsOf(copy)) expect(await namedBy(snapshot)).toEqual([snapshot]);
  });

  it('pass verify, with and without the original', async () => {
    const beside = runLotlake(copied(), 'verify', '--json');
    expect(beside.code, beside.out).toBe(0);
    const copy = copied();
    const alone = await withoutOriginal(async () => runLotlake(copy, 'verify', '--json'));
    expect(alone.code, alone.out).toBe(0);
    expect(JSON.parse(alone.out)).toMatchObject({ sound: true, problems: [] });
  });

  it('stay as they are for a reader that opened the database before', async () => {
    const copy = copied();
    const database = join(snapshotsOf(copy)[1] ?? '', 'warehouse.duckdb');
    const instance = await DuckDBInstance.create(database, { access_mode: 'READ_ONLY' });
    const connection = await instance.connect();
    const inode = statSync(database).ino;
    expect(runLotlake(copy, 'vacuum').code).toBe(0);
    expect(statSync(database).ino).not.toBe(inode);
    expect((await connection.runAndReadAll('select count(*) from lots')).getRowsJS()).toHaveLength(1);
    connection.closeSync();
    instance.closeSync();
  });

  it('are rewritten only in the copy, and only once', async () => {
    const copy = copied();
    runLotlake(copy, 'vacuum');
    for (const snapshot of snapshotsOf(original)) expect(await namedBy(snapshot)).toEqual([snapshot]);
    const times = snapshotsOf(copy).map((snapshot) => statSync(join(snapshot, 'warehouse.duckdb')).mtimeMs);
    runLotlake(copy, 'vacuum');
    expect(snapshotsOf(copy).map((s) => statSync(join(s, 'warehouse.duckdb')).mtimeMs)).toEqual(times);
  });
});

/** Runs a command over a lake that it may not write to. It runs as another user if this process is root. */
function runReader(output: string, ...args: string[]) {
  const locked = [join(output, 'lake'), ...snapshotsOf(output)];
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  for (const path of [folder.path, output]) chmodSync(path, 0o755);
  for (const path of locked) chmodSync(path, 0o555);
  try {
    const env = { ...process.env, LOTLAKE_OUTPUT: output };
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
      cwd: output,
      env,
      ...user,
    });
    return { code: status, out: stdout.toString(), err: stderr.toString() };
  } finally {
    for (const path of locked) chmodSync(path, 0o755);
  }
}

describe('a copy that cannot be written', () => {
  it('passes verify and can be queried, with a hint about its views', async () => {
    const copy = copied();
    const [first = '', current = ''] = snapshotsOf(copy);
    await withoutOriginal(async () => {
      const { code, out, err } = runReader(copy, 'verify', '--json');
      expect(code, out + err).toBe(0);
      const { sound, warnings } = JSON.parse(out);
      expect(sound).toBe(true);
      expect(warnings).toContainEqual(
        expect.objectContaining({
          check: 'warehouse',
          found: expect.stringContaining(`set variable lotlake_snapshot = '${current}'`),
        }),
      );
      const answer = runReader(copy, 'query', 'select count(*) from lots', '--snapshot', basename(first));
      expect(answer.code, answer.err).toBe(0);
    });
    expect(await namedBy(current)).toEqual([current.replace(copy, original)]);
  });
});

describe('the one line of docs/run/care.md', () => {
  it('lets any reader query a copy through its views, without the original', async () => {
    const copy = copied();
    const [, current = ''] = snapshotsOf(copy);
    await withoutOriginal(async () => {
      await expect(openedPlainly(current, 'from lots')).rejects.toThrow('No files found');
      const line = `set variable lotlake_snapshot = '${current}'`;
      expect(await openedPlainly(current, 'from lots limit 1', line)).toHaveLength(1);
    });
  });
});
