import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { nightly } from '../../pipelines/nightly.js';
import { vehicles } from './feed.js';
import { SALES_ALONE } from './oracle/sales.js';
import { bareDuckDb, configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';

const DAY = 86_400_000;
const START = Date.parse('2026-11-18T02:00:00Z');
/** Vehicles of sources that closing looks up; those after the third leave the feed. */
const CARS = vehicles
  .filter(({ lots }) => lots.length === 1 && lots.every(({ domain }) => domain.id !== 12))
  .slice(0, 8);
const [KEPT, LEFT] = [CARS.slice(0, 3), CARS.slice(3)];
const ODD = LEFT[1]?.id ?? 0;

interface Reply {
  readonly status?: number;
  readonly body: unknown;
}

let cleanups: (() => void | Promise<void>)[] = [];
beforeEach(() => {
  cleanups = [];
});
afterEach(async () => {
  for (const clean of cleanups.reverse()) await clean();
});

/** A lake from whose feed some vehicles left, and a closing run that gets an odd answer for one of them. */
async function closingWith(answers: ReadonlyMap<number, Reply>, kept: readonly unknown[] = KEPT) {
  const folder = temporaryFolder();
  let records: readonly unknown[] = CARS;
  const service = await serve((url) => {
    if (url.pathname === '/api/cars') return { body: { ...lastPage(records) } };
    if (url.pathname === '/api/archived-lots') return { body: lastPage([]) };
    const id = Number(/^\/api\/cars\/(\d+)$/.exec(url.pathname)?.[1]);
    const record = CARS.find((each) => each.id === id);
    if (record === undefined) return { status: 404, body: { message: 'not here' } };
    return (
      answers.get(id) ?? {
        body: {
          data: { ...record, lots: record.lots.map((lot) => ({ ...lot, archived: true, final_bid: 777 })) },
        },
      }
    );
  });
  const duck = await bareDuckDb();
  cleanups.push(service.close, duck.close, folder.remove);
  const config = configFor(service.url, folder.path, {
    ...{ allowShrink: true, shrinkGuard: 1, referenceDays: 1000, retryBudget: 2 },
  });
  const run = async (pipeline: typeof nightly, days: number) => {
    const reporter = silentReporter();
    await pipeline({ ...SALES_ALONE, config, reporter, now: () => new Date(START + days * DAY) });
    return reporter.warnings;
  };
  await run(nightly, 0);
  records = kept;
  await run(nightly, 1);
  const current = join(folder.path, 'lake', 'current');
  return {
    close: (days: number) => run(closing, days),
    outcomes: async () =>
      new Map(
        (await duck.query(`select vehicle_id, outcome from '${current}/closings/*.parquet'`)).map((row) => [
          Number(row.vehicle_id),
          row.outcome,
        ]),
      ),
    prices: () =>
      duck.query(
        `select vehicle_id, final_bid from '${current}/lots/**/*.parquet' where final_bid = 777 order by vehicle_id`,
      ),
    vehicles: () => duck.query(`select vehicle_id from '${current}/vehicles/*.parquet' order by 1`),
  };
}

const others = LEFT.map(({ id }) => id)
  .filter((id) => id !== ODD)
  .sort((a, b) => a - b);

it.each([
  ['data is null', { body: { data: null } }, 'unreadable'],
  ['an empty object', { body: {} }, 'unreadable'],
  ['two records', { body: { data: [LEFT[0], LEFT[1]] } }, 'unreadable'],
  ['410', { status: 410, body: { message: 'gone' } }, 'gone'],
  ['400', { status: 400, body: { message: 'bad id' } }, 'unreadable'],
  ['a lasting 500', { status: 500, body: { message: 'failed' } }, 'unreadable'],
  ['an error in a 200', { body: { error: 'gone' } }, 'unreadable'],
  ['a vehicle of another id', { body: { data: { ...LEFT[1], id: 99_999_999 } } }, 'other_vehicle'],
  [
    'a vehicle that is still in the feed',
    {
      body: {
        data: { ...KEPT[0], lots: KEPT[0]?.lots.map((lot) => ({ ...lot, archived: true, final_bid: 777 })) },
      },
    },
    'other_vehicle',
  ],
] satisfies readonly (readonly [string, Reply, string])[])(
  'one odd answer to a lookup, %s, costs this vehicle alone, and is told',
  async (_name, reply, outcome) => {
    const lake = await closingWith(new Map([[ODD, reply]]));
    const warnings = await lake.close(2);
    const outcomes = await lake.outcomes();
    expect(outcomes.get(ODD)).toBe(outcome);
    expect(others.map((id) => outcomes.get(id))).toEqual(others.map(() => 'found'));
    expect((await lake.prices()).map((row) => row.vehicle_id)).toEqual(others);
    expect((await lake.vehicles()).map((row) => row.vehicle_id)).toEqual(
      CARS.map(({ id }) => id).sort((a, b) => a - b),
    );
    if (outcome !== 'gone') expect(warnings.join()).toContain(`vehicle ${ODD} is left out of this lookup`);
  },
  30_000,
);

it('a service that fails for all of them stops the run, which then looks up every one', async () => {
  const failing = new Map<number, Reply>(
    LEFT.map(({ id }) => [id, { status: 500, body: { message: 'failed' } }]),
  );
  const lake = await closingWith(failing);
  await expect(lake.close(2)).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
  failing.clear();
  await lake.close(2.1);
  expect([...(await lake.outcomes()).values()]).toEqual(LEFT.map(() => 'found'));
}, 30_000);

it('an odd answer to the only lookup of a run is noted, too', async () => {
  const lake = await closingWith(
    new Map([[ODD, { body: { data: null } }]]),
    CARS.filter(({ id }) => id !== ODD),
  );
  await lake.close(2);
  expect([...(await lake.outcomes())]).toEqual([[ODD, 'unreadable']]);
}, 30_000);

it.each([1, 2, 3])(
  'a service that fails for all of %i lookups is no fact about a vehicle',
  async (count) => {
    const gone = LEFT.slice(0, count);
    const failing = new Map<number, Reply>(
      gone.map(({ id }) => [id, { status: 500, body: { message: 'failed' } }]),
    );
    const lake = await closingWith(failing, [...KEPT, ...LEFT.slice(count)]);
    await expect(lake.close(2)).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
    failing.clear();
    await lake.close(2.1);
    expect([...(await lake.outcomes()).values()]).toEqual(gone.map(() => 'found'));
  },
  30_000,
);
