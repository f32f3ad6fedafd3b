import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemas } from '../../src/core/service/contract/records.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { at, get, type Json, listOf, type Seen, seenIn } from './support.js';

const DAY = 86_400_000;
let sandbox: Sandbox;
let seen: Seen[];
/**
 * Vehicles that were in the feed ten days ago and are no longer there, separated by whether the archive feed has them.
 */
let archived: Json[];
let merged: Json[];
let records: Json[];

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 1500, seed: 3 });
  const { world } = sandbox;
  seen = seenIn(world, true);
  records = world.archivedLotIds().map((id): Json => JSON.parse(JSON.stringify(world.archivedLot(id))));
  const known = new Set(records.map((record) => record.car_id));
  const gone = seenIn(world.at(new Date(world.clock.getTime() - 10 * DAY)))
    .map((one) => one.vehicle)
    .filter((vehicle) => world.vehicleJson(Number(vehicle.id)) === undefined);
  archived = gone.filter((vehicle) => known.has(vehicle.id));
  merged = gone.filter((vehicle) => !known.has(vehicle.id));
});
afterAll(() => sandbox.close());

const data = async (path: string): Promise<Json> => {
  const got = await get(sandbox, path);
  expect([path, got.status]).toEqual([path, 200]);
  const { data: vehicle } = JSON.parse(got.text);
  expect(schemas.vehicle.safeParse(vehicle).success).toBe(true);
  return vehicle;
};
const status = async (path: string): Promise<number> => (await get(sandbox, path)).status;
const reports = (vehicle: Json): Json[] => [
  ...listOf(vehicle.inspections),
  ...listOf(vehicle.vehicle_history_reports),
];
const listingOf = (report: Json): string =>
  `${at(report, 'vehicle_ref.domain_id')}/${at(report, 'vehicle_ref.listing_id')}`;
const pairOf = (lot: Json): string => `${at(lot, 'domain.id')}/${lot.lot}`;

describe('/cars/{car_id}', () => {
  it('gives a vehicle of the feed with the newer members and all its reports', async () => {
    for (const { vehicle, lots } of seen.filter((_, place) => place % 30 === 0)) {
      const got = await data(`/cars/${vehicle.id}?prices_history=1`);
      expect(got).toMatchObject({ id: vehicle.id, vin: vehicle.vin, title: vehicle.title });
      expect(listOf(got.lots).map((lot) => [lot.id, lot.prices])).toEqual(
        listOf(vehicle.lots).map((lot) => [lot.id, lot.prices]),
      );
      if ('seats' in vehicle) expect({ ...got, lots: [] }).toEqual({ ...vehicle, lots: [] });
      expect(Object.keys(got)).toEqual(
        expect.arrayContaining(['doors', 'seats', 'listings', 'inspections', 'vehicle_history_reports']),
      );
      expect(listOf(got.listings)).toHaveLength(lots.length);
    }
  });

  it('gives a vehicle that was archived lately, every lot marked, without reports', async () => {
    expect(archived.length).toBeGreaterThan(30);
    expect(archived.some((vehicle) => reports(vehicle).length > 0)).toBe(true);
    for (const { id } of archived.slice(0, 40)) {
      const vehicle = await data(`/cars/${id}`);
      expect(listOf(vehicle.lots).length).toBeGreaterThan(0);
      for (const lot of listOf(vehicle.lots)) {
        expect(lot.archived).toBe(true);
        expect(lot.archived_at).toBe(records.find((record) => record.lot_id === lot.id)?.archived_at);
      }
      expect([vehicle.inspections, vehicle.vehicle_history_reports, vehicle.listings]).toEqual([[], [], []]);
      expect([vehicle.has_inspections, vehicle.has_history_reports]).toEqual([false, false]);
    }
  });

  it('forgets a vehicle about a month after it was archived', async () => {
    const clock = sandbox.clock;
    const [first] = archived;
    const ended = Date.parse(
      String(records.filter((record) => record.car_id === first?.id).at(-1)?.archived_at),
    );
    for (const [days, wanted] of [
      [29, 200],
      [31, 404],
    ] as const) {
      sandbox.setClock(new Date(ended + days * DAY));
      expect([days, await status(`/cars/${first?.id}`)]).toEqual([days, wanted]);
    }
    sandbox.setClock(clock);
  });

  it('answers 404 for a vehicle that was merged into another or never existed', async () => {
    expect(merged.length).toBeGreaterThan(0);
    for (const { id } of merged) expect(await status(`/cars/${id}`)).toBe(404);
    for (const id of [0, 1, 999_999_999]) expect(await status(`/cars/${id}`)).toBe(404);
  });

  it('refuses an invalid id', async () => {
    const got = await get(sandbox, '/cars/first');
    expect([got.status, got.body.message]).toEqual([400, expect.stringContaining('car_id')]);
    expect(await status('/cars/100000?prices_history=x')).toBe(400);
  });
});

describe('/listing/{domain_id}/{listing_id}', () => {
  it('gives the reports of exactly that listing; together they are those of the vehicle', async () => {
    const reported = seen.filter(({ vehicle }) => reports(vehicle).length > 0);
    const several = reported.filter(({ lots }) => lots.length > 1);
    expect(several.length).toBeGreaterThan(1);
    for (const { vehicle, lots } of [...several.slice(0, 6), ...reported.slice(0, 20)]) {
      const ids: unknown[] = [];
      for (const lot of lots) {
        const got = await data(`/listing/${pairOf(lot)}`);
        expect(got.id).toBe(vehicle.id);
        expect(listOf(got.lots)).toHaveLength(listOf(vehicle.lots).length);
        expect(
          reports(got)
            .map(listingOf)
            .every((pair) => pair === pairOf(lot)),
        ).toBe(true);
        ids.push(...reports(got).map((report) => report.report_id));
      }
      expect(ids.sort()).toEqual(
        reports(vehicle)
          .map((report) => report.report_id)
          .sort(),
      );
    }
  });

  it('gives the reports of a listing that is archived, which its vehicle no longer has', async () => {
    const korean = records.filter((record) => at(record, 'domain.id') === 12);
    expect(korean.length).toBeGreaterThan(10);
    let found = 0;
    for (const record of korean) {
      const got = await data(`/listing/12/${record.lot}`);
      expect(got.id).toBe(record.car_id);
      expect(listOf(got.lots).find((lot) => lot.id === record.lot_id)).toMatchObject({
        archived: true,
        archived_at: record.archived_at,
      });
      expect(reports(got).every((report) => listingOf(report) === `12/${record.lot}`)).toBe(true);
      found += reports(got).length;
      const whole = await data(`/cars/${record.car_id}`);
      expect(reports(whole).map(listingOf)).not.toContain(`12/${record.lot}`);
    }
    expect(found).toBeGreaterThan(korean.length);
  });

  it('has the reports of a listing of sources 1 and 3, if there are any', async () => {
    const served = seen.flatMap(({ vehicle }) => reports(vehicle)).map(listingOf);
    const listings = [...new Set(served)].filter((listing) => !listing.startsWith('12/')).slice(0, 10);
    expect(listings.length).toBe(10);
    for (const listing of listings) {
      const found = reports(await data(`/listing/${listing}`)).map(listingOf);
      expect(found).toEqual(served.filter((other) => other === listing));
    }
    const bare = seen.flatMap((one) => one.lots).find((lot) => at(lot, 'domain.id') === 3);
    expect(reports(await data(`/listing/3/${bare?.lot}`))).toEqual([]);
  });

  it('answers 404 for a listing of another source or an unknown one, and 400 for an unknown source', async () => {
    const lot = seen.flatMap((one) => one.lots).find((one) => at(one, 'domain.id') === 3);
    expect(await status(`/listing/1/${lot?.lot}`)).toBe(404);
    expect(await status('/listing/12/none')).toBe(404);
    expect(await status('/listing/12/99999999')).toBe(404);
    const refused = await get(sandbox, `/listing/2/${lot?.lot}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('domain_id')]);
    expect((await get(sandbox, '/listing/x/1')).status).toBe(400);
  });
});

describe('/search-vin/{vin}', () => {
  const vins = (): string[] =>
    seen
      .map(({ vehicle }) => vehicle.vin)
      .filter((vin) => typeof vin === 'string' && vin.length === 17) as string[];

  it('gives the record of /cars, in whatever case the VIN is written', async () => {
    for (const vin of vins().slice(0, 40)) {
      const ids = seen.filter(({ vehicle }) => vehicle.vin === vin).map(({ vehicle }) => Number(vehicle.id));
      const got = await data(`/search-vin/${vin.toLowerCase()}`);
      expect(got).toEqual(JSON.parse(sandbox.world.vehicleJson(Math.max(...ids)) ?? ''));
    }
  });

  it('adds prices on request', async () => {
    const priced = seen.find(
      ({ vehicle, lots }) =>
        vehicle.vin !== '' && vehicle.vin !== null && lots.some((lot) => listOf(lot.prices).length > 0),
    );
    const path = `/search-vin/${priced?.vehicle.vin}`;
    expect((await get(sandbox, `${path}?prices_history=1`)).text).toContain('"prices":[{');
    expect((await get(sandbox, path)).text).not.toContain('"prices"');
  });

  it('finds archived vehicles, and answers 404 if there is none', async () => {
    const alone = archived.find(
      (vehicle) =>
        typeof vehicle.vin === 'string' && vehicle.vin.length === 17 && !vins().includes(vehicle.vin),
    );
    expect((await data(`/search-vin/${alone?.vin}`)).id).toBe(alone?.id);
    expect(await status('/search-vin/1HGCM82633A004352')).toBe(404);
    expect(await status('/search-vin/')).toBe(404);
    expect(await status('/search-vin/%zz')).toBe(404);
  });
});

describe('/search-lot/{lot}/{domain}', () => {
  const names = { 1: 'iaai_com', 3: 'copart_com', 12: 'encar_com' } as const;

  it.each([1, 3, 12] as const)(
    'finds lots of source %i with and without the source, nowhere else',
    async (domain) => {
      const some = seen
        .filter(({ lots }) => lots.some((lot) => at(lot, 'domain.id') === domain))
        .slice(0, 15);
      for (const { vehicle, lots } of some) {
        const lot = lots.find((one) => at(one, 'domain.id') === domain);
        const got = await data(`/search-lot/${lot?.lot}/${names[domain]}?prices_history=1`);
        expect(got).toEqual(vehicle);
        expect((await data(`/search-lot/${lot?.lot}`)).id).toBe(vehicle.id);
        expect(await status(`/search-lot/${lot?.lot}/${names[domain === 1 ? 3 : 1]}`)).toBe(404);
      }
    },
  );

  it('finds archived lots, and lots that moved to another vehicle', async () => {
    for (const record of records.slice(0, 20))
      expect((await data(`/search-lot/${record.lot}`)).id).toBe(record.car_id);
    let moved = 0;
    for (const vehicle of merged) {
      const got = await get(sandbox, `/search-lot/${listOf(vehicle.lots)[0]?.lot}`);
      if (got.status !== 200) continue;
      moved += 1;
      expect(got.body.data).not.toMatchObject({ id: vehicle.id });
    }
    expect(moved).toBeGreaterThan(0);
  });

  it('takes the id inside source 1 with search_by_id', async () => {
    const lots = seen
      .flatMap((one) => one.lots.map((lot) => ({ id: one.vehicle.id, lot })))
      .filter(({ lot }) => lot.external_id !== null);
    for (const { id, lot } of lots.slice(0, 15)) {
      const external = String(lot.external_id);
      expect((await data(`/search-lot/${external}/iaai_com?search_by_id=1`)).id).toBe(id);
      expect((await data(`/search-lot/${external.replace('~US', '')}?search_by_id=1`)).id).toBe(id);
      const asNumber = await get(sandbox, `/search-lot/${external.replace('~US', '')}`);
      expect(at(asNumber.body.data, 'id')).not.toBe(id);
      expect(await status(`/search-lot/${external}/iaai_com`)).toBe(404);
    }
    const refused = await get(sandbox, '/search-lot/1/copart_com?search_by_id=1');
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('search_by_id')]);
  });

  it('refuses an unknown source, and answers 404 for an unknown lot', async () => {
    const refused = await get(sandbox, '/search-lot/30000000/auction_com');
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('domain')]);
    for (const lot of ['0', 'abc', '9999999999', '30000000'])
      expect([lot, await status(`/search-lot/${lot}`)]).toEqual([lot, 404]);
  });
});

describe('a key for one source', () => {
  it('sees nothing of the others', async () => {
    const one = await startSandbox({ vehicles: 1500, seed: 3, domains: [12] });
    const ask = async (path: string): Promise<number> => (await get(one, path)).status;
    const foreign = seen.find(
      ({ vehicle, lots }) =>
        lots.every((lot) => at(lot, 'domain.id') === 3) && String(vehicle.vin).length === 17,
    );
    const lot = foreign?.lots[0];
    const paths = [
      `/cars/${foreign?.vehicle.id}`,
      `/search-vin/${foreign?.vehicle.vin}`,
      `/search-lot/${lot?.lot}`,
      `/listing/3/${lot?.lot}`,
      `/search-lot/${lot?.lot}/copart_com`,
    ];
    expect(await Promise.all(paths.map(ask))).toEqual([404, 404, 404, 401, 401]);
    const own = seen.find(({ lots }) => lots.some((other) => at(other, 'domain.id') === 12));
    expect(await ask(`/cars/${own?.vehicle.id}`)).toBe(200);
    expect(await ask(`/search-lot/${own?.lots[0]?.lot}/encar_com`)).toBe(200);
    await one.close();
  });
});
