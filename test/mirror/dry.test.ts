import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, it } from 'vitest';
import { costOf } from '../../src/beyond/mirror/cost.js';
import { dryStore } from '../../src/beyond/mirror/dry.js';
import { describeAsIceberg } from '../../src/beyond/mirror/mirror-tables.js';
import { push } from '../../src/beyond/mirror/push-snapshots.js';
import { temporaryFolder } from '../pipelines/support.js';
import { memoryStore } from './memory-store.js';
import { makeNight } from './parquet-lake.js';
import { lakeOf } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

it('counts in a dry run what the push then sends, and sends nothing', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const store = memoryStore();
  const made = [];
  for (const [i, lots] of [[[1, 2]], [[1, 2], [3]], [[1, 2], [4]]].entries()) {
    made.push(await makeNight(connection, folder.path, 18 + i, { lots, sources: [[1]] }));
    const lake = lakeOf(made);
    const pushing = { now: () => store.now, warn: () => undefined };
    const [objects, before] = [new Map(store.objects), { ...store.requests }];
    const dry = dryStore(store, pushing.now);
    const describeDry = describeAsIceberg(connection, dry, []);
    const plan = await push(lake, { ...pushing, store: dry, describeTables: describeDry });
    const planned = dry.requests;
    expect(store.objects).toEqual(objects);
    expect(store.requests).toMatchObject({ put: before.put, bytes: before.bytes, remove: before.remove });
    const read = { ...store.requests };
    const describeTables = describeAsIceberg(connection, store, []);
    expect(await push(lake, { ...pushing, store, describeTables })).toEqual(plan);
    for (const kind of ['put', 'get', 'list', 'remove', 'bytes'] as const)
      expect(store.requests[kind] - read[kind], kind).toBe(planned[kind] - before[kind]);
  }
});

it('costs what the price list says', () => {
  const { requests, month } = costOf({ put: 900, get: 1000, list: 100, remove: 5, bytes: 2e9 });
  expect(requests).toBeCloseTo(0.0054);
  expect(month).toBeCloseTo(0.046);
});
