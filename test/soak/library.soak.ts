import { buffer, text } from 'node:stream/consumers';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lake, openLake, runNightly, runPipeline, type Sandbox, startSandbox } from '../../src/index.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const START = new Date('2026-11-20T00:00:00Z');
const NIGHT = new Date('2026-11-21T00:00:00Z');
let sandbox: Sandbox;
let lake: Lake;
const settings = () => ({
  ...{ baseUrl: sandbox.url, apiKey: sandbox.apiKey, origin: 'sandbox' },
  ...{ rate: 1e6, output: folder.path },
});

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 200, clock: START });
  await runNightly(settings(), { now: () => START });
  lake = await openLake(settings());
});
afterAll(async () => {
  lake.close();
  await sandbox.close();
  folder.remove();
});

describe('an open lake', () => {
  it('lists its tables and gives their rows', async () => {
    const lots = lake.tables.find(({ name }) => name === 'lots');
    expect(lots?.rows).toBeGreaterThan(200);
    expect(await lake.query('select count(*) as n from lots')).toEqual([{ n: lots?.rows }]);
    const [row] = await lake.query("select max(first_seen_at) as at, date '2026-11-20' as day from lots");
    expect(row).toEqual({ at: '2026-11-20T00:00:00.000000Z', day: '2026-11-20' });
    expect((await lake.status()).rejected).toEqual([]);
  });

  it('streams every format, several at once', async () => {
    const sql = 'select lot_id, bid from lots order by lot_id';
    const rows = await lake.query(sql);
    const [json, csv, arrow, parquet, again] = await Promise.all([
      text(lake.stream(sql, 'json')),
      text(lake.stream(sql, 'csv')),
      buffer(lake.stream(sql, 'arrow')),
      buffer(lake.stream(sql, 'parquet')),
      buffer(lake.stream(sql, 'parquet')),
    ]);
    expect(JSON.parse(json)).toEqual(rows);
    expect(csv.trim().split('\r\n')).toHaveLength(rows.length + 1);
    expect(tableFromIPC(arrow).numRows).toBe(rows.length);
    const file = new Uint8Array(parquet).buffer;
    expect(await parquetReadObjects({ file, compressors })).toHaveLength(rows.length);
    expect(again).toEqual(parquet);
  });

  it('stays usable after a reader stopped early', async () => {
    for await (const _ of lake.stream('select * from range(1000000)', 'csv')) break;
    expect(await lake.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('refuses writes and wrong queries, and stays usable', async () => {
    for (const sql of ["copy (select 1) to 'x.csv'", 'drop table lots', 'select nothing from lots', ''])
      await expect(lake.query(sql), sql).rejects.toMatchObject({ code: 'QUERY_FAILED' });
    expect(await lake.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('ends a query when its signal is aborted', async () => {
    const stop = new AbortController();
    const own = await openLake(settings(), { signal: stop.signal });
    const answer = own.query('select count(*) from range(100000000) a, range(100000) b');
    setTimeout(() => stop.abort(new Error('enough')), 200);
    await expect(answer).rejects.toThrow('enough');
    own.close();
  });

  it('stays on its snapshot while a run publishes the next', async () => {
    sandbox.setClock(NIGHT);
    const steps: string[] = [];
    const reporter = { step: (name: string) => void steps.push(name) };
    const run = await runPipeline('incremental', settings(), { now: () => NIGHT, reporter });
    expect(run.published).toBe(true);
    expect(steps).toContain('publish');
    const count = 'select count(*) as n from runs';
    expect(await lake.query(count)).toEqual([{ n: 1 }]);
    const next = await openLake(settings());
    expect(next.snapshot.id).toBe(run.snapshotId);
    expect(await next.query(count)).toEqual([{ n: 2 }]);
    next.close();
    const before = await openLake(settings(), { asOf: '2026-11-20' });
    expect(before.snapshot.id).toBe(lake.snapshot.id);
    before.close();
  });

  it('keeps what has landed of a run that is aborted', async () => {
    const stop = new AbortController();
    const reporter = { progress: () => stop.abort(new Error('enough')) };
    const options = { now: () => NIGHT, reporter, signal: stop.signal };
    await expect(runNightly(settings(), options)).rejects.toThrow('enough');
    const run = await runNightly(settings(), { now: () => NIGHT });
    expect(run.passes.length).toBeGreaterThan(0);
  });
});
