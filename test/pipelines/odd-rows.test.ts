import { afterEach, describe, expect, it } from 'vitest';
import { firstLot, type LotRecord, need, type VehicleRecord } from '../served.js';
import { vehicles as all, feed } from './feed.js';

const vehicles = all.slice(0, 60);

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

/** A vehicle with a lot that has some prices, by their ids. */
function withPrices(vehicle: VehicleRecord, ids: readonly unknown[], more: Partial<LotRecord> = {}): object {
  const prices = ids.map((id, i) => ({ id, status: { id: 6, name: 'sold' }, bid: 100 + i, sale_date: null }));
  return { ...vehicle, lots: [{ ...firstLot(vehicle), ...more, prices }] };
}

const PRICES = "from '$lake/prices/**/*.parquet' where gone_at is null";
const [first, second, third] = vehicles.map((vehicle) => ({ ...vehicle, lots: [firstLot(vehicle)] }));

describe('prices with ids that repeat', () => {
  it('among lots are rows of their own', async () => {
    const { night, query } = await feed(cleanups);
    const { warnings } = await night(vehicles.map((vehicle) => withPrices(vehicle, [1, 2, 3])));
    expect(await query(`select count(*) as n ${PRICES}`)).toEqual([{ n: 180 }]);
    expect(warnings.join()).not.toContain('key');
  });

  it('within a lot are counted if they differ', async () => {
    const { night, query } = await feed(cleanups);
    const { warnings } = await night(vehicles.map((vehicle) => withPrices(vehicle, [1, 1, 2])));
    expect(await query(`select count(*) as n ${PRICES}`)).toEqual([{ n: 120 }]);
    expect(warnings).toContainEqual(
      expect.stringContaining('60 rows of prices came with the key of another row'),
    );
  });

  it('are the same entries when they come as 7.0, as a text or as digits', async () => {
    const { night, query } = await feed(cleanups);
    const sound = vehicles.map((vehicle) => withPrices(vehicle, [vehicle.id * 10, vehicle.id * 10 + 1]));
    await night(sound);
    const texts = JSON.stringify(sound).replaceAll(/("prices":\[.*?\])/g, (list) =>
      list.replaceAll(/"id":(\d{4,}),/g, (_, id) =>
        Number(id) % 2 === 0 ? `"id":"${id}",` : `"id":"${id}.0",`,
      ),
    );
    await night(JSON.parse(texts));
    expect(await query(`select count(*) as n, count(distinct price_id) as ids ${PRICES}`)).toEqual([
      { n: 120, ids: 120 },
    ]);
  });
});

describe('lots with ids that repeat', () => {
  it('are counted, and one of each id is in the lake', async () => {
    const { night, query } = await feed(cleanups);
    const same = vehicles.map((vehicle, i) => ({
      ...vehicle,
      lots: [{ ...firstLot(vehicle), id: 7000 + (i % 20) }],
    }));
    const { warnings } = await night(same);
    expect(await query("select count(*) as n from '$lake/lots/**/*.parquet'")).toEqual([{ n: 20 }]);
    expect(warnings).toContainEqual(
      expect.stringContaining('40 rows of lots came with the key of another row'),
    );
  });
});

describe('a vehicle that comes in several copies', () => {
  const lots = [1, 2].map((n) => ({ ...firstLot(need(first, 'a vehicle')), id: 9000 + n }));
  const ALL =
    "select lot_id, bid from '$lake/lots/**/*.parquet' where lot_id > 9000 and lot_id < 9003 and not archived order by 1";

  it.each([
    ['on one page', 0],
    ['over a border of pages', 48],
  ])('keeps the lots and prices of each: %s', async (_, place) => {
    const { night, query } = await feed(cleanups);
    const [one, two] = lots.map((lot) => ({
      ...need(first, 'a vehicle'),
      lots: [{ ...lot, prices: [{ id: lot.id, bid: 1 }] }],
    }));
    const others = vehicles.filter(({ id }) => id !== first?.id);
    const records = [...others.slice(0, place), one, two, ...others.slice(place)];
    await night(records);
    expect(await query(ALL)).toHaveLength(2);
    expect(await query(`select count(*) as n ${PRICES} and lot_id > 9000 and lot_id < 9003`)).toEqual([
      { n: 2 },
    ]);
    await night([...records].reverse());
    expect(await query(ALL)).toHaveLength(2);
  });

  it('has the newest copy of a lot, else the last, on one page, too', async () => {
    const { night, query } = await feed(cleanups);
    const copy = (lot: number, bid: number, updated_at: string | null) => ({
      ...need(first, 'a vehicle'),
      lots: [{ ...lots[lot], bid, updated_at }],
    });
    await night([
      copy(0, 1, '2026-11-17T00:00:00Z'),
      copy(0, 2, '2026-11-16T00:00:00Z'),
      copy(0, 3, '2199-01-01T00:00:00Z'),
      copy(1, 4, null),
      copy(1, 5, null),
      ...vehicles.slice(1),
    ]);
    expect(await query(ALL)).toEqual([
      { lot_id: 9001, bid: 1 },
      { lot_id: 9002, bid: 5 },
    ]);
  });

  it('keeps what came as before beside what came otherwise, in either order', async () => {
    const { night, query } = await feed(cleanups);
    const others = vehicles.slice(1, 55);
    const [one, two] = lots.map((lot) => ({ ...need(first, 'a vehicle'), lots: [lot] }));
    await night([...others, one]);
    await night([two, ...others, one]);
    expect(await query(ALL)).toHaveLength(2);
    await night([one, ...others, two]);
    expect(await query(ALL)).toHaveLength(2);
    // The night after says what is gone.
    await night([...others, two]);
    expect(await query(ALL)).toEqual([{ lot_id: 9002, bid: 100 }]);
  });

  it('loses what left the feed with it in the next night', async () => {
    const { night, query } = await feed(cleanups);
    const some = vehicles.slice(0, 55);
    const before = some.map((vehicle) => ({
      ...Object(withPrices(vehicle, [1, 2])),
      listings: [{ has_history_reports: true }, { has_history_reports: true }],
    }));
    const after = some.map((vehicle) => ({
      ...Object(withPrices(vehicle, [1])),
      listings: [{ has_history_reports: true }],
    }));
    await night(before);
    // A page with a vehicle that comes twice is asked for again, so that all of it comes twice.
    await night([after[0], ...after]);
    await night(after);
    const there = async (table: string, pattern: string) =>
      (await query(`select count(*) as n from '$lake/${table}/${pattern}' where gone_at is null`))[0]?.n;
    expect(await there('prices', '**/*.parquet')).toBe(55);
    expect(await there('listings', '*.parquet')).toBe(55);
  });
});

describe('a lot without a source', () => {
  it('is archived once a complete pass lacks it', async () => {
    const { night, query } = await feed(cleanups);
    const bare = {
      ...need(first, 'a vehicle'),
      lots: [{ ...firstLot(need(first, 'a vehicle')), domain: null }],
    };
    await night([bare, ...vehicles.slice(1)]);
    await night(vehicles.slice(1));
    expect(
      await query("select archived, archived_by from '$lake/lots/**/*.parquet' where domain_id is null"),
    ).toEqual([{ archived: true, archived_by: 'absence' }]);
  });
});

describe('an archive record of the future', () => {
  const lot = firstLot(need(second, 'a vehicle'));
  const record = { lot_id: lot.id, archived_at: '2027-11-20T02:00:00Z', domain: lot.domain };
  const STATE = `select archived, archived_by, cast(archived_at as varchar) as archived_at from '$lake/lots/**/*.parquet' where lot_id = ${lot.id}`;

  it('archives no lot that the same night delivers, however often it comes', async () => {
    const { night, query } = await feed(cleanups);
    for (let i = 0; i < 3; i++) {
      await night(vehicles, { archive: [record] });
      expect(await query(STATE)).toEqual([{ archived: false, archived_by: null, archived_at: null }]);
    }
  });

  it('archives a lot that is no longer delivered, until it is', async () => {
    const { night, query } = await feed(cleanups);
    await night(vehicles);
    await night(
      vehicles.filter(({ id }) => id !== second?.id),
      { archive: [record] },
    );
    expect(await query(STATE)).toEqual([
      { archived: true, archived_by: 'archive-feed', archived_at: '2026-11-19 02:00:00+00' },
    ]);
    await night(vehicles, { archive: [record] });
    expect(await query(STATE)).toMatchObject([{ archived: false }]);
  });
});

describe('rows that cannot be read', () => {
  it('cost themselves: a null, a byte of another encoding, an entry without an id', async () => {
    const { night, query } = await feed(cleanups);
    const sound = withPrices(need(third, 'a vehicle'), [1, 2]);
    const others = vehicles.filter(({ id }) => id !== third?.id);
    await night([...others, sound]);
    const bad = {
      ...withPrices(need(third, 'a vehicle'), [null, 2], { note: 'caf\ud800' }),
      listings: [null, null],
    };
    await night([...others, { ...bad, lots: [null, ...Reflect.get(bad, 'lots')] }]);
    // Neither entry is gone: the list could not be read whole.
    expect(await query(`select price_id ${PRICES} and vehicle_id = ${third?.id} order by 1`)).toEqual([
      { price_id: '1' },
      { price_id: '2' },
    ]);
    expect(
      await query("select table_name, column_name, path from '$lake/rejects/*.parquet' order by 1"),
    ).toEqual([
      { table_name: 'lots', column_name: 'note', path: 'lots[1].note' },
      { table_name: 'prices', column_name: '*', path: 'lots[1].prices[0].id' },
    ]);
  });
});
