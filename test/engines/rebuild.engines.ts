import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { packageRoot } from '../../src/config/package-root.js';
import { openTemporarySession } from '../../src/duck/session.js';
import { loadBatch } from '../../src/load/batch.js';
import { type SparkBatch, sparkSteps } from '../../src/load/spark-batch.js';
import { streams } from '../../src/service/streams.js';
import { runSpark } from '../../src/spark/run-spark.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_MARTS } from '../pipelines/support.js';
import { type Stage, setUp } from '../pipelines/world-oracle.js';
import { describeWith } from './support/engines.js';
import { differingTables } from './support/same-rows.js';
import { type SparkCluster, sparkOptions, sparkProgram, startSpark } from './support/spark.js';
import { VEHICLES } from './support/worlds.js';

const submitOf = (cluster?: SparkCluster): string[] => [
  ...[sparkProgram('spark-sql'), ...sparkOptions(cluster)],
  ...['--conf', 'spark.driver.host=127.0.0.1', '--conf', 'spark.driver.bindAddress=127.0.0.1'],
];

describeWith(['python', 'spark-jars'], 'Records that two parsers may read in two ways', () => {
  it('are staged alike by DuckDB and Spark', async () => {
    const folder = temporaryFolder();
    const [pages, plan, target, stage] = ['pass', 'plan.ndjson', 'spark', 'duckdb'].map((name) =>
      join(folder.path, name),
    ) as [string, string, string, string];
    mkdirSync(pages);
    const path = join(pages, 'page-000001.ndjson.gz');
    writeFileSync(path, gzipSync(readFileSync(join(packageRoot, 'test/engines/strange-records.ndjson'))));
    const page = { page: 0, run: 'r', seq: 3, list: '', file: 'pass/page-000001.ndjson.gz' };
    writeFileSync(plan, JSON.stringify(page));
    const learned = ['lots[].location.zone', 'lots[].noted', 'lots[].scored', 'owner note'];
    const shared = { stream: streams.cars, learned };
    const { session, close } = await openTemporarySession({ memory: '1GB', threads: 2 });
    const files = [{ path, seq: 3, list: '' }];
    const sizes = { largestRecord: 1 << 16, isSmall: false, isMended: false };
    const loaded = await loadBatch(session.connection, { ...shared, ...sizes, files, stage, name: 'b' });
    expect(loaded).toBe(6);
    close();
    const batch: SparkBatch = {
      ...{ ...shared, texts: new Set(['lots[].noted']), folders: [pages], plan, target },
    };
    await runSpark(sparkSteps(batch), { submit: submitOf() });
    expect(await differingTables(stage, target, ['_run'])).toEqual([]);
    folder.remove();
  });
});

describeWith(['python', 'spark-jars'], 'A rebuild on Spark', () => {
  let cluster: SparkCluster;
  let stage: Stage;
  const copy = temporaryFolder();
  beforeAll(async () => {
    const clock = new Date('2026-11-18T02:00:00Z');
    const settings = { perPage: Math.ceil(VEHICLES / 12), threads: 2 };
    stage = await setUp({ vehicles: VEHICLES, seed: 23, clock, catalog: true }, settings);
    await stage.night();
    stage.sandbox.setClock(new Date('2026-11-19T02:00:00Z'));
    stage.sandbox.setFaults([
      { match: { path: '/cars' }, fault: { kind: 'extra-members', in: 'all', every: 3 } },
      { match: { path: '/cars', page: 2 }, fault: { kind: 'retyped-members', what: 'bid-object', every: 4 } },
      {
        match: { path: '/archived-lots' },
        fault: { kind: 'retyped-members', what: 'bad-timestamp', every: 5 },
      },
    ]);
    await stage.night();
    stage.sandbox.setClock(new Date('2026-11-20T02:00:00Z'));
    stage.sandbox.setFaults([{ fault: { kind: 'extra-members', in: 'lot' } }]);
    await stage.night();
    cpSync(stage.output, copy.path, { recursive: true, verbatimSymlinks: true });
    cluster = await startSpark();
  });
  afterAll(async () => {
    await cluster.close();
    await stage.close();
    copy.remove();
  });

  const rebuilt = async (output: string, engine: 'duckdb' | 'spark') => {
    const config = configFor('http://127.0.0.1:1', output, {
      threads: 2,
      spark: { submit: submitOf(cluster) },
    });
    const reporter = silentReporter();
    const now = () => new Date('2026-11-21T02:00:00Z');
    const result = await rebuild({ ...WITHOUT_MARTS, config, reporter, now, engine });
    return { result, warnings: reporter.warnings, current: realpathSync(join(output, 'lake', 'current')) };
  };

  it('gives every row, column and partition of DuckDB, even if a worker is killed', async () => {
    const ofDuckDB = await rebuilt(stage.output, 'duckdb');
    // Kills a worker while it writes the typed records.
    let killed: number | undefined;
    const timer = setInterval(() => {
      const work = join(copy.path, 'work');
      const [run = ''] = existsSync(work) ? readdirSync(work) : [];
      if (!existsSync(join(work, run, 'spark', '0', '_typed'))) return;
      clearInterval(timer);
      [killed] = cluster.workers;
      if (killed !== undefined) process.kill(killed, 'SIGKILL');
    }, 200);
    const ofSpark = await rebuilt(copy.path, 'spark');
    clearInterval(timer);
    expect(killed, 'no worker was killed').toBeDefined();
    expect(ofSpark.warnings).toEqual(ofDuckDB.warnings);
    expect(ofSpark.result.drift).toEqual(ofDuckDB.result.drift);
    // Two rebuilds are different runs. All other rows name the nights that they come from.
    const differing = await differingTables(ofDuckDB.current, ofSpark.current);
    expect(differing.filter((table) => !/^(runs\b|passes\."run_id")/.test(table))).toEqual([]);
  });
});
