import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base, entry, lot, NOW, SOLD } from './cases.js';
import { computeMarts, type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** The attempts of the given rows, as `day outcome reason price`. */
async function attempts(
  given: Readonly<Record<string, readonly Given[]>>,
  ...marts: readonly string[]
): Promise<string[]> {
  await computeMarts(lake, { ...base, lots: [lot()], ...given }, 'sales', ...marts);
  const found = await texts(
    lake,
    `select attempt, cast(cast(sale_date as date) as varchar) as day, outcome, trust_reason, price
     from sales order by lot_id, attempt`,
  );
  return found.map((row) => `${row.day} ${row.outcome} ${row.trust_reason} ${row.price}`);
}

describe('sales', () => {
  it('takes the price of a sale from the history', async () => {
    expect(await attempts({ prices: [entry('2026-08-01T15:00:00Z', SOLD, 5000.5)] })).toEqual([
      '2026-08-01 sold trusted 5000.5',
    ]);
  });

  it('takes the lot itself if the history lacks the attempt, and counts none twice', async () => {
    const own = lot({ sale_date: '2026-08-20T15:00:00Z', status_id: SOLD, final_bid: 4000 });
    const first = entry('2026-08-01T15:00:00Z', 8, 3000);
    expect(await attempts({ lots: [own], prices: [first] })).toEqual([
      '2026-08-01 not_sold not_sold null',
      '2026-08-20 sold trusted 4000',
    ]);
    const same = entry('2026-08-20T15:00:00Z', SOLD, 4000);
    expect(await attempts({ lots: [own], prices: [same, first] })).toEqual([
      '2026-08-01 not_sold not_sold null',
      '2026-08-20 sold trusted 4000',
    ]);
  });

  it('takes the amount of the lot if the history has the same sale without an amount', async () => {
    const own = lot({ sale_date: '2026-08-20T14:00:00Z', status_id: SOLD, final_bid: 4000 });
    expect(await attempts({ lots: [own], prices: [entry('2026-08-20T15:00:00Z', SOLD, null)] })).toEqual([
      '2026-08-20 sold trusted 4000',
    ]);
  });

  it.each(['0001-01-01', '1900-01-01', '1970-01-01', '1989-12-31', '2029-01-01', '9999-12-31'])(
    'takes the sale date %s for a placeholder and no auction',
    async (day) => {
      const own = lot({ sale_date: `${day}T00:00:00Z`, status_id: SOLD, final_bid: 4000 });
      const placed = entry(`${day}T15:00:00Z`, SOLD, 3000);
      const held = entry('2026-08-01T15:00:00Z', SOLD, 5000);
      expect(await attempts({ lots: [own], prices: [placed, held] })).toEqual([
        '2026-08-01 sold trusted 5000',
      ]);
    },
  );

  it('takes the first day that a sale date can have for an auction', async () => {
    const own = lot({ sale_date: '1990-01-01T00:00:00Z', status_id: SOLD, final_bid: 4000 });
    expect(await attempts({ lots: [own] })).toEqual(['1990-01-01 sold trusted 4000']);
  });

  it('does not believe a sale before the auction was held', async () => {
    const own = lot({ sale_date: '2026-09-14T14:00:00Z', status_id: SOLD, final_bid: 1800 });
    expect(await attempts({ lots: [own] })).toEqual(['2026-09-14 upcoming upcoming null']);
  });

  it('trusts a price from 12 hours after the auction, to the second', async () => {
    const sold = (sale_date: string) => [lot({ sale_date, status_id: SOLD, final_bid: 1800 })];
    expect(await attempts({ lots: sold('2026-09-09T14:00:00Z') })).toEqual(['2026-09-09 sold trusted 1800']);
    expect(await attempts({ lots: sold('2026-09-09T14:00:01Z') })).toEqual([
      '2026-09-09 unresolved too_recent null',
    ]);
    const unsold = [lot({ sale_date: '2026-09-09T14:00:01Z', status_id: 8 })];
    expect(await attempts({ lots: unsold })).toEqual(['2026-09-09 unresolved too_recent null']);
  });

  it('does not treat the last pre-bid of a lot that left before its auction as a price', async () => {
    const left = lot({
      sale_date: '2026-08-20T15:00:00Z',
      status_id: SOLD,
      final_bid: 300,
      final_bid_updated_at: '2026-08-18T15:00:00Z',
      archived: true,
      last_seen_at: '2026-08-20T02:00:00Z',
    });
    expect(await attempts({ lots: [left] })).toEqual(['2026-08-20 unresolved not_seen_after_sale null']);
    const recorded = {
      ...left,
      last_seen_at: '2026-08-20T18:00:00Z',
      final_bid_updated_at: '2026-08-20T15:44:00Z',
    };
    expect(await attempts({ lots: [recorded] })).toEqual(['2026-08-20 sold trusted 300']);
  });

  it('believes the archive feed about a lot that was last seen before its auction', async () => {
    const left = lot({
      sale_date: '2026-08-20T15:00:00Z',
      status_id: 3,
      archived: true,
      last_seen_at: '2026-08-20T02:00:00Z',
    });
    const ended = {
      lot_id: 1,
      archived_at: '2026-08-21T20:00:00Z',
      status_id: SOLD,
      sale_date: '2026-08-20T15:00:00Z',
      final_bid: 7000,
    };
    expect(await attempts({ lots: [left], archived_lots: [ended] })).toEqual([
      '2026-08-20 sold trusted 7000',
    ]);
    const earlier = {
      ...ended,
      archived_at: '2026-07-01T00:00:00Z',
      final_bid: 1,
      sale_date: '2026-06-30T15:00:00Z',
    };
    expect(await attempts({ lots: [left], archived_lots: [ended, earlier] })).toHaveLength(1);
    expect(await attempts({ lots: [lot()], archived_lots: [ended] })).toEqual([]);
  });

  describe('of lots that only the archive feed reported', () => {
    const archiving = (lot_id: number, rest: Given = {}): Given => ({
      ...{ lot_id, vehicle_id: 10, domain_id: 3, archived_at: '2026-08-21T20:00:00Z' },
      ...{ sale_date: '2026-08-20T15:00:00Z', status_id: SOLD, final_bid: 7000 },
      ...rest,
    });

    it('lists their attempts with the known facts', async () => {
      const archived_lots = [archiving(2), archiving(3, { vehicle_id: null, status_id: 8, final_bid: null })];
      expect(await attempts({ archived_lots })).toEqual([
        '2026-08-20 sold trusted 7000',
        '2026-08-20 not_sold not_sold null',
      ]);
      const found = await texts(
        lake,
        `select lot_id, vehicle_id, manufacturer_name, currency, evidence, trust_basis, is_observed from sales order by 1`,
      );
      const row = { evidence: 'archive_only', currency: null, is_observed: true };
      expect(found).toEqual([
        { lot_id: 2, vehicle_id: 10, manufacturer_name: 'Ford', trust_basis: 'archive_feed', ...row },
        { lot_id: 3, vehicle_id: null, manufacturer_name: null, trust_basis: null, ...row },
      ]);
    });

    it('describes a car that the lake lacks by what cars with the same start of the VIN share', async () => {
      const ford = { manufacturer_id: 5, manufacturer_name: 'Ford', year: 2020 };
      const vehicles = [
        { vehicle_id: 10, vin: '1FTFW1E50LFA00001', model_id: 50, ...ford },
        { vehicle_id: 11, vin: ' 1ftfw1e58LFB00002', model_id: 51, ...ford },
      ];
      const archived_lots = [
        archiving(2, { vehicle_id: 98, vin: '1ftfw1e53lkc12345' }),
        archiving(3, { vehicle_id: 99, vin: '1ftfw1e53mkc12345' }),
        archiving(4, { vehicle_id: 11, vin: '00000000000000000' }),
      ];
      await attempts({ vehicles, archived_lots });
      expect(
        await texts(lake, 'select lot_id, manufacturer_name, model_id, year from sales order by 1'),
      ).toEqual([
        { lot_id: 2, manufacturer_name: 'Ford', model_id: null, year: 2020 },
        { lot_id: 3, manufacturer_name: null, model_id: null, year: null },
        { lot_id: 4, manufacturer_name: 'Ford', model_id: 51, year: 2020 },
      ]);
    });

    it('takes no lot of source 12, no lot that left before its auction, and each lot once', async () => {
      const archived_lots = [
        archiving(2, { domain_id: 12 }),
        archiving(3, { archived_at: '2026-08-20T14:59:59Z' }),
        archiving(4, { sale_date: null }),
        archiving(5, { vehicle_id: 11, archived_at: '2026-08-24T20:00:00Z' }),
        archiving(5, { vehicle_id: 11, final_bid: 100 }),
      ];
      expect(await attempts({ archived_lots })).toEqual(['2026-08-20 sold trusted 7000']);
    });

    it('counts their offers like those of other lots, so that a car is not sold twice', async () => {
      const own = lot({ sale_date: '2026-08-10T15:00:00Z', status_id: SOLD, final_bid: 4000 });
      expect(await attempts({ lots: [own], archived_lots: [archiving(2)] })).toEqual([
        '2026-08-10 not_sold offered_again null',
        '2026-08-20 sold trusted 7000',
      ]);
      expect(await attempts({ lots: [own], archived_lots: [archiving(2, { status_id: 8 })] })).toEqual([
        '2026-08-10 not_sold offered_again null',
        '2026-08-20 not_sold not_sold null',
      ]);
    });
  });

  it('believes the archive feed rather than a history that was last seen before the auction', async () => {
    const day = '2026-08-20T15:00:00Z';
    const left = lot({ sale_date: day, status_id: 3, archived: true, last_seen_at: '2026-08-20T02:00:00Z' });
    const ended = { lot_id: 1, archived_at: '2026-08-21T20:00:00Z', sale_date: day };
    expect(
      await attempts({
        lots: [left],
        prices: [entry(day, SOLD, 200)],
        archived_lots: [{ ...ended, status_id: SOLD, final_bid: 7000 }],
      }),
    ).toEqual(['2026-08-20 sold trusted 7000']);
  });

  it('invents no price', async () => {
    const sale = { sale_date: '2026-08-20T15:00:00Z', status_id: SOLD, buy_now: 9000, bid: 800 };
    expect(await attempts({ lots: [lot(sale)] })).toEqual(['2026-08-20 sold no_price null']);
    expect(await attempts({ lots: [lot({ ...sale, final_bid: 0 })] })).toEqual([
      '2026-08-20 sold no_price null',
    ]);
  });

  it.each([
    [-250, 'out_of_bounds null'],
    [0.5, 'out_of_bounds null'],
    [1, 'trusted null'],
    [2, 'trusted 2'],
    [5_000_000, 'trusted 5000000'],
    [999_999, 'out_of_bounds null'],
    [1_000_000, 'trusted 1000000'],
    [99_999_999_999, 'out_of_bounds null'],
  ])('judges an amount of %s', async (bid, expected) => {
    expect(await attempts({ prices: [entry('2026-08-01T15:00:00Z', SOLD, bid)] })).toEqual([
      `2026-08-01 sold ${expected}`,
    ]);
  });

  it('cancels a sale that a later attempt follows, even an upcoming one', async () => {
    const first = entry('2026-08-01T15:00:00Z', SOLD, 5000);
    const again = lot({ sale_date: '2026-09-14T15:00:00Z', status_id: 3 });
    expect(await attempts({ lots: [again], prices: [first] })).toEqual([
      '2026-08-01 not_sold relisted null',
      '2026-09-14 upcoming upcoming null',
    ]);
  });

  describe('of a vehicle with several lots', () => {
    const sold = (lot_id: number, sale_date: string, final_bid: number, rest: Given = {}): Given =>
      lot({ lot_id, sale_date: `${sale_date}T15:00:00Z`, status_id: SOLD, final_bid, ...rest });

    it('counts only the last of its sales if each is followed by an offer within 30 days', async () => {
      const lots = [
        sold(1, '2026-08-01', 6850),
        sold(2, '2026-08-10', 7375, { domain_id: 1 }),
        sold(3, '2026-08-19', 2800),
      ];
      expect(await attempts({ lots })).toEqual([
        '2026-08-01 not_sold offered_again null',
        '2026-08-10 not_sold offered_again null',
        '2026-08-19 sold trusted 2800',
      ]);
    });

    it('applies the configured number of days to any offer, also an upcoming one', async () => {
      const again = (day: string) => [
        sold(1, '2026-08-01', 5000),
        lot({ lot_id: 2, sale_date: `${day}T01:00:00Z`, status_id: 3 }),
      ];
      expect(await attempts({ lots: again('2026-08-31') })).toContain(
        '2026-08-01 not_sold offered_again null',
      );
      expect(await attempts({ lots: again('2026-09-01') })).toContain('2026-08-01 sold trusted 5000');
      const runs = [{ ...base.runs[1], relisting_days: 60 }];
      expect(await attempts({ runs, lots: again('2026-09-30') })).toEqual([
        '2026-08-01 not_sold offered_again null',
        '2026-09-30 upcoming upcoming null',
      ]);
    });

    it('cancels a sale without a price and one at the Buy Now price, but no other result', async () => {
      const lots = [
        sold(1, '2026-08-01', 0),
        sold(2, '2026-08-05', 900, { buy_now: 900 }),
        lot({ lot_id: 3, sale_date: '2026-08-09T15:00:00Z', status_id: 4 }),
        lot({ lot_id: 4, sale_date: '2026-08-13T15:00:00Z', status_id: 8 }),
      ];
      expect(await attempts({ lots })).toEqual([
        '2026-08-01 not_sold offered_again null',
        '2026-08-05 not_sold offered_again null',
        '2026-08-09 on_approval on_approval null',
        '2026-08-13 not_sold not_sold null',
      ]);
    });

    it('counts one sale if two of its lots are sold at the same moment', async () => {
      expect(await attempts({ lots: [sold(1, '2026-08-01', 5000), sold(2, '2026-08-01', 5000)] })).toEqual([
        '2026-08-01 not_sold offered_again null',
        '2026-08-01 sold trusted 5000',
      ]);
    });

    it('does not affect lots of other vehicles', async () => {
      const lots = [
        sold(1, '2026-08-01', 5000),
        sold(2, '2026-08-05', 900, { vehicle_id: 11 }),
        sold(3, '2026-08-06', 901, { vehicle_id: null }),
        sold(4, '2026-08-07', 902, { vehicle_id: null }),
      ];
      expect((await attempts({ lots })).filter((text) => text.includes('sold trusted'))).toHaveLength(4);
    });

    it('numbers its attempts over its lots and sources, and starts anew after each sale that held', async () => {
      const lots = [
        lot({ lot_id: 1, sale_date: '2026-05-01T15:00:00Z', status_id: 8 }),
        sold(2, '2026-05-10', 5000, { domain_id: 1 }),
        sold(3, '2026-05-20', 5100),
        sold(4, '2026-08-20', 6000),
      ];
      await attempts({ lots });
      expect(
        await texts(
          lake,
          'select lot_id, attempt, vehicle_round, vehicle_attempt from sales order by lot_id',
        ),
      ).toEqual([
        { lot_id: 1, attempt: 1, vehicle_round: 1, vehicle_attempt: 1 },
        { lot_id: 2, attempt: 1, vehicle_round: 1, vehicle_attempt: 2 },
        { lot_id: 3, attempt: 1, vehicle_round: 1, vehicle_attempt: 3 },
        { lot_id: 4, attempt: 1, vehicle_round: 2, vehicle_attempt: 1 },
      ]);
    });
  });

  it('counts neighbouring days as one auction, with the result of the last day', async () => {
    const prices = [
      entry('2026-08-06T15:00:00Z', 8, 300),
      entry('2026-08-03T15:00:00Z', SOLD, 200),
      entry('2026-08-10T00:00:00Z', SOLD, 400),
      entry('2026-08-07T23:00:00Z', 8, 350),
      entry('2026-08-14T15:00:00Z', 8, 350),
    ];
    expect(await attempts({ prices: prices.slice(0, 4) })).toEqual(['2026-08-10 sold trusted 400']);
    expect(await attempts({ prices })).toEqual([
      '2026-08-10 not_sold relisted null',
      '2026-08-14 not_sold not_sold null',
    ]);
  });

  it('leaves out announcements that were withdrawn before their date', async () => {
    const gone = (gone_at: string) => [
      entry('2026-08-20T15:00:00Z', 8, null, { gone_at, final_bid_updated_at: '2026-08-20T18:00:00Z' }),
    ];
    expect(await attempts({ prices: gone('2026-08-19T02:00:00Z') })).toEqual([]);
    expect(await attempts({ prices: gone('2026-08-25T02:00:00Z') })).toEqual([
      '2026-08-20 not_sold not_sold null',
    ]);
  });

  it('separates attempts without a result from those without a sale', async () => {
    const status = (status_id: number | null) => [lot({ sale_date: '2026-08-20T15:00:00Z', status_id })];
    expect(await attempts({ lots: status(3) })).toEqual(['2026-08-20 unresolved no_result null']);
    expect(await attempts({ lots: status(null) })).toEqual(['2026-08-20 unresolved no_result null']);
    expect(await attempts({ lots: status(4) })).toEqual(['2026-08-20 on_approval on_approval null']);
    expect(await attempts({ lots: status(7) })).toEqual(['2026-08-20 not_sold not_sold null']);
  });

  it('does not treat asking prices of source 12 as sales', async () => {
    const listing = lot({
      domain_id: 12,
      buy_now: 20_000,
      status_id: SOLD,
      final_bid: 20_000,
      sale_date: '2026-08-01T00:00:00Z',
    });
    expect(await attempts({ lots: [listing] }, 'damage_breakdown')).toEqual([]);
    expect(
      await texts(lake, `select lots, sold, priced_lots from damage_breakdown where level = 'model'`),
    ).toEqual([{ lots: 1, sold: 0, priced_lots: 0 }]);
  });

  it('believes a sale at the Buy Now price before its auction, and no other', async () => {
    const own = (rest: Given) => [
      lot({ sale_date: '2026-09-14T14:00:00Z', status_id: SOLD, final_bid: 1800, buy_now: 1800, ...rest }),
    ];
    const basis = () => texts(lake, 'select trust_basis, price from sales');
    expect(await attempts({ lots: own({}) })).toEqual(['2026-09-14 sold trusted 1800']);
    expect(await basis()).toEqual([{ trust_basis: 'buy_now', price: 1800 }]);
    expect(await attempts({ lots: own({ buy_now: 1900 }) })).toEqual(['2026-09-14 upcoming upcoming null']);
    expect(await attempts({ lots: own({ status_id: 3 }) })).toEqual(['2026-09-14 upcoming upcoming null']);
    expect(await attempts({ lots: own({ final_bid: 0, buy_now: 0 }) })).toEqual([
      '2026-09-14 upcoming upcoming null',
    ]);
  });

  it('believes the archive feed as soon as the auction is over, and not before', async () => {
    const own = [lot({ sale_date: '2026-09-09T20:00:00Z', status_id: SOLD, final_bid: 1800 })];
    const ended = { lot_id: 1, sale_date: '2026-09-09T20:00:00Z', status_id: SOLD, final_bid: 1800 };
    const archived_lots = [{ ...ended, archived_at: '2026-09-09T23:00:00Z' }];
    expect(await attempts({ lots: own, archived_lots })).toEqual(['2026-09-09 sold trusted 1800']);
    expect(await texts(lake, 'select trust_basis from sales')).toEqual([{ trust_basis: 'archive_feed' }]);
    const early = [{ ...ended, archived_at: '2026-09-09T19:00:00Z' }];
    expect(await attempts({ lots: own, archived_lots: early })).toEqual([
      '2026-09-09 unresolved too_recent null',
    ]);
  });

  it('compares an attempt with the previous one if both have an amount', async () => {
    const prices = [
      entry('2026-08-01T15:00:00Z', 8, 4000),
      entry('2026-08-11T15:00:00Z', 8, null),
      entry('2026-08-21T15:00:00Z', 8, 3000),
      entry('2026-08-28T15:00:00Z', SOLD, 3300),
    ];
    await attempts({ prices });
    expect(
      await texts(
        lake,
        'select days_since_previous as days, amount_change, round(amount_change_share, 6) as share from sales order by attempt',
      ),
    ).toEqual([
      { days: null, amount_change: null, share: null },
      { days: 10, amount_change: null, share: null },
      { days: 10, amount_change: null, share: null },
      { days: 7, amount_change: 300, share: 0.1 },
    ]);
  });

  it('counts only a pass that delivered the lot as its last sighting', async () => {
    const pass = { pass_id: 'p', stream: 'cars', state: 'sealed', kind: 'lookup', started_at: NOW };
    const lots = [lot({ sale_date: '2026-09-01T15:00:00Z', status_id: SOLD, final_bid: 1125 })];
    const seen = (seen_at: string | null) => [
      { lot_id: 1, seen_at },
      { vehicle_id: 10, seen_at: NOW },
    ];
    for (const before of ['2026-08-31T02:00:00Z', '2026-09-02T02:59:59Z', null])
      expect(await attempts({ passes: [pass], lots, sightings: seen(before) })).toEqual([
        '2026-09-01 unresolved not_seen_after_sale null',
      ]);
    expect(await attempts({ passes: [pass], lots, sightings: seen('2026-09-02T03:00:00Z') })).toEqual([
      '2026-09-01 sold trusted 1125',
    ]);
    const archived = lots.map((row) => ({ ...row, archived: true, last_seen_at: '2026-08-31T02:00:00Z' }));
    expect(await attempts({ lots: archived, sightings: seen('2026-09-03T02:00:00Z') })).toEqual([
      '2026-09-01 sold trusted 1125',
    ]);
  });

  it('does not confuse the time of a run with the time of a pass', async () => {
    const pass = { pass_id: 'p', stream: 'cars', state: 'sealed', started_at: '2026-09-01T02:00:00Z' };
    const abandoned = { ...pass, pass_id: 'q', state: 'abandoned', started_at: '2026-09-09T02:00:00Z' };
    const passes = [pass, abandoned];
    const early = lot({ sale_date: '2026-09-01T15:00:00Z', status_id: SOLD, final_bid: 500 });
    expect(await attempts({ passes, lots: [early] })).toEqual([
      '2026-09-01 unresolved not_seen_after_sale null',
    ]);
  });
});
