import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAsIceberg } from '../../src/beyond/mirror/mirror-tables.js';
import { openMirrored } from '../../src/beyond/mirror/open.js';
import { type LocalSnapshot, push } from '../../src/beyond/mirror/push-snapshots.js';
import { openStore } from '../../src/beyond/mirror/s3.js';
import type { ObjectStore } from '../../src/beyond/mirror/store.js';
import { type Found, makeNight, newestVersions, readMoment, readTable } from '../mirror/parquet-lake.js';
import { lakeOf } from '../mirror/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { describeWith } from './support/engines.js';
import { describeFiles, expectSame, readTables, type Wanted } from './support/readers.js';
import { type S3Server, startS3 } from './support/s3.js';

const READERS = ['pyiceberg', 'duckdb', 'clickhouse', 'spark'] as const;

/** Engines read at every n-th moment, each in one session; at each moment, the metadata is read as they read it. */
const EVERY = 4;

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

describeWith(['python', 'servers', 'spark-jars'], 'a mirror at every moment of a push', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3();
    Object.assign(process.env, s3.env);
  });
  afterAll(() => s3.close());
  /** Writes of a whole push, and one. */
  let moments = 0;

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

  /** Pushes the first night, then all of them until some writes were made. Returns whether that push came to its end. */
  async function pushUntil(store: ObjectStore, writes: number): Promise<boolean> {
    await pushTo(store, nights.slice(0, 1));
    try {
      await pushTo(dyingAfter(store, writes), nights);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ message: 'killed' });
      return false;
    }
  }

  it('has whole nights of each table, and says which, and the next command finishes it', async () => {
    const seen = new Set<string>();
    let isDone = false;
    for (; !isDone; moments++) {
      const store = await open(`moment-${moments}`);
      isDone = await pushUntil(store, moments);
      const found = [...(await readMoment(store))];
      seen.add(found.sort().join(' and '));
      await openMirrored(store, { isWriter: false, warn: expect.fail });
      expect((await readMoment(store)).size).toBe(1);
      const { pushed } = await pushTo(store, nights);
      expect(await readMoment(store)).toEqual(new Set([nights[2]?.id]));
      if (isDone) expect(pushed).toEqual([]);
    }
    const [first, second, third] = nights.map(({ id }) => id);
    expect(seen).toEqual(new Set([first, second, third, `${first} and ${second}`, `${second} and ${third}`]));
  });

  it.each(READERS)('is read by %s as its metadata says', async (reader) => {
    const wanted: Wanted[] = [];
    const nightsThere: Pick<Found, 'night' | 'absentSince'>[] = [];
    for (let last = 0; last < moments; last += EVERY) {
      const store = await open(`${reader}-${last}`);
      await pushUntil(store, last);
      const versions = await newestVersions(store);
      for (const name of TABLES) {
        // ClickHouse and Spark look for the newest metadata. The others follow the hint.
        const version = reader === 'clickhouse' || reader === 'spark' ? versions.get(name) : undefined;
        const found = await readTable(store, name, version === undefined ? {} : { version });
        wanted.push({ name, location: `${store.place}/tables/${name}` });
        nightsThere.push({ night: found?.night ?? '', absentSince: found?.absentSince });
      }
    }
    for (const [i, found] of readTables(reader, wanted, { s3 }).entries()) {
      const { night = '', absentSince } = nightsThere[i] ?? {};
      const local = nights.find(({ id }) => id === night);
      const table = { ...local?.manifest.tables, ...local?.manifest.marts }[found.name];
      if (table === undefined) expect([found.rows, absentSince], wanted[i]?.location).toEqual([0, night]);
      else expectSame(found, await describeFiles(local?.folder ?? '', found.name, table));
    }
    expect(wanted.length).toBeGreaterThan(TABLES.length);
  });
});
