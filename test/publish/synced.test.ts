import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import { placeEnv } from '../pipelines/lake-process.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';
import { type Call, type Watch, watches } from './calls.js';

const CLOCK = Date.parse('2026-11-18T02:00:00Z');
const folder = temporaryFolder();
const root = realpathSync(folder.path);
const output = join(root, 'lake');
const { current, lake, landing, snapshots } = layoutOf(output);
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 60, seed: 7, clock: new Date(CLOCK), faults: WITHOUT_CATALOG });
  const config = configFor(sandbox.url, output);
  await nightly({ config, reporter: silentReporter(), now: () => new Date(CLOCK) });
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

/** Runs a night in its own process. Returns its calls on files, in order. */
async function watched(watch: Watch): Promise<Call[]> {
  const file = join(root, `${watches.indexOf(watch)}.calls`);
  const [program = '', ...args] = [...watch.command(file), process.execPath, CLI, 'run', 'nightly'];
  const env = placeEnv({ url: sandbox.url, output, env: watch.env(file) });
  const child = spawn(program, args, { env });
  let err = '';
  child.stderr.on('data', (data) => {
    err += data;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code, err).toBe(0);
  return watch.read(file);
}

/** The folder and all files or folders below it. */
const below = (path: string, wanted: 'files' | 'folders'): string[] => [
  ...(wanted === 'folders' ? [path] : []),
  ...readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() === (wanted === 'folders'))
    .map((entry) => join(entry.parentPath, entry.name)),
];

const inode = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.ino;

/** Position of the last sync of a path in the calls, under its name or its name before; -1 if it was not synced. */
function lastSync(calls: readonly Call[], path: string): number {
  const renamed = calls.findLastIndex((call) => call.call === 'rename' && call.path === path);
  const from = calls[renamed]?.from;
  const before = calls
    .slice(0, Math.max(renamed, 0))
    .findLastIndex((call) => call.call === 'sync' && call.path === from);
  const after = calls.findLastIndex((call) => call.call === 'sync' && call.path === path);
  return after > renamed ? after : before;
}

describe.each(watches)('a night that is published, $name', (watch) => {
  let all: Call[];
  let beforeSwitch: Call[];
  let switched: number;
  let snapshot: string;
  let earlier: string;

  beforeAll(async () => {
    earlier = join(snapshots, basename(readlinkSync(current)));
    sandbox.setClock(new Date(CLOCK + (watches.indexOf(watch) + 1) * 60 * 3_600_000));
    all = await watched(watch);
    switched = all.findIndex(({ call, path }) => call === 'rename' && path === current);
    beforeSwitch = all.slice(0, switched);
    snapshot = join(snapshots, basename(readlinkSync(current)));
  });

  it('syncs every new file of the snapshot before the switch, and no shared file', () => {
    expect(switched).toBeGreaterThan(0);
    const files = below(snapshot, 'files');
    const isShared = (file: string) => inode(file) === inode(file.replace(snapshot, earlier));
    const own = files.filter((file) => !isShared(file));
    expect(own.length).toBeGreaterThan(30);
    expect(files.length).toBeGreaterThan(own.length + 30);
    expect(own.filter((file) => lastSync(beforeSwitch, file) < 0)).toEqual([]);
    expect(files.filter(isShared).filter((file) => lastSync(all, file) >= 0)).toEqual([]);
  });

  it('syncs every folder of the snapshot after the files in it, before the switch', () => {
    const folders = below(snapshot, 'folders');
    for (const folder of folders) {
      const names = beforeSwitch.findLastIndex(
        ({ path }) => dirname(path) === folder && !folders.includes(path),
      );
      const isNewer = beforeSwitch.findLastIndex(({ call, path }) => call === 'sync' && path === folder);
      expect(isNewer, folder).toBeGreaterThan(names);
    }
    const manifest = lastSync(beforeSwitch, join(snapshot, 'manifest.json'));
    for (const folder of [snapshots, lake, output])
      expect(lastSync(beforeSwitch, folder), folder).toBeGreaterThan(manifest);
  });

  it('syncs its passes in landing before the switch, each one before it is sealed', () => {
    const passes = below(landing, 'files').filter((file) => basename(file) === 'pass.json');
    // Nothing is loaded from an abandoned pass, such as one over a list that the service does not have.
    const isSealed = (pass: string): boolean => JSON.parse(readFileSync(pass, 'utf8')).state === 'sealed';
    const own = passes
      .filter((pass) => beforeSwitch.some(({ path }) => path === pass) && isSealed(pass))
      .map(dirname);
    expect(own.length).toBeGreaterThanOrEqual(3);
    for (const pass of own) {
      const manifest = join(pass, 'pass.json');
      const sealed = lastSync(beforeSwitch, manifest);
      const rest = below(pass, 'files').filter((file) => file !== manifest);
      expect(sealed, pass).toBeGreaterThan(0);
      for (const file of rest) {
        expect(lastSync(beforeSwitch, file), file).toBeGreaterThan(0);
        expect(lastSync(beforeSwitch, file), file).toBeLessThan(sealed);
      }
      const renamed = beforeSwitch.findLastIndex(({ call, path }) => call === 'rename' && path === manifest);
      for (const folder of [pass, dirname(pass), landing])
        expect(lastSync(beforeSwitch, folder), folder).toBeGreaterThan(renamed);
    }
  });

  it('syncs the link right after the switch', () => {
    expect(all[switched + 1]).toMatchObject({ call: 'sync', path: lake });
    expect(all.filter(({ call, path }) => call === 'rename' && path === current)).toHaveLength(1);
  });

  it('syncs a file before it is renamed over another', () => {
    const replaced = all.filter(({ call, path }) => call === 'rename' && /\.(json|ndjson)$/.test(path));
    expect(replaced.length).toBeGreaterThan(5);
    for (const { path } of replaced) {
      if (!existsSync(path)) continue;
      expect(lastSync(all, path), path).toBeGreaterThanOrEqual(0);
    }
  });
});
