import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMirrored } from '../../src/beyond/mirror/open.js';
import { type LocalSnapshot, push } from '../../src/beyond/mirror/push.js';
import { openStore } from '../../src/beyond/mirror/s3.js';
import type { ObjectStore } from '../../src/beyond/mirror/store.js';
import { describeAsIceberg } from '../../src/beyond/mirror/tables.js';
import { makeNight, newestVersions, readMoment, readTable } from '../mirror/parquet-lake.js';
import { lakeOf } from '../mirror/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { describeWith } from './support/engines.js';
import { describeFiles, expectSame, readTables } from './support/readers.js';
import { type S3Server, startS3 } from './support/s3.js';

/** Engines that start fast enough to read at many moments. */
const READERS = ['pyiceberg', 'duckdb', 'clickhouse'] as const;

/** They read at every n-th moment; at each, the metadata is read as they read it. */
const EVERY = 9;

const folder = temporaryFolder();
let connection: DuckDBConnection;
const nights: LocalSnapshot[] = [];
const TABLES = ['lots', 'mart_a', 'mart_b', 'sources'];

beforeAll(async () => {
  connection = await (await DuckDBInstance.create()).connect();
  const always = { sources: [[1, 2, 3]] };
  for (const [i, contents] of [
    { lots: [[1, 2], [3]], mart_a: [[1]], mart_b: [[1]] },
    { lots: [[1, 2], [4]], mart_a: [[2]] },
    { lots: [[1, 2], [5]], mart_a: [[3]], mart_b: [[1]] },
  ].entries())
    nights.push(await makeNight(connection, folder.path, 18 + i, { ...always, ...contents }));
});
afterAll(() => folder.remove());

describeWith(['python', 'servers'], 'a mirror at every moment of a push', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3();
    Object.assign(process.env, s3.env);
  });
  afterAll(() => s3.close());

  const open = (prefix: string): Promise<ObjectStore> => {
    const place = { to: `s3://${s3.bucket}/${prefix}`, endpoint: s3.endpoint, pathStyle: true };
    return openStore({ ...place, concurrency: 1, landing: false }, new AbortController().signal);
  };
  const pushTo = (store: ObjectStore, kept: readonly LocalSnapshot[]) =>
    push(lakeOf(kept), {
      ...{ store, describeTables: describeAsIceberg(connection, store, []) },
      ...{ now: () => new Date(), warn: () => undefined },
    });

  /** A store that fails as a killed process does: after some writes it does nothing more. */
  function dyingAfter(store: ObjectStore, writes: number): ObjectStore {
    let left = writes;
    const alive =
      <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (left-- <= 0) throw new Error('killed');
        return write(...args);
      };
    const { send, sendFile, replace, remove } = store;
    return {
      ...store,
      ...{ send: alive(send), sendFile: alive(sendFile), replace: alive(replace), remove: alive(remove) },
    };
  }

  /** Compares what engines read of each table with the files of the night that its metadata names. */
  async function readByEngines(store: ObjectStore): Promise<void> {
    const wanted = TABLES.map((name) => ({ name, location: `${store.place}/tables/${name}` }));
    const versions = await newestVersions(store);
    for (const reader of READERS)
      for (const found of readTables(reader, wanted, { s3 })) {
        // ClickHouse looks for the newest metadata, as Spark does. The others follow the hint.
        const version = reader === 'clickhouse' ? versions.get(found.name) : undefined;
        const options = version === undefined ? {} : { version };
        const { night = '', absentSince } = (await readTable(store, found.name, options)) ?? {};
        const local = nights.find(({ id }) => id === night);
        const table = { ...local?.manifest.tables, ...local?.manifest.marts }[found.name];
        if (table === undefined)
          expect([found.rows, absentSince], `${reader} ${found.name}`).toEqual([0, night]);
        else expectSame(found, await describeFiles(local?.folder ?? '', found.name, table));
      }
  }

  it('has whole nights of each table, and says which, and the next command finishes it', async () => {
    const seen = new Set<string>();
    let isDone = false;
    for (let last = 0; !isDone; last++) {
      const store = await open(`moment-${last}`);
      await pushTo(store, nights.slice(0, 1));
      await pushTo(dyingAfter(store, last), nights).then(
        () => {
          isDone = true;
        },
        (error) => expect(error).toMatchObject({ message: 'killed' }),
      );
      const found = [...(await readMoment(store))];
      seen.add(found.sort().join(' and '));
      if (last % EVERY === 0) await readByEngines(store);
      await openMirrored(store, { isWriter: false, warn: expect.fail });
      expect((await readMoment(store)).size).toBe(1);
      const { pushed } = await pushTo(store, nights);
      expect(await readMoment(store)).toEqual(new Set([nights[2]?.id]));
      if (isDone) expect(pushed).toEqual([]);
    }
    const [first, second, third] = nights.map(({ id }) => id);
    expect(seen).toEqual(new Set([first, second, third, `${first} and ${second}`, `${second} and ${third}`]));
  });
});
