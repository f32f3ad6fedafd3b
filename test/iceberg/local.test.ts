import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { literals, openTemporarySession, rows, type TemporarySession } from '../../src/base/duck/session.js';
import { readPrevious, withEntries } from '../../src/beyond/iceberg/commit-plan.js';
import { writeLocalMetadata } from '../../src/beyond/iceberg/local-metadata.js';
import { filesBelow } from '../../src/core/lake/files.js';
import { currentSnapshot, layoutOf } from '../../src/core/lake/layout.js';
import { allTables, readManifest } from '../../src/core/lake/manifest.js';
import { hasManifest, listSnapshots } from '../../src/core/lake/snapshots.js';
import { verifyFiles } from '../../src/core/lake/verify-files.js';
import { dictionary } from '../../src/core/model/dictionary.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { CLI, runLotlake } from '../cli/support.js';
import { modelsOf, testsOf } from '../model/support.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';

const folder = temporaryFolder();
let output = join(folder.path, 'lake');
let opened: TemporarySession;
afterAll(() => {
  opened.close();
  folder.remove();
});

/** Runs the night of a day with some marts, with Iceberg from the second one on. */
async function night(day: number) {
  const clock = new Date(`2026-11-${day}T06:00:00Z`);
  const sandbox = await startSandbox({ vehicles: 30, seed: 5, clock, faults: WITHOUT_CATALOG });
  const config = configFor(sandbox.url, output, { iceberg: day > 20 });
  const modelling = { ...testsOf('sell_through'), models: modelsOf(['sell_through']) };
  return nightly({ config, reporter: silentReporter(), now: () => clock, modelling }).finally(() =>
    sandbox.close(),
  );
}

beforeAll(async () => {
  opened = await openTemporarySession({ memory: '300MB', threads: 1 });
  for (const day of [20, 21]) await night(day);
});

const current = (): string => currentSnapshot(layoutOf(output)) ?? expect.fail('nothing is published');

/** Metadata of a table of the current snapshot. */
async function metadataOf(table: string) {
  const read = async (uri: string) => readFileSync(uri.slice('file://'.length));
  const found = await readPrevious(`file://${current()}/${table}`, read);
  const known = await withEntries(found ?? expect.fail(`no metadata of ${table}`), []);
  return { ...known, entries: known.manifests.flatMap(({ entries = [] }) => entries) };
}

/** Compares the metadata of each snapshot of a lake with its manifest, and that it names files of this lake alone. */
async function expectAllNamed(lake: string): Promise<void> {
  const snapshots = listSnapshots(layoutOf(lake)).filter(hasManifest);
  expect(snapshots.length).toBeGreaterThan(1);
  for (const { folder, manifest } of snapshots)
    for (const [name, { files }] of Object.entries(allTables(manifest))) {
      const read = async (uri: string) => readFileSync(uri.slice('file://'.length));
      const found = await readPrevious(`file://${folder}/${name}`, read);
      const { metadata, manifests } = await withEntries(found ?? expect.fail(name), []);
      expect(JSON.stringify(metadata)).not.toMatch(new RegExp(`file://(?!${lake}/)`));
      const live = manifests.flatMap(({ entries = [] }) => entries.filter(({ status }) => status !== 2));
      const named = files.filter((file) => file.rows > 0).map(({ path }) => `file://${folder}/${path}`);
      expect(live.map(({ data_file }) => data_file.file_path).sort()).toEqual(named.sort());
    }
}

it('a run writes metadata of every table and mart, for each snapshot that is kept', async () => {
  const snapshots = listSnapshots(layoutOf(output));
  for (const [name, { files, rows: count }] of Object.entries(allTables(readManifest(current())))) {
    const { metadata, entries } = await metadataOf(name);
    expect(metadata.snapshots.map(({ summary }) => summary['lotlake.snapshot'])).toEqual(
      snapshots.map(({ id }) => id),
    );
    expect(metadata.snapshots.at(-1)?.summary['total-records']).toBe(String(count));
    const live = entries.filter(({ status }) => status !== 2).map(({ data_file }) => data_file.file_path);
    const named = files.filter((file) => file.rows > 0).map(({ path }) => `file://${current()}/${path}`);
    expect(live.sort()).toEqual(named.sort());
  }
});

it('every column of every file has its field id', async () => {
  const files = filesBelow(current()).filter((path) => path.endsWith('.parquet'));
  const found = await rows(
    opened.session.connection,
    `select distinct file_name, name from parquet_schema(${literals(files)})
     where field_id is null and name not in ('duckdb_schema', 'list')`,
  );
  expect(found).toEqual([]);
});

it('a snapshot with metadata is sound, and the metadata of its backup names the backup', async () => {
  const problems = await verifyFiles(current(), readManifest(current()), new AbortController().signal);
  expect(problems).toEqual([]);
  const backup = join(folder.path, 'backup');
  expect(runLotlake(output, 'backup', '--to', backup).code).toBe(0);
  await expectAllNamed(backup);
  rmSync(backup, { recursive: true });
});

it('the next run of a copied lake writes metadata that names the copy', async () => {
  const copy = join(folder.path, 'copy');
  cpSync(output, copy, { recursive: true, verbatimSymlinks: true });
  const lake = output;
  output = copy;
  await night(23);
  await expectAllNamed(copy);
  output = lake;
  rmSync(copy, { recursive: true });
});

it('a vacuum without room to rewrite metadata still removes the snapshot, and then fails', async () => {
  writeFileSync(join(folder.path, 'keep.json'), '{"keepSnapshots": 1, "keepDays": 0}');
  // Files may have 4 KiB, which the metadata of a table does not fit into.
  const command = `ulimit -f 8; exec "$0" "$@"`;
  const args = [process.execPath, CLI, 'vacuum', '--config', join(folder.path, 'keep.json')];
  const env = { ...process.env, LOTLAKE_OUTPUT: output };
  const vacuumed = spawnSync('sh', ['-c', command, ...args], { cwd: output, env, encoding: 'utf8' });
  expect([vacuumed.status, vacuumed.stderr]).toEqual([1, expect.stringContaining('LAKE_DISK_FULL')]);
  expect(readdirSync(layoutOf(output).snapshots)).toHaveLength(1);
});

it('a vacuum leaves no metadata that names a removed snapshot, whatever other tables have', async () => {
  writeFileSync(join(current(), 'sales', 'metadata', 'version-hint.text'), '');
  expect(runLotlake(output, 'vacuum', '--config', join(folder.path, 'keep.json')).code).toBe(0);
  const kept = readdirSync(layoutOf(output).snapshots);
  const { metadata } = await metadataOf('lots');
  expect(metadata.snapshots.map(({ summary }) => summary['lotlake.snapshot'])).toEqual(kept);
  expect(kept).toHaveLength(1);
});

it('metadata that is torn, or of a moved lake, is written again', async () => {
  const moved = join(folder.path, 'moved');
  renameSync(output, moved);
  output = moved;
  await expect(metadataOf('lots')).rejects.toThrow(/ENOENT/);
  const write = () =>
    writeLocalMetadata(
      opened.session.connection,
      listSnapshots(layoutOf(output)).filter(hasManifest),
      dictionary(readManifest(current())),
    );
  await write();
  const { metadata, version } = await metadataOf('lots');
  expect(metadata.location).toBe(`file://${current()}/lots`);
  for (const snapshot of metadata.snapshots)
    expect(existsSync(snapshot['manifest-list'].slice('file://'.length))).toBe(true);
  writeFileSync(join(current(), 'lots', 'metadata', `v${version}.metadata.json`), '');
  await write();
  expect((await metadataOf('lots')).metadata).toEqual(metadata);
});

it('a run whose metadata cannot be written publishes, and warns', async () => {
  const hint = join(current(), 'lots', 'metadata', 'version-hint.text');
  rmSync(hint);
  mkdirSync(hint);
  const { published, warnings } = await night(22);
  expect([published, warnings.at(-1)]).toEqual([
    true,
    expect.stringMatching(/^Iceberg metadata could not be written; .* EISDIR/),
  ]);
});
