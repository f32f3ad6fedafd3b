import { describe, expect, it } from 'vitest';
import { apart, base, entry, lot, nights, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('observed_spans', 'sell_through', 'price_trends', 'lot_breakdown', 'reserve_gap');

/** Computes the marts of the given rows. Their tests and checks must pass. */
async function compute(given: Readonly<Record<string, readonly Given[]>>): Promise<void> {
  await marts.compute(apart({ ...base, ...given }));
}

const BEGIN = '2026-08-21T02:00:00Z';
const begun = (rest: Given = {}): Given => lot({ first_seen_at: BEGIN, seller_reserve_price: 900, ...rest });
const passes = nights(BEGIN, '2026-09-10T02:00:00Z');

/** Lots that were there on the first night, so their earlier offers did not sell them. */
const survivors = Array.from({ length: 6 }, (_, place) => begun({ lot_id: place }));
const unsold = (day: string) =>
  survivors.map(({ lot_id = null }) => entry(`${day}T15:00:00Z`, 8, 800, { lot_id }));
/** Lots that were auctioned on one day. Half of them were sold. */
const auctioned = (from: number, day: string, rest: Given = {}) =>
  Array.from({ length: 6 }, (_, place) =>
    begun({
      ...{ lot_id: from + place, sale_date: `${day}T15:00:00Z`, status_id: place % 2 === 0 ? SOLD : 8 },
      ...{ final_bid: 1000, ...rest },
    }),
  );

describe('an auction before the first night', () => {
  it('is in no rate and in no count of sold and unsold lots', async () => {
    const lots = [...survivors, ...auctioned(100, '2026-08-25'), ...auctioned(200, '2026-09-05')];
    const prices = ['2026-06-10', '2026-07-10', '2026-08-10'].flatMap(unsold);
    await compute({ passes, lots, prices });
    const rates =
      await marts.query(`select cast(sale_month as varchar) as month, observed, lots_offered, lots_sold, sell_through, sell_through_3m
       from sell_through where level = 'month' order by month`);
    const none = { lots_offered: null, lots_sold: null, sell_through: null, sell_through_3m: null };
    const half = { lots_offered: 6, lots_sold: 3, sell_through: 0.5, sell_through_3m: 0.5 };
    const expected = [
      { month: '2026-06-01', observed: 'none', ...none },
      { month: '2026-07-01', observed: 'none', ...none },
      { month: '2026-08-01', observed: 'part', ...half },
      { month: '2026-09-01', observed: 'part', ...half },
    ];
    expect(rates).toEqual(expected);
    const trends =
      await marts.query(`select cast(sale_month as varchar) as month, observed, lots_offered, lots_sold, sell_through
       from price_trends where level = 'generation' order by month`);
    expect(trends).toEqual(expected.map(({ sell_through_3m: _, ...row }) => row));
    expect(
      await marts.query(
        "select lots_offered, lots_sold, sell_through, observed_since from lot_breakdown where subject = 'title'",
      ),
    ).toEqual([{ lots_offered: 12, lots_sold: 6, sell_through: 0.5, observed_since: new Date(BEGIN) }]);
    expect(
      await marts.query(
        "select attempt, lots_offered, sell_through, observed_since from sell_through where level = 'attempt'",
      ),
    ).toEqual([{ attempt: 1, lots_offered: 12, sell_through: 0.5, observed_since: new Date(BEGIN) }]);
    expect(
      await marts.query('select outcome, lots, observed_since from reserve_gap order by outcome'),
    ).toEqual([
      { outcome: 'not_sold', lots: 6, observed_since: new Date(BEGIN) },
      { outcome: 'sold', lots: 6, observed_since: new Date(BEGIN) },
    ]);
  });

  it('counts as a price if its price is known', async () => {
    await compute({ passes, lots: auctioned(100, '2026-07-10', { status_id: SOLD }) });
    expect(
      await marts.query(
        `select observed, lots_sold, priced_lots, price_median from price_trends where level = 'generation'`,
      ),
    ).toEqual([{ observed: 'none', lots_sold: null, priced_lots: 6, price_median: 1000 }]);
    expect(
      await marts.query(
        "select lots_sold, sell_through, price_median from lot_breakdown where subject = 'title'",
      ),
    ).toEqual([{ lots_sold: 0, sell_through: null, price_median: 1000 }]);
  });

  it('is the only kind that the first night knows', async () => {
    await compute({
      passes: nights('2026-09-10T02:00:00Z', '2026-09-10T02:00:00Z'),
      lots: auctioned(1, '2026-09-05', { first_seen_at: '2026-09-10T02:00:00Z' }),
    });
    expect(
      await marts.query("select observed, sell_through from sell_through where level = 'month'"),
    ).toEqual([{ observed: 'none', sell_through: null }]);
    expect(await marts.query("select * from sell_through where level = 'attempt'")).toEqual([]);
  });

  it('does not count in a later month if its lot was sold early', async () => {
    const lots = auctioned(1, '2026-10-05', { buy_now: 1000, status_id: SOLD });
    await compute({ passes, lots: [...lots, ...auctioned(100, '2026-08-25')] });
    expect(
      await marts.query(
        "select observed, lots_sold, sell_through, sell_through_3m from sell_through where level = 'month' order by sale_month",
      ),
    ).toEqual([
      { observed: 'part', lots_sold: 3, sell_through: 0.5, sell_through_3m: 0.5 },
      { observed: 'none', lots_sold: null, sell_through: null, sell_through_3m: null },
    ]);
  });
});

describe('the last hours before a pass', () => {
  it('do not count as observed, since only sales are settled by then', async () => {
    const bought = auctioned(1, '2026-09-09', { buy_now: 1000, status_id: SOLD });
    await compute({ passes, lots: [...bought, ...auctioned(100, '2026-09-07')] });
    expect(
      await marts.query(
        "select lots_offered, lots_sold, sell_through from sell_through where level = 'month'",
      ),
    ).toEqual([{ lots_offered: 6, lots_sold: 3, sell_through: 0.5 }]);
  });
});

describe('observed_spans', () => {
  const spans = async (given: Readonly<Record<string, readonly Given[]>>): Promise<string[]> => {
    await compute(given);
    const found =
      await marts.query(`select domain_id, span, strftime(observed_from, '%m-%d') as a, strftime(observed_to + interval 12 hour, '%m-%d') as b
       from observed_spans order by domain_id, span`);
    return found.map((row) => `${row.domain_id}/${row.span}: ${row.a} to ${row.b}`);
  };
  const pass = (day: string, rest: Given = {}): Given => ({
    ...{ pass_id: `${day} ${JSON.stringify(rest)}`, stream: 'cars', kind: 'full', state: 'sealed' },
    ...{ complete: true, started_at: `2026-${day}T02:00:00Z`, ...rest },
  });
  const seen = (day: string, rest: Given = {}): Given =>
    lot({ first_seen_at: `2026-${day}T02:00:00Z`, ...rest });

  it('continue over gaps of up to three days between passes, and begin anew after longer ones', async () => {
    const days = ['08-01', '08-04', '08-07', '08-11', '08-12'];
    expect(await spans({ lots: [seen('08-01')], passes: days.map((day) => pass(day)) })).toEqual([
      '3/1: 08-01 to 08-07',
      '3/2: 08-11 to 08-12',
    ]);
  });

  it('begin with a complete full pass, and are continued by windows', async () => {
    const window = { kind: 'window' };
    const lots = [seen('08-01')];
    const begin = [pass('08-01', { complete: false }), pass('08-02', window), pass('08-03')];
    const on = [pass('08-05', window), pass('08-07', { complete: false }), pass('08-08', { kind: 'lookup' })];
    expect(await spans({ lots, passes: [...begin, ...on] })).toEqual(['3/1: 08-03 to 08-05']);
    expect(await spans({ lots, passes: [pass('08-08', window)] })).toEqual([]);
  });

  it('begin for each source with the first pass that brought it, and ignore passes that did not cover it', async () => {
    const lots = [seen('08-01'), seen('08-04', { lot_id: 2, domain_id: 1 })];
    // DuckDB reads such a text as a list.
    const passes = [
      pass('08-01'),
      pass('08-03', { hidden: '[3]' }),
      pass('08-04', { complete: false, sources: '[1]' }),
      pass('08-06', { sources: '[1]' }),
      pass('08-09', { sources: '[1, 3]' }),
    ];
    expect(await spans({ lots, passes })).toEqual([
      '1/1: 08-04 to 08-09',
      '3/1: 08-01 to 08-01',
      '3/2: 08-09 to 08-09',
    ]);
  });
});
