import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saveLookup } from '../../pipelines/lookup.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { lookupOf } from '../../src/cli/commands/lookup.js';
import { createWorld } from '../../src/sandbox/index.js';
import { firstLot, recordsOf, vehicleAt } from '../served.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';
import { readLake, rowsOf } from './world-oracle.js';

const START = Date.parse('2026-11-18T02:00:00Z');
const world = createWorld({ vehicles: 40, seed: 5 });
const records = recordsOf(world);
const vehicle = vehicleAt(records, 0);
const others = records.slice(1);

let folder: ReturnType<typeof temporaryFolder>;
let service: Awaited<ReturnType<typeof serve>>;
let feed: readonly unknown[];
/** The records of the second page. */
let behind: readonly unknown[];
let isBehindBroken: boolean;
let archive: readonly unknown[];
let looked: unknown;
let now: number;

beforeEach(async () => {
  [feed, behind, isBehindBroken, archive, looked, now] = [records, [], false, [], undefined, START];
  folder = temporaryFolder();
  service = await serve(({ pathname, searchParams }) => {
    if (pathname === '/api/cars') {
      if (searchParams.get('page') === '2')
        return isBehindBroken ? { status: 403, body: { message: 'no' } } : { body: lastPage(behind) };
      const next = behind.length === 0 ? null : '?page=2';
      return { body: { ...lastPage(feed), links: { next } } };
    }
    if (pathname === '/api/archived-lots') {
      // The archive feed is asked two hours after the pages of vehicles.
      now += 2 * 3_600_000;
      return { body: lastPage(archive) };
    }
    if (pathname === `/api/cars/${vehicle.id}` && looked !== undefined) return { body: { data: looked } };
    return { status: 404, body: { message: 'not here' } };
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

const job = (more: ConfigInput = {}) => {
  const config = configFor(service.url, folder.path, { allowShrink: true, ...more });
  return { ...WITHOUT_MARTS, config, reporter: silentReporter(), now: () => new Date(now) };
};
const at = (ms: number): string => new Date(ms).toISOString();

/** Runs a night. Returns how many records of the feed were unchanged. */
async function night(hours = 24, more: ConfigInput = {}): Promise<number | undefined> {
  now += hours * 3_600_000;
  const { balance } = await nightly(job(more));
  return balance.streams.find(({ stream }) => stream === 'cars')?.unchanged;
}

async function lotsOfVehicle() {
  const lots = rowsOf(await readLake(folder.path), 'lots').filter((lot) => lot.vehicle_id === vehicle.id);
  return lots.map(({ archived, archived_by, bid }) => ({ archived, archived_by, bid }));
}
const active = (bid = firstLot(vehicle).bid) =>
  vehicle.lots.map(() => ({ archived: false, archived_by: null, bid }));

describe('a record that comes unchanged', () => {
  it('is not loaded again, and counts as present', async () => {
    expect(await night()).toBe(0);
    const before = await readLake(folder.path);
    expect(await night()).toBe(records.length);
    const after = await readLake(folder.path);
    for (const table of ['vehicles', 'lots', 'prices', 'lot_changes', 'checked_items', 'lot_images'])
      expect(rowsOf(after, table)).toEqual(rowsOf(before, table));
  });

  it('is archived when the next pass lacks it, and active when it comes back', async () => {
    await night();
    feed = others;
    expect(await night()).toBe(others.length);
    expect((await lotsOfVehicle()).map((lot) => lot.archived_by)).toEqual(vehicle.lots.map(() => 'absence'));
    feed = records;
    expect(await night()).toBe(others.length);
    expect(await lotsOfVehicle()).toEqual(active());
    expect(await night()).toBe(records.length);
  });

  it('is archived when the archive feed names it later, and active when the feed lists it after that', async () => {
    await night();
    archive = vehicle.lots.map((lot) => ({
      archived_at: at(now + 86_400_000 + 3_600_000),
      lot_id: lot.id,
      car_id: vehicle.id,
    }));
    expect(await night()).toBe(records.length);
    expect((await lotsOfVehicle()).map((lot) => lot.archived_by)).toEqual(
      vehicle.lots.map(() => 'archive-feed'),
    );
    archive = [];
    expect(await night()).toBe(others.length);
    expect(await lotsOfVehicle()).toEqual(active());
  });

  it('replaces what a lookup brought meanwhile', async () => {
    await night();
    looked = { ...vehicle, lots: vehicle.lots.map((lot) => ({ ...lot, bid: 123_456 })) };
    await saveLookup(job(), lookupOf({ kind: 'car', id: String(vehicle.id) }));
    expect(await lotsOfVehicle()).toEqual(active(123_456));
    expect(await night()).toBe(others.length);
    expect(await lotsOfVehicle()).toEqual(active());
  });

  it('counts if it came changed on an earlier page', async () => {
    const changed = { ...vehicle, lots: vehicle.lots.map((lot) => ({ ...lot, bid: 123_456 })) };
    await night();
    [feed, behind] = [[changed, ...others], [vehicle]];
    await night();
    expect(await lotsOfVehicle()).toEqual(active());
    [feed, behind] = [[changed, ...others], []];
    await night();
    expect(await lotsOfVehicle()).toEqual(active(123_456));
  });

  it('is known after a pass that a second run resumed', async () => {
    [feed, behind] = [[vehicle], others];
    isBehindBroken = true;
    await expect(night()).rejects.toThrow('403');
    isBehindBroken = false;
    expect(await night(1)).toBe(0);
    expect(await night()).toBe(records.length);
  });

  it('is known after a rebuild', async () => {
    await night();
    const changed = { ...vehicle, lots: vehicle.lots.map((lot) => ({ ...lot, bid: 123_456 })) };
    feed = [changed, ...others];
    await night();
    await rebuild(job());
    expect(await night()).toBe(records.length);
    expect(await lotsOfVehicle()).toEqual(active(123_456));
  });

  it('is loaded again after a rebuild if the vehicle had left', async () => {
    await night();
    feed = others;
    await night();
    await rebuild(job());
    feed = records;
    expect(await night()).toBe(others.length);
    expect(await lotsOfVehicle()).toEqual(active());
  });

  it('is loaded again after a rebuild from a part of landing if the vehicle had left', async () => {
    await night();
    feed = others;
    await night(24, { keyframeDays: 0 });
    const landing = join(folder.path, 'landing', 'cars');
    rmSync(join(landing, readdirSync(landing)[0] ?? ''), { recursive: true });
    await rebuild(job());
    feed = records;
    expect(await night()).toBe(others.length);
    expect(await lotsOfVehicle()).toEqual(active());
  });

  it('is loaded again if the fingerprints of a pass are lost', async () => {
    await night();
    const landing = join(folder.path, 'landing', 'cars');
    for (const id of readdirSync(landing)) truncateSync(join(landing, id, 'fingerprints.bin'), 16);
    await rebuild(job());
    expect(await night()).toBe(0);
    expect(await night()).toBe(records.length);
  });

  it('is loaded again if the fingerprints of the snapshot are lost', async () => {
    await night();
    const snapshots = join(folder.path, 'lake', 'snapshots');
    for (const id of readdirSync(snapshots)) rmSync(join(snapshots, id, 'fingerprints.bin'));
    expect(await night()).toBe(0);
    expect(await night()).toBe(records.length);
  });

  it('counts as landed and loaded', async () => {
    await night();
    now += 86_400_000;
    const { balance, passes } = await nightly(job());
    const [cars] = balance.streams;
    expect(cars).toMatchObject({ landed: records.length, loaded: records.length, rejected: 0 });
    expect(passes[0]?.record.records).toBe(records.length);
  });
});
