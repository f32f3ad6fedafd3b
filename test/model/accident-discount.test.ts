import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base, lot, SOLD } from './cases.js';
import { computeReports, GONE, report } from './report-cases.js';
import { type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** A listing: its number, its asking price and the content of its reports. */
interface Listing {
  readonly number: number;
  readonly asks: number | null;
  readonly claims?: number | null;
  readonly inspected?: readonly (string | null)[];
  readonly checked?: string;
  readonly events?: readonly string[];
}

/** The lake rows of listings of a Ford F-150 of 2020 at source 12. */
function lakeOf(listings: readonly Listing[]): Record<string, readonly Given[]> {
  const at = (number: number, rest: Given): Given => report({ listing_id: String(number), ...rest });
  return {
    vehicles: base.vehicles.map((vehicle) => ({ ...vehicle, year: 2020 })),
    lots: listings.map(({ number, asks }) =>
      lot({ lot_id: number, lot: String(number), domain_id: 12, domain_name: 'encar_com', buy_now: asks }),
    ),
    history_reports: listings.flatMap(({ number, claims }) =>
      claims === undefined ? [] : [at(number, { summary_insurance_claim_count: claims })],
    ),
    inspections: listings.flatMap(({ number, inspected = [] }) =>
      inspected.map((key, place) =>
        at(number, { report_id: `i-${place}`, conclusions_accident_status_key: key }),
      ),
    ),
    checks: listings.flatMap(({ number, checked }) =>
      checked === undefined
        ? []
        : [childOf(number, { position: 1, type_key: 'accident_history', result_key: checked })],
    ),
    events: listings.flatMap(({ number, events = [] }) =>
      events.map((type_key, place) => childOf(number, { position: place + 1, type_key })),
    ),
  };
}

const childOf = (number: number, rest: Given): Given => {
  const { created_at, ...child } = report({ listing_id: String(number), ...rest });
  return child;
};

const clean = (count: number, asks: number): Listing[] =>
  Array.from({ length: count }, (_, place) => ({
    number: 1000 + place,
    asks: asks + place * 100,
    claims: 0,
    inspected: ['ok'],
  }));

async function discounts(given: Readonly<Record<string, readonly Given[]>>): Promise<string[]> {
  await computeReports(lake, given);
  const found = await texts(
    lake,
    `select *, round(price_ratio_median, 6) as ratio from accident_discount
     order by price_kind, claims_band, accident, accident_evidence`,
  );
  return found.map(
    (row) =>
      `${row.price_kind} ${row.claims_band} ${row.accident} by ${row.accident_evidence}: ${row.lots} lots, ` +
      `${row.priced_lots} at ${row.price_median}, ${row.compared_lots} at ${row.ratio}`,
  );
}

describe('accident_discount', () => {
  it('compares with lots of the same year that have neither claim nor accident', async () => {
    const hit = (number: number, asks: number): Listing => ({
      number,
      asks,
      claims: 2,
      inspected: ['issue'],
    });
    const listings = [
      ...clean(5, 9800),
      hit(1, 8000),
      hit(2, 9000),
      hit(3, 7000),
      hit(4, 8500),
      hit(5, 7500),
    ];
    const given = lakeOf(listings);
    expect(await discounts(given)).toEqual([
      'asking 0 no by inspection: 5 lots, 5 at 10000, 5 at 1',
      'asking 2 yes by inspection: 5 lots, 5 at 8000, 5 at 0.8',
    ]);
    const otherYear = { vehicle_id: 11, manufacturer_id: 5, model_id: 50, year: 2019 };
    const lots = given.lots?.map((row) => (Number(row.lot_id) < 3 ? { ...row, vehicle_id: 11 } : row)) ?? [];
    expect(await discounts({ ...given, lots, vehicles: [...(given.vehicles ?? []), otherYear] })).toEqual([
      'asking 0 no by inspection: 5 lots, 5 at 10000, 5 at 1',
      'asking 2 yes by inspection: 5 lots, 5 at 8000, 3 at null',
    ]);
    expect(await discounts(lakeOf(listings.slice(1)))).toEqual([
      'asking 0 no by inspection: 4 lots, 4 at null, 0 at null',
      'asking 2 yes by inspection: 5 lots, 5 at 8000, 0 at null',
    ]);
  });

  it('prefers an inspection to a check and an accident to none, and never treats unknown as no', async () => {
    const listings: Listing[] = [
      { number: 1, asks: 100, claims: 1, inspected: ['ok', 'issue', 'ok'], checked: 'not_present' },
      { number: 2, asks: 100, claims: 1, inspected: ['unknown', 'ok'], checked: 'present' },
      { number: 3, asks: 100, claims: 1, inspected: ['not_checked'], checked: 'present' },
      { number: 4, asks: 100, claims: 1, inspected: [null], checked: 'not_present' },
      { number: 5, asks: 100, claims: 1, inspected: ['unknown'], checked: 'unknown' },
      { number: 6, asks: 100 },
    ];
    expect(await discounts(lakeOf(listings))).toEqual([
      'asking 1 no by history_check: 1 lots, 1 at null, 0 at null',
      'asking 1 no by inspection: 1 lots, 1 at null, 0 at null',
      'asking 1 unknown by none: 1 lots, 1 at null, 0 at null',
      'asking 1 yes by history_check: 1 lots, 1 at null, 0 at null',
      'asking 1 yes by inspection: 1 lots, 1 at null, 0 at null',
    ]);
  });

  it('counts claims by the newest report: by its summary, else by its events, else not at all', async () => {
    const listings: Listing[] = [
      { number: 1, asks: 0, claims: 7, events: ['insurance_claim'] },
      { number: 2, asks: null, claims: null, events: ['insurance_claim', 'maintenance', 'insurance_claim'] },
      { number: 3, asks: 6_000_000, claims: -1, events: ['maintenance'] },
      { number: 4, asks: 100, claims: null },
      { number: 5, asks: 100, claims: 2 },
    ];
    const given = lakeOf(listings);
    const later = { report_id: 'r-2', system_updated_at: '2026-08-05T00:00:00Z' };
    const history_reports = [
      ...(given.history_reports ?? []),
      report({ listing_id: '5', summary_insurance_claim_count: 1, ...later }),
      report({
        listing_id: '5',
        summary_insurance_claim_count: 9,
        ...later,
        report_id: 'r-3',
        gone_at: GONE,
      }),
    ];
    expect(await discounts({ ...given, history_reports })).toEqual([
      'asking 0 unknown by none: 1 lots, 0 at null, 0 at null',
      'asking 1 unknown by none: 1 lots, 1 at null, 0 at null',
      'asking 2 unknown by none: 1 lots, 0 at null, 0 at null',
      'asking 3 unknown by none: 1 lots, 0 at null, 0 at null',
      'asking null unknown by none: 1 lots, 1 at null, 0 at null',
    ]);
  });

  it('takes sales for the other sources, and only reports of their own listings', async () => {
    const given = lakeOf([{ number: 1, asks: 100, claims: 0, inspected: ['ok'] }]);
    const auctioned = [4000, 5000, 6000, 7000, 8000].map((final_bid, place) =>
      lot({
        ...{ lot_id: 10 + place, vehicle_id: 20 + place, lot: '1', domain_id: 3, buy_now: 50 },
        ...{ sale_date: '2026-08-20T15:00:00Z', status_id: SOLD, final_bid },
      }),
    );
    const lots = [...(given.lots ?? []), ...auctioned];
    expect(await discounts({ ...given, lots })).toEqual([
      'asking 0 no by inspection: 1 lots, 1 at null, 0 at null',
    ]);
    const own = report({ domain_id: 3, listing_id: '1', summary_insurance_claim_count: 1 });
    const found = await discounts({
      ...given,
      lots,
      history_reports: [...(given.history_reports ?? []), own],
    });
    expect(found).toEqual([
      'asking 0 no by inspection: 1 lots, 1 at null, 0 at null',
      'sale 1 unknown by none: 5 lots, 5 at 6000, 0 at null',
    ]);
  });

  describe('with listing ids that differ from lot numbers', () => {
    const car = (vehicle_id: number): Given => ({ ...base.vehicles[0], vehicle_id, year: 2020 });
    const offer = (lot_id: number, vehicle_id: number, buy_now: number): Given =>
      lot({ lot_id, vehicle_id, lot: String(lot_id), domain_id: 12, domain_name: 'encar_com', buy_now });
    const inspected = (listing_id: string | null, vehicle_id: number, key: string, rest: Given = {}): Given =>
      report({ listing_id, vehicle_id, conclusions_accident_status_key: key, ...rest });
    const claimed = (listing_id: string | null, vehicle_id: number, claims: number): Given =>
      report({ listing_id, vehicle_id, summary_insurance_claim_count: claims });

    it('finds the lot by vehicle and source', async () => {
      const cars = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
      const given = {
        vehicles: cars.map(car),
        lots: cars.flatMap((id) => [
          offer(100 + id, id, id > 5 ? 8000 : 10_000),
          lot({ lot_id: 200 + id, vehicle_id: id, lot: String(200 + id), domain_id: 3 }),
        ]),
        inspections: cars.map((id) => inspected(`L-${id}`, id, id > 5 ? 'issue' : 'ok')),
        history_reports: cars.map((id) => claimed(`L-${id}`, id, id > 5 ? 1 : 0)),
      };
      expect(await discounts(given)).toEqual([
        'asking 0 no by inspection: 5 lots, 5 at 10000, 5 at 1',
        'asking 1 yes by inspection: 5 lots, 5 at 8000, 5 at 0.8',
      ]);
    });

    it('finds the lot if the report names no listing', async () => {
      const given = {
        vehicles: [car(1), car(2)],
        lots: [offer(101, 1, 100), offer(102, 2, 200)],
        inspections: [inspected(null, 1, 'ok'), inspected(' ', 2, 'issue')],
        history_reports: [claimed(null, 1, 0), claimed(null, 2, 3)],
      };
      expect(await discounts(given)).toEqual([
        'asking 0 no by inspection: 1 lots, 1 at null, 0 at null',
        'asking 3 yes by inspection: 1 lots, 1 at null, 0 at null',
      ]);
    });

    it('does not assign the reports of another listing to a lot', async () => {
      const given = {
        vehicles: [1, 2, 3, 4, 5, 6].map(car),
        lots: [
          ...[offer(101, 1, 100), offer(102, 1, 100)],
          offer(103, 2, 100),
          offer(104, 3, 100),
          ...[offer(105, 4, 100), offer(106, 5, 100)],
          offer(107, 6, 100),
        ],
        inspections: [
          // one listing, two lots of the source
          inspected('L-1', 1, 'issue'),
          // two listings, one lot
          ...[inspected('L-2', 2, 'issue'), inspected('L-3', 2, 'issue')],
          // the lot has a listing of its own number
          ...[inspected('104', 3, 'ok'), inspected('L-4', 3, 'issue')],
          // one listing in two vehicles
          ...[inspected('L-5', 4, 'issue'), inspected('L-5', 5, 'issue', { report_id: 'r-2' })],
          // another source
          inspected('L-6', 6, 'issue', { domain_id: 3 }),
        ],
      };
      expect(await discounts(given)).toEqual(['asking null no by inspection: 1 lots, 1 at null, 0 at null']);
    });
  });
});
