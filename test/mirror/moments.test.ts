import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAsIceberg } from '../../src/beyond/mirror/mirror-tables.js';
import type { LocalSnapshot } from '../../src/beyond/mirror/push-snapshots.js';
import { temporaryFolder } from '../pipelines/support.js';
import { memoryStore } from './memory-store.js';
import { makeNight, readMoment } from './parquet-lake.js';
import { lakeOf, pushTo } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const nights: LocalSnapshot[] = [];
const ids = ['20261118T020000Z-00000a', '20261119T020000Z-00000a', '20261120T020000Z-00000a'];

beforeAll(async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const always = { sources: [[1, 2, 3]] };
  for (const [i, contents] of [
    { lots: [[1, 2], [3]], mart_a: [[1]], mart_b: [[1]] },
    { lots: [[1, 2], [4]], mart_a: [[2]] },
    { lots: [[1, 2], [5]], mart_a: [[3]], mart_b: [[1]] },
  ].entries())
    nights.push(await makeNight(connection, folder.path, 18 + i, { ...always, ...contents }));
});

it('shows whole nights of each table, and which, after each object of a push that is killed', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const begun = memoryStore();
  const push = (store: typeof begun, kept: readonly LocalSnapshot[]) =>
    pushTo(store, lakeOf(kept), describeAsIceberg(connection, store, []));
  await push(begun, nights.slice(0, 1));
  const seen = new Set<string>();
  let isDone = false;
  for (let last = 0; !isDone; last++) {
    const store = memoryStore(new Map(begun.objects));
    store.before = (call) => {
      if (/^(send|replace|remove) /.test(call) && store.sent.length >= last) throw new Error('killed');
    };
    await push(store, nights).then(
      () => {
        isDone = true;
      },
      (error) => expect(error).toMatchObject({ message: 'killed' }),
    );
    store.before = () => undefined;
    const found = await readMoment(store);
    seen.add([...found].sort().join(' and '));
    await push(store, nights);
    expect(await readMoment(store), `killed after ${last} objects`).toEqual(new Set(ids.slice(2)));
  }
  // Mixed nights are seen, and never nights that are further apart than one switch.
  expect(seen).toEqual(new Set([...ids, `${ids[0]} and ${ids[1]}`, `${ids[1]} and ${ids[2]}`]));
});
