import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { type ManifestView, readManifest } from '../../src/core/lake/manifest.js';
import { isGiven, isOutside, readModels } from '../../src/core/model/model-files.js';
import { CLI } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { differences } from './support/compare.js';
import { describeWith } from './support/engines.js';
import { type S3Server, startS3 } from './support/s3.js';
import { type SparkCluster, sparkOptions, sparkProgram, startSpark } from './support/spark.js';
import { type Nights, runNights, startNights } from './support/worlds.js';

/** Models that Spark takes from the snapshot instead of computing them: seeds and fitted models. */
const given = new Set(
  readModels().flatMap((model) => (isGiven(model) || isOutside(model) ? [model.name] : [])),
);

/** What `lotlake model --json` prints. */
interface Printed {
  readonly path: string;
  readonly left_out: readonly { readonly name: string }[];
  readonly models: readonly { readonly name: string; readonly rows: number }[];
  readonly tests: readonly { readonly model: string; readonly test: string; readonly failures: number }[];
}

describeWith(['python', 'servers', 'spark-jars'], 'models on a Spark cluster', () => {
  const folder = temporaryFolder();
  let s3: S3Server;
  let cluster: SparkCluster;
  let world: Nights;
  let opened: TemporarySession;
  let snapshot: string;

  beforeAll(async () => {
    s3 = await startS3();
    cluster = await startSpark(s3.env);
    world = await startNights();
    const nights = await runNights(world);
    snapshot = nights.at(-1)?.snapshot ?? '';
    opened = await openTemporarySession({ memory: '1GB', threads: 2 });
  });
  afterAll(async () => {
    opened.close();
    await world.close();
    await cluster.close();
    await s3.close();
    folder.remove();
  });

  /** Runs lotlake without blocking, because the service of the world runs in this process. */
  async function lotlake(
    output: string,
    ...args: readonly string[]
  ): Promise<{ code: unknown; out: string; err: string }> {
    const submit = [sparkProgram('spark-submit'), ...sparkOptions(cluster, s3)].join(' ');
    const env = { ...cluster.env, LOTLAKE_SPARK_SUBMIT: submit };
    const child = spawn(process.execPath, [CLI, ...args, '--output', output, '--json'], { env });
    const ended = once(child, 'close');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: (await ended)[0], out, err };
  }

  async function model(
    output: string,
    ...args: readonly string[]
  ): Promise<Printed & { readonly code: unknown }> {
    const { code, out, err } = await lotlake(output, 'model', ...args);
    expect([0, 5], err).toContain(code);
    return { code, ...(JSON.parse(out) as Printed) };
  }

  /**
   * Compares every mart of a snapshot in two folders. Returns the marts that have rows.
   * @param more also the views, where both folders have been computed
   */
  async function compare(one: string, other: string, more: 'views' | 'none' = 'none') {
    const { marts, views } = readManifest(snapshot);
    const filled: string[] = [];
    const different: Record<string, unknown> = {};
    const compared: Readonly<Record<string, Pick<ManifestView, 'columns' | 'key'>>> = {
      ...marts,
      ...(more === 'views' && views),
    };
    for (const [name, mart] of Object.entries(compared)) {
      if (given.has(name)) continue;
      const { rows, found } = await differences(opened.session, name, mart, [one, other]);
      if (Object.keys(found).length > 0) different[name] = found;
      if (rows > 0) filled.push(name);
    }
    expect(different).toEqual({});
    return filled;
  }

  it('every mart has the rows that the night published, and every data test passes', async () => {
    const { code, tests, left_out } = await model(
      world.output,
      '--engine',
      'spark',
      '--to',
      join(folder.path, 'spark'),
    );
    expect(code).toBe(0);
    const fitted = readModels().filter((model) => model.exists !== 'none' && isOutside(model));
    expect(left_out.map(({ name }) => name).sort()).toEqual(fitted.map(({ name }) => name));
    expect(tests.length).toBeGreaterThan(400);
    expect(tests.filter(({ failures }) => failures > 0)).toEqual([]);
    expect((await compare(snapshot, join(folder.path, 'spark'))).length).toBeGreaterThan(25);
  });

  it('data tests find the same failing rows in a damaged lake', async () => {
    const output = join(folder.path, 'damaged');
    const { snapshots, current } = layoutOf(output);
    const damaged = join(snapshots, basename(snapshot));
    cpSync(snapshot, damaged, { recursive: true });
    cpSync(layoutOf(world.output).current, current, { verbatimSymlinks: true, recursive: true });
    rmSync(join(damaged, 'lots', 'domain_id=1'), { recursive: true });
    const path = join(damaged, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const { lots } = manifest.tables;
    lots.files = lots.files.filter((file: { readonly path: string }) => !file.path.includes('domain_id=1/'));
    rmSync(path);
    writeFileSync(path, JSON.stringify(manifest));
    const [duckdb, spark] = ['duckdb', 'spark'].map((engine) => join(folder.path, `damaged-${engine}`));
    const expected = await model(output, '--engine', 'duckdb', '--to', duckdb ?? '');
    const found = await model(output, '--engine', 'spark', '--to', spark ?? '');
    const failed = ({ tests }: Printed) => tests.filter(({ failures }) => failures > 0);
    expect(failed(expected).length).toBeGreaterThan(1);
    expect(found.code).toBe(expected.code);
    expect(sorted(found.tests)).toEqual(sorted(expected.tests));
    expect(await compare(duckdb ?? '', spark ?? '', 'views')).toContain('vehicle_timeline');
  });

  it('computes the marts of a mirror in object storage', async () => {
    const place = `s3://${s3.bucket}/mirror`;
    const reached = ['--endpoint', s3.endpoint, '--path-style'];
    const pushed = await lotlake(world.output, 'push', '--to', place, ...reached);
    expect(pushed.code, pushed.err).toBe(0);
    const to = join(folder.path, 'pushed');
    const { code } = await model(folder.path, place, ...reached, '--engine', 'spark', '--to', to);
    expect(code).toBe(0);
    await compare(snapshot, to);
  });
});

/** Results of the models that both engines compute: those that Spark takes from the snapshot know the lots that are gone. */
const sorted = (tests: Printed['tests']): readonly string[] =>
  tests
    .filter(({ model }) => !given.has(model))
    .map(({ model, test, failures }) => `${model}: ${test}: ${failures}`)
    .sort();
