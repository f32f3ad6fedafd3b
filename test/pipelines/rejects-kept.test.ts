import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { createWorld } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import { bareDuckDb, configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';

const world = createWorld({ vehicles: 40, seed: 9 });
const vehicles = recordsOf(world);

let folder: ReturnType<typeof temporaryFolder>;
let service: Awaited<ReturnType<typeof serve>>;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let now: number;
/** Positions in the list whose record has an invalid year. */
let bad: readonly number[];

beforeEach(async () => {
  folder = temporaryFolder();
  duck = await bareDuckDb();
  now = Date.parse('2026-11-18T02:00:00Z');
  service = await serve((url) => {
    if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    const isFirst = url.searchParams.get('page') === '1';
    const cars = vehicles.map((car, i) => (bad.includes(i) ? { ...car, year: { of: now } } : car));
    return { body: lastPage(isFirst ? cars : []) };
  });
});
afterEach(async () => {
  duck.close();
  await service.close();
  folder.remove();
});

const job = () => ({
  config: configFor(service.url, folder.path, { referenceDays: 1000, perPage: 1000, keyframeDays: 0 }),
  reporter: silentReporter(),
  now: () => new Date(now),
});
async function night(places: readonly number[]): Promise<string> {
  bad = places;
  now += 86_400_000;
  return (await nightly(job())).runId;
}
const current = () => join(folder.path, 'lake', 'current');
const rejectsByRun = async () =>
  Object.fromEntries(
    (
      await duck.query(
        `select run_id, count(*) as n from '${current()}/rejects/*.parquet' group by run_id order by 1`,
      )
    ).map(({ run_id, n }) => [run_id, n]),
  );
const figures = async () =>
  (
    await duck.query(
      `select run_id, value from '${current()}/data_health/*.parquet'
       where metric = 'rejected_value_share' order by started_at`,
    )
  ).map(({ run_id, value }) => [run_id, value]);
const files = () =>
  new Map(
    readdirSync(join(current(), 'rejects')).map((file) => [
      file,
      statSync(join(current(), 'rejects', file)).ino,
    ]),
  );
const forgetFirstPass = () => {
  const landing = join(folder.path, 'landing', 'cars');
  rmSync(join(landing, readdirSync(landing).sort()[0] ?? ''), { recursive: true });
};

describe('the rejects of a run', () => {
  it('are a file of their own that later snapshots link', async () => {
    const first = await night([1, 2]);
    const before = files();
    const second = await night([3]);
    expect(await rejectsByRun()).toEqual({ [first]: 2, [second]: 1 });
    for (const [file, inode] of before) expect(files().get(file), file).toBe(inode);
    await night([]);
    expect(files().size).toBe(2);
  });

  it('are removed once landing no longer holds their pass, also from data_health', async () => {
    const first = await night([1, 2]);
    const second = await night([3]);
    forgetFirstPass();
    const third = await night([]);
    expect(await rejectsByRun()).toEqual({ [second]: 1 });
    const share = 1 / vehicles.length;
    expect(await figures()).toEqual([
      [second, share],
      [third, 0],
    ]);
    await rebuild(job());
    expect(await rejectsByRun()).toEqual({ [second]: 1 });
    expect((await figures()).map(([run]) => run)).not.toContain(first);
  });

  it('are an empty table if there were never any', async () => {
    await night([]);
    expect(await rejectsByRun()).toEqual({});
    await night([]);
    expect(await rejectsByRun()).toEqual({});
  });
});
