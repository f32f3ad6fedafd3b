import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotIdOf } from '../../src/beyond/iceberg/metadata.js';
import { allTables, type Manifest } from '../../src/core/lake/manifest.js';
import { runLotlake } from '../cli/support.js';
import { bareDuckDb } from '../pipelines/support.js';
import { describeWith } from './support/engines.js';
import {
  type Described,
  describeFiles,
  expectSame,
  READERS,
  readTables,
  type Wanted,
} from './support/readers.js';
import { type S3Server, startS3 } from './support/s3.js';
import { type SparkCluster, sparkOptions, sparkProgram, startSpark } from './support/spark.js';
import { type Nights, runNights, startNights } from './support/worlds.js';

const PARTITION = "domain_id = 3 and month = '2026-11'";
const LAST_NIGHT = "first_seen_at >= '2026-11-20T00:00:00+00:00'";

/** A large table, a table with few rows, a table of lotlake's own, and a mart. */
const TRAVELLED = ['lots', 'prices', 'runs', 'price_trends'];

describeWith(['python', 'servers', 'spark-jars'], 'Iceberg tables of a mirror', () => {
  let s3: S3Server;
  let cluster: SparkCluster;
  let world: Nights;
  let nights: readonly Manifest[];
  const place = () => `s3://${s3.bucket}/main`;
  const table = (name: string) => ({ name, location: `${place()}/tables/${name}` });
  const folder = ({ snapshot_id }: Manifest) => join(world.output, 'lake', 'snapshots', snapshot_id);
  const inFiles = (
    manifest: Manifest,
    name: string,
    { filter = 'true', nullLists = true } = {},
  ): Promise<Described> => {
    const found = allTables(manifest)[name];
    if (found === undefined) throw new Error(`${manifest.snapshot_id} has no ${name}`);
    return describeFiles(folder(manifest), name, found, { filter, nullLists });
  };
  const newest = (): Manifest => {
    const last = nights.at(-1);
    if (last === undefined) throw new Error('no night was run');
    return last;
  };

  beforeAll(async () => {
    s3 = await startS3();
    cluster = await startSpark(s3.env);
    world = await startNights();
    nights = (await runNights(world)).map(({ manifest }) => manifest);
    Object.assign(process.env, s3.env);
    const pushed = runLotlake(world.output, 'push', place(), '--endpoint', s3.endpoint, '--path-style');
    expect(pushed.code, pushed.err).toBe(0);
  });
  afterAll(async () => {
    await world?.close();
    await cluster?.close();
    await s3?.close();
  });

  describe.each(READERS)('%s', (reader) => {
    const as = { nullLists: reader !== 'clickhouse' };
    const read = (wanted: readonly Wanted[]) => readTables(reader, wanted, { s3, cluster });

    it('reads every table and mart as DuckDB reads the files', async () => {
      // A partitioned table without rows has no partition to compare.
      const filled = Object.entries(allTables(newest())).filter(([, { rows }]) => rows > 0);
      for (const found of read(filled.map(([name]) => table(name))))
        expectSame(found, await inFiles(newest(), found.name, as));
    });

    /** Reads some tables as they were after each night. */
    async function readNights(
      when: (manifest: Manifest) => Pick<Wanted, 'snapshot' | 'time'>,
    ): Promise<void> {
      const looks = nights.flatMap((manifest) => TRAVELLED.map((name) => ({ manifest, name })));
      const found = read(looks.map(({ manifest, name }) => ({ ...table(name), ...when(manifest) })));
      for (const [i, { manifest, name }] of looks.entries())
        expectSame(found[i], await inFiles(manifest, name, as));
    }

    it('reads each night by its snapshot', () =>
      readNights(({ snapshot_id }) => ({ snapshot: String(snapshotIdOf(snapshot_id)) })));

    // polars reads by snapshot, not by time.
    it.skipIf(reader === 'polars')('reads each night by a time', () =>
      readNights(({ created_at }) => ({ time: Date.parse(created_at) + 1000 })),
    );

    it('reads only the files of a partition', async () => {
      const lots = newest().tables.lots?.files ?? [];
      const inPartition = lots.filter(({ path }) => path.includes('domain_id=3/month=2026-11/')).length;
      const [partition] = read([{ ...table('lots'), filter: PARTITION }]);
      expectSame(partition, await inFiles(newest(), 'lots', { filter: PARTITION, ...as }));
      if (reader === 'pyiceberg') expect(partition?.files).toBe(inPartition);
      // Spark counts the files that it skips only in manifests that it opens, and a manifest has the files of a quarter.
      if (reader === 'spark') expect(partition?.read).toBe(inPartition);
    });

    // polars and ClickHouse do not compare an instant with a text that has an offset.
    it.skipIf(reader === 'polars' || reader === 'clickhouse')(
      'reads only the files that statistics leave',
      async () => {
        const [recent] = read([{ ...table('lots'), filter: LAST_NIGHT }]);
        expectSame(recent, await inFiles(newest(), 'lots', { filter: LAST_NIGHT, ...as }));
        if (reader === 'pyiceberg') expect(recent?.files).toBe(await recentFiles());
        if (reader === 'spark') expect(recent?.read).toBe(await recentFiles());
      },
    );
  });

  it('opens in SQL of Spark as a Hadoop catalog', async () => {
    const [first] = nights;
    const settings = {
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.type': 'hadoop',
      'spark.sql.catalog.lake.warehouse': place(),
      'spark.sql.session.timeZone': 'UTC',
    };
    const time = new Date(Date.parse(first?.created_at ?? '') + 1000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
    const statements = [
      `select count(*) from lake.tables.lots where ${PARTITION}`,
      `select count(*) from lake.tables.lots timestamp as of '${time}'`,
    ];
    const options = Object.entries(settings).flatMap(([name, value]) => ['--conf', `${name}=${value}`]);
    const args = [...sparkOptions(cluster, s3), ...options, '-e', statements.join('; ')];
    const { stdout, stderr } = spawnSync(sparkProgram('spark-sql'), args, { env: cluster.env });
    const { rows } = await inFiles(newest(), 'lots', { filter: PARTITION });
    expect(String(stdout).trim().split('\n'), String(stderr)).toEqual(
      [rows, first?.tables.lots?.rows].map(String),
    );
  });

  /** Number of lots files with a row that the last night saw first. */
  async function recentFiles(): Promise<number> {
    const duck = await bareDuckDb();
    const files = join(folder(newest()), 'lots', '**', '*.parquet');
    const [row] = await duck.query(
      `select count(distinct filename) as n from read_parquet('${files}', filename = true) where ${LAST_NIGHT}`,
    );
    duck.close();
    expect(Number(row?.n)).toBeGreaterThan(0);
    return Number(row?.n);
  }
});
