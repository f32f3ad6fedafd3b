import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { snapshotIdOf } from '../../src/beyond/iceberg/metadata.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { allTables, type Manifest } from '../../src/core/lake/manifest.js';
import { runLotlake } from '../cli/support.js';
import { startCatalog } from './support/catalog.js';
import { describeWith } from './support/engines.js';
import { describeFiles, expectSame, READERS, readTables } from './support/readers.js';
import { type S3Server, startS3 } from './support/s3.js';
import { type Nights, runNights, startNights } from './support/worlds.js';

/** What the files of a table of a snapshot hold, read by DuckDB. */
const inFiles = (output: string, manifest: Manifest, name: string, reader?: string) => {
  const table = allTables(manifest)[name] ?? expect.fail(`there is no ${name}`);
  const as = { nullLists: reader !== 'clickhouse' };
  return describeFiles(join(layoutOf(output).snapshots, manifest.snapshot_id), name, table, as);
};

/** ClickHouse reads all files below the folder of a table, but the files of earlier snapshots are in other folders. */
const TRAVELLERS = READERS.filter((reader) => reader !== 'clickhouse');

/** Tables and marts with rows, with their locations. A partitioned table without rows has no partition to compare. */
const tablesOf = (manifest: Manifest, at: (name: string) => string) =>
  Object.entries(allTables(manifest))
    .filter(([, { rows }]) => rows > 0)
    .map(([name]) => ({ name, location: at(name) }));

describeWith(['python', 'spark-jars'], 'Iceberg metadata of a lake on disk', () => {
  let world: Nights;
  let manifests: Manifest[];
  const location = (name: string) => `file://${join(world.output, 'lake', 'current', name)}`;
  beforeAll(async () => {
    world = await startNights({ iceberg: true });
    manifests = (await runNights(world, 2)).map(({ manifest }) => manifest);
  });
  afterAll(() => world.close());

  it.each(READERS)(
    '%s reads every table and mart of lake/current as DuckDB reads the files',
    async (reader) => {
      const manifest = manifests[1] ?? expect.fail();
      for (const found of readTables(reader, tablesOf(manifest, location)))
        expectSame(found, await inFiles(world.output, manifest, found.name, reader));
    },
  );

  it.each(TRAVELLERS)('%s reads the night before', async (reader) => {
    const manifest = manifests[0] ?? expect.fail();
    const snapshot = String(snapshotIdOf(manifest.snapshot_id));
    const wanted = ['lots', 'price_trends'].map((name) => ({ name, location: location(name), snapshot }));
    for (const found of readTables(reader, wanted))
      expectSame(found, await inFiles(world.output, manifest, found.name));
  });
});

describeWith(['python', 'servers', 'catalog-jars'], 'a REST catalog', () => {
  let s3: S3Server;
  let catalog: Awaited<ReturnType<typeof startCatalog>>;
  let world: Nights;
  beforeAll(async () => {
    s3 = await startS3();
    Object.assign(process.env, s3.env);
    catalog = await startCatalog(s3);
    world = await startNights();
  });
  afterAll(async () => {
    await world?.close();
    await catalog?.close();
    await s3?.close();
  });

  /** Runs a command with the mirror and the catalog. */
  function mirrored(command: string, ...args: readonly string[]) {
    const config = join(world.output, 'catalog.json');
    const publish = {
      ...{ to: `s3://${s3.bucket}/main`, endpoint: s3.endpoint, pathStyle: true },
      catalog: { uri: catalog.uri, namespace: 'auctions.lotlake' },
    };
    mkdirSync(world.output, { recursive: true });
    writeFileSync(config, JSON.stringify({ publish, keepSnapshots: 1, keepDays: 0 }));
    const ended = runLotlake(world.output, command, '--config', config, ...args);
    expect(ended.code, ended.err).toBe(0);
    return ended;
  }

  /** Compares what pyiceberg reads from the catalog with the files. Returns the ids of the snapshots of `lots`. */
  async function read(manifest: Manifest): Promise<readonly number[]> {
    const wanted = tablesOf(manifest, (name) => `${catalog.uri}#auctions.lotlake.${name}`);
    const found = readTables('catalog', wanted, { s3 });
    expect(found).toHaveLength(wanted.length);
    for (const table of found) expectSame(table, await inFiles(world.output, manifest, table.name));
    return found.find(({ name }) => name === 'lots')?.snapshots ?? [];
  }

  it('has every table after a push, later nights after later pushes, and forgets what a vacuum removes', async () => {
    const [first] = await runNights(world, 1);
    expect(JSON.parse(mirrored('push', '--json').out)).toMatchObject({ catalog: { committed: 0 } });
    expect(await read(first?.manifest ?? expect.fail())).toHaveLength(1);

    // It commits the changes of all tables in one transaction.
    const { endpoints } = JSON.parse(await (await fetch(`${catalog.uri}/v1/config`)).text());
    expect(endpoints).toContain('POST /v1/{prefix}/transactions/commit');
    const nights = (await runNights(world, 2)).map(({ manifest }) => manifest);
    const last = nights[1] ?? expect.fail();
    const { catalog: committed } = JSON.parse(mirrored('push', '--json').out);
    expect(committed).toEqual({ ...committed, registered: 0, unchanged: 0 });
    expect(await read(last)).toHaveLength(3);
    expect(JSON.parse(mirrored('push', '--json').out).catalog).toMatchObject({ registered: 0, committed: 0 });

    mirrored('vacuum', '--remote');
    expect(await read(last)).toEqual([snapshotIdOf(last.snapshot_id)]);
  });
});
