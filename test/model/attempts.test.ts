import { describe, expect, it } from 'vitest';
import { base, entry, lot, NOT_SOLD, ofYear, SOLD, soldFor } from './cases.js';
import { openMarts } from './support.js';

const { ask, query } = openMarts('sell_through');

describe('attempts in sell_through', () => {
  it('counts the tenth and all later attempts together', async () => {
    const days = Array.from({ length: 12 }, (_, week) => new Date(Date.UTC(2026, 4, 1 + 7 * week, 15)));
    const lots = [1, 2, 3, 4, 5].map((lot_id) => lot({ lot_id }));
    const prices = lots.flatMap(({ lot_id = null }) =>
      days.map((day, place) =>
        entry(day.toISOString(), place === 11 ? SOLD : NOT_SOLD, 1000 * 1.1 ** place, { lot_id }),
      ),
    );
    const found = await ask(
      { lots, prices },
      `select attempt, lots_offered, lots_sold, round(sell_through, 4) as share, days_since_previous_median as days,
        changed_lots, round(amount_change_share_median, 4) as change
       from sell_through where attempt in (1, 9, 10) order by attempt`,
    );
    expect(found).toEqual([
      { attempt: 1, lots_offered: 5, lots_sold: 0, share: 0, days: null, changed_lots: 0, change: null },
      { attempt: 9, lots_offered: 5, lots_sold: 0, share: 0, days: 7, changed_lots: 5, change: 0.1 },
      { attempt: 10, lots_offered: 15, lots_sold: 5, share: 0.3333, days: 7, changed_lots: 15, change: 0.1 },
    ]);
    expect(await query("select count(*) as n from sell_through where level = 'attempt'")).toEqual([
      { n: 10 },
    ]);
  });

  it('compares prices with prices of first attempts of the same model year, and leaves out unknown years', async () => {
    const first = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price));
    const again = [1, 2, 3, 4, 5].map((lot_id) => lot({ lot_id }));
    const yearless = [6, 7].map((lot_id) => lot({ lot_id, vehicle_id: 11 }));
    const prices = [...again, ...yearless].flatMap(({ lot_id = null }) => [
      entry('2026-08-01T15:00:00Z', NOT_SOLD, 500, { lot_id }),
      entry('2026-08-20T15:00:00Z', SOLD, 900, { lot_id }),
    ]);
    const vehicles = [...ofYear, { ...base.vehicles[0], vehicle_id: 11 }];
    const found = await ask(
      { vehicles, prices, lots: [...first, ...again, ...yearless] },
      `select attempt, lots_sold, compared_lots, price_ratio_to_first_median as ratio from sell_through where level = 'attempt' order by attempt`,
    );
    expect(found).toEqual([
      { attempt: 1, lots_sold: 5, compared_lots: 5, ratio: 1 },
      { attempt: 2, lots_sold: 7, compared_lots: 5, ratio: 0.75 },
    ]);
  });

  it('leaves out attempts that are not resolved or still to come', async () => {
    const prices = [
      entry('2026-08-01T15:00:00Z', 3, 500),
      entry('2026-08-20T15:00:00Z', NOT_SOLD, 500),
      entry('2026-09-20T15:00:00Z', 3, null),
    ];
    const found = await ask(
      { lots: [lot()], prices },
      "select attempt, lots_offered from sell_through where level = 'attempt'",
    );
    expect(found).toEqual([{ attempt: 2, lots_offered: 1 }]);
  });
});
