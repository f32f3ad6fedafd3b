import {
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { executeVacuum, planVacuum } from '../../src/beyond/keep/vacuum-lake.js';
import { verifyLanding } from '../../src/beyond/keep/verify-landing.js';
import { pullLanding, pushLanding } from '../../src/beyond/mirror/landing.js';
import { checkLanding } from '../../src/cli/doctor/local.js';
import { summarize } from '../../src/cli/summary.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { createWorld } from '../../src/sandbox/index.js';
import { memoryStore } from '../mirror/memory-store.js';
import { firstLot, recordsOf, vehicleAt } from '../served.js';
import {
  configFor,
  expectSameLake,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';
import { readLake, rowsOf } from './world-oracle.js';

const START = Date.parse('2026-11-18T02:00:00Z');
const DAY = 86_400_000;
const SIZE = 10;
const records = recordsOf(createWorld({ vehicles: 40, seed: 5 }));

type Vehicle = (typeof records)[number];

let folder: ReturnType<typeof temporaryFolder>;
let service: Awaited<ReturnType<typeof serve>>;
let feed: Vehicle[];
/** The vehicles of a window. */
let changed: Vehicle[];
/** Paths, or pages of the feed, that the service refuses. */
let refused: Set<string | number>;
let now: number;
let warnings: string[];

beforeEach(async () => {
  folder = temporaryFolder();
  [feed, changed, refused, now, warnings] = [[...records], [], new Set(), START, []];
  service = await serve(({ pathname, searchParams }) => {
    if (refused.has(pathname)) return { status: 403, body: { message: 'no' } };
    if (pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    const list = searchParams.has('minutes') ? changed : feed;
    const page = Number(searchParams.get('page'));
    if (refused.has(page)) return { status: 403, body: { message: 'no' } };
    const last = Math.max(1, Math.ceil(list.length / SIZE));
    const data = list.slice((page - 1) * SIZE, page * SIZE);
    const next = page < last ? `http://service.example/api/cars?page=${page + 1}` : null;
    const meta = { current_page: page, last_page: last, per_page: SIZE, total: list.length };
    return { body: { data, links: { next }, meta } };
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

const job = (more: ConfigInput = {}) => {
  const reporter = silentReporter();
  warnings = reporter.warnings;
  const config = configFor(service.url, folder.path, {
    ...{ allowShrink: true, referenceDays: 10_000, concurrency: 1, perPage: SIZE, keyframeDays: 3 },
    ...more,
  });
  return { ...WITHOUT_MARTS, config, reporter, now: () => new Date(now) };
};

/** The vehicle at a place in the feed, with another bid. */
const withBid = (index: number, bid: number): Vehicle => {
  const vehicle = structuredClone(vehicleAt(records, index));
  firstLot(vehicle).bid = bid;
  return vehicle;
};
const bid = (index: number, value: number): void => {
  feed[index] = withBid(index, value);
};

async function night(days = 1, more: ConfigInput = {}): Promise<RunResult> {
  now += days * DAY;
  return nightly(job(more));
}

async function hour(index: number, value: number): Promise<void> {
  now += 3_600_000;
  bid(index, value);
  changed = [withBid(index, value)];
  await incremental(job());
}

const cars = () => join(folder.path, 'landing', 'cars');
const ids = () => readdirSync(cars()).sort();
const followed = () =>
  verifyLanding(join(folder.path, 'landing'), new Date(now), new AbortController().signal);
const passOf = (id = '') => JSON.parse(readFileSync(join(cars(), id, 'pass.json'), 'utf8'));
const told = () =>
  ids().map((id) => `${passOf(id).kind} ${passOf(id).form} ${passOf(id).landed}/${passOf(id).records}`);

/** Lines in the files of a pass. */
const linesIn = (id: string): string[] =>
  readdirSync(join(cars(), id))
    .filter((name) => name.endsWith('.gz'))
    .flatMap((name) =>
      gunzipSync(readFileSync(join(cars(), id, name)))
        .toString()
        .split('\n'),
    )
    .filter((line) => line !== '');

async function expectRebuilt(): Promise<void> {
  const before = await readLake(folder.path);
  await rebuild(job());
  const after = await readLake(folder.path);
  // The table of runs has a row for the rebuild.
  for (const lake of [before, after]) (lake as Map<string, unknown>).delete('runs');
  expectSameLake(after, before);
}

describe('a full pass', () => {
  it('lands every record, then what changed, and every record again after some days', async () => {
    const all = records.length;
    for (const day of [0, 1, 2, 3, 4]) {
      bid(day, 1000 + day);
      await night();
    }
    expect(told()).toEqual([
      `full keyframe ${all}/${all}`,
      ...[1, 1].map((landed) => `full delta ${landed}/${all}`),
      `full keyframe ${all}/${all}`,
      `full delta 1/${all}`,
    ]);
    const [first, second, third = ''] = ids();
    expect(passOf(third)).toMatchObject({ keyframe: first, group: [first, second] });
    expect(linesIn(third).map((line) => JSON.parse(line).id)).toEqual([vehicleAt(records, 2).id]);
    await expectRebuilt();
    expect(await told()).toHaveLength(5);
  });

  it('lands the records with bad values again, and not the others of their page', async () => {
    const broken = { ...vehicleAt(records, 3), year: 'no year', engine: [] } as unknown as Vehicle;
    feed[3] = broken;
    feed[4] = { ...vehicleAt(records, 4), engine: [] } as unknown as Vehicle;
    for (const _ of [1, 2]) await night();
    expect(told()[1]).toBe(`full delta 1/${records.length}`);
    const before = rowsOf(await readLake(folder.path), 'rejects');
    expect(before.map(({ record_id, position }) => [record_id, position])).toEqual([
      [String(broken.id), 3],
      [String(broken.id), 0],
    ]);
    await expectRebuilt();
  });

  it('lands every record if keyframeDays is 0', async () => {
    for (const _ of [1, 2]) await night(1, { keyframeDays: 0 });
    expect(told()).toEqual([1, 2].map(() => `full keyframe ${records.length}/${records.length}`));
  });

  it('lands a record that the lake has, but no pass of its group', async () => {
    feed = records.slice(1);
    await night();
    feed = [...records];
    await hour(0, 5);
    feed = [withBid(0, 5), ...records.slice(1)];
    await night();
    // The window has landed it, and is of the group.
    expect(told().at(-1)).toBe(`full delta 0/${records.length}`);
    await expectRebuilt();
  });

  it('is rebuilt with windows and lost vehicles between', async () => {
    await night();
    await hour(3, 700);
    feed = feed.filter((_, i) => i !== 7);
    await night(0.5);
    await hour(2, 800);
    feed = [...feed.slice(0, 7), vehicleAt(records, 7), ...feed.slice(7)];
    bid(3, 900);
    await night(0.5);
    expect(told().map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
      'full keyframe',
      'window null',
      'full delta',
      'window null',
      'full delta',
    ]);
    await expectRebuilt();
    await night(0.5);
    expect(told().at(-1)).toContain('full delta');
    await expectRebuilt();
  });
});

describe('a delta that a run left', () => {
  it('is resumed, and only pages with a record that came otherwise since are asked for again', async () => {
    await night();
    refused.add(2);
    bid(25, 77);
    now += DAY;
    await expect(nightly(job())).rejects.toThrow();
    refused.clear();
    await hour(35, 99);
    const before = service.requests.length;
    await night(0.1);
    const asked = service.requests
      .slice(before)
      .filter((path) => path.startsWith('/api/cars?') && path.includes(`per_page=${SIZE}`))
      .map((path) => Number(new URLSearchParams(path.split('?')[1]).get('page')));
    expect(asked.sort()).toEqual([1, 2, 4]);
    expect(warnings.join()).toContain('1 page of pass');
    expect(told().slice(0, 2)).toEqual([
      `full keyframe ${records.length}/${records.length}`,
      `full delta 2/${records.length}`,
    ]);
    await expectRebuilt();
  });

  it('is replayed after a run in between, as it was merged, whatever it holds', async () => {
    await night(1, { keyframeDays: 0 });
    refused.add(2);
    now += DAY;
    await expect(nightly(job({ keyframeDays: 0 }))).rejects.toThrow();
    refused.clear();
    // On the page that is landed after the window.
    await hour(15, 99);
    await night(0.1, { keyframeDays: 0 });
    await expectRebuilt();
  });

  it('is given up if its keyframe is gone', async () => {
    await night();
    refused.add('/api/archived-lots');
    now += DAY;
    await expect(nightly(job())).rejects.toThrow();
    refused.clear();
    rmSync(join(cars(), ids()[0] ?? ''), { recursive: true });
    await night(0.1);
    expect(warnings.join('\n')).toContain('landing lacks a pass that it builds on');
    expect(told()[1]).toBe(`full keyframe ${records.length}/${records.length}`);
  });
});

describe('a keyframe', () => {
  it('that is missing costs the deltas, and what the lake knows is carried over', async () => {
    await night();
    for (const day of [1, 2]) {
      bid(day, 1000 + day);
      await night();
    }
    await hour(5, 55);
    const before = rowsOf(await readLake(folder.path), 'lots');
    renameSync(join(cars(), ids()[0] ?? ''), join(folder.path, 'aside'));
    await rebuild(job());
    expect(warnings.filter((text) => text.includes('is left out: it is a delta'))).toHaveLength(2);
    expect(checkLanding(job().config).text).toContain('a rebuild can no longer replay 2 deltas since');
    expect((await followed()).problems).toMatchObject([
      { records: null, lost: { deltas: [expect.any(String), expect.any(String)] } },
    ]);
    expect(rowsOf(await readLake(folder.path), 'lots')).toHaveLength(before.length);
    await night(0.1);
    expect(told().at(-1)).toBe(`full keyframe ${records.length}/${records.length}`);
  });

  it('that is damaged is named by a rebuild, and the next night lands another', async () => {
    await night();
    await night();
    const path = join(cars(), ids()[0] ?? '', 'page-000002.ndjson.gz');
    const bytes = readFileSync(path);
    const middle = bytes.length >> 1;
    bytes[middle] = ~(bytes[middle] ?? 0) & 0xff;
    writeFileSync(path, bytes);
    const failed = { code: 'LAND_FAILED', message: expect.stringContaining(`the deltas ${ids()[1]} cannot`) };
    await expect(rebuild(job())).rejects.toMatchObject(failed);
    expect(passOf(ids()[0]).damaged_at).toBe(new Date(now).toISOString());
    const [first = '', second = ''] = ids();
    expect(await followed()).toEqual({
      ...{ deltas: 1, noted: true },
      problems: [
        {
          ...{
            stream: 'cars',
            pass_id: first,
            problem: `not as it was landed: ${path}`,
            records: records.length,
          },
          lost: { deltas: [second], since: passOf(second).started_at, landed: 0, left_out: records.length },
        },
      ],
    });
    bytes[middle] = ~(bytes[middle] ?? 0) & 0xff;
    writeFileSync(path, bytes);
    expect(await followed()).toEqual({ deltas: 1, noted: true, problems: [] });
    expect(passOf(first).damaged_at).toBeNull();
    truncateSync(path, 10);
    expect((await followed()).problems).toMatchObject([
      { problem: expect.stringContaining('has 4 of its 5 pages') },
    ]);
    await night(0.1);
    expect(passOf(ids()[2])).toMatchObject({ form: 'keyframe', landed: records.length });
  });
});

it('a vacuum removes whole groups, and the rest is rebuilt', async () => {
  for (const day of [0, 1, 2, 3, 4]) {
    bid(day, 1000 + day);
    await night();
  }
  const { connection, close } = await openTemporarySession({ memory: '500MB', threads: 1 }).then(
    ({ session, ...opened }) => ({ connection: session.connection, ...opened }),
  );
  const layout = layoutOf(folder.path);
  const before = ids();
  const retention = { keepSnapshots: 1, keepDays: 0, keepPasses: 1 };
  const plan = await planVacuum(connection, layout, retention).finally(close);
  expect(plan.staying).toEqual([join('landing', 'cars', before[3] ?? '')]);
  await executeVacuum(layout, plan, new AbortController().signal);
  expect(ids()).toEqual(before.slice(3));
  const lots = rowsOf(await readLake(folder.path), 'lots');
  await rebuild(job());
  expect(rowsOf(await readLake(folder.path), 'lots')).toEqual(lots);
});

it('landing that a mirror gives back is rebuilt', async () => {
  for (const day of [0, 1, 2]) {
    bid(day, 1000 + day);
    await night();
  }
  const store = memoryStore();
  await pushLanding(join(folder.path, 'landing'), store);
  const elsewhere = temporaryFolder();
  await pullLanding(join(elsewhere.path, 'landing'), store);
  await rebuild(job({ output: elsewhere.path }));
  const [there, here] = [await readLake(elsewhere.path), await readLake(folder.path)];
  for (const table of ['vehicles', 'lots', 'prices', 'lot_changes', 'sightings'])
    expect(rowsOf(there, table), table).toEqual(rowsOf(here, table));
  elsewhere.remove();
});

it('the summary and the record of a run say how many records were landed', async () => {
  await night();
  bid(1, 12);
  const result = await night();
  const said = `cars ${records.length} (1 landed, ${records.length - 1} as before)`;
  expect(summarize(result, { cwd: '/', called: 'lotlake', length: 'short' })).toContain(said);
  const run = JSON.parse(readFileSync(join(folder.path, 'runs', result.runId, 'run.json'), 'utf8'));
  const extracted = run.stages.find((stage: { name: string }) => stage.name === 'extract');
  expect(extracted.counts).toMatchObject({
    records: records.length,
    landed: 1,
    left_out: records.length - 1,
  });
});

it('a delta whose list of unchanged records is damaged is not replayed in part', async () => {
  await night();
  await night();
  const path = join(cars(), ids()[1] ?? '', 'fingerprints.bin');
  const bytes = readFileSync(path);
  bytes[9] = ~(bytes[9] ?? 0) & 0xff;
  writeFileSync(path, bytes);
  await expect(rebuild(job())).rejects.toMatchObject({ message: expect.stringContaining(path) });
  truncateSync(path, statSync(path).size - 16);
  await expect(rebuild(job())).rejects.toMatchObject({
    message: expect.stringContaining('has 4 of its 5 pages'),
  });
});

it('a night that goes on from an older snapshot lands every record, since landing has later passes', async () => {
  await night();
  const [first = ''] = readdirSync(join(folder.path, 'lake', 'snapshots'));
  bid(1, 12);
  await night();
  const current = join(folder.path, 'lake', 'current');
  cpSync(join(folder.path, 'lake', 'snapshots', first), join(folder.path, 'first'), { recursive: true });
  rmSync(
    join(
      folder.path,
      'lake',
      'snapshots',
      readdirSync(join(folder.path, 'lake', 'snapshots')).sort()[1] ?? '',
      'lots',
    ),
    { recursive: true },
  );
  expect(statSync(current).isDirectory()).toBe(true);
  await night();
  expect(told().at(-1)).toBe(`full keyframe ${records.length}/${records.length}`);
});
