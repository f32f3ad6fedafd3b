import { describe, expect, it } from 'vitest';
import { entry, lot, NOT_SOLD, ofYear, SOLD, soldFor } from './cases.js';
import { type Given, openMarts } from './support.js';

const { ask } = openMarts('seller_types');

describe('seller_types', () => {
  it('recognizes insurers by id or name and keeps other names', async () => {
    const given: readonly Given[] = [
      { seller_type_id: 1, seller_type_name: 'Insurance Company' },
      { seller_type_id: 2 },
      { seller_type_name: ' Insurance ' },
      { seller_type_id: 9, seller_type_name: ' Fleet' },
      { seller_type_name: '  ' },
      {},
    ];
    const lots = given.map((type, lot_id) => lot({ lot_id, ...type }));
    const found = await ask(
      { lots },
      'select seller_type, lots, share, lots_offered, sell_through, price_median from seller_types order by seller_type',
    );
    const none = { lots_offered: 0, sell_through: null, price_median: null };
    expect(found).toEqual([
      { seller_type: 'fleet', lots: 1, share: 1 / 6, ...none },
      { seller_type: 'insurance', lots: 2, share: 2 / 6, ...none },
      { seller_type: 'non_insurance', lots: 1, share: 1 / 6, ...none },
      { seller_type: 'unknown', lots: 2, share: 2 / 6, ...none },
    ]);
  });

  it('compares a relisted lot once, by its sale price', async () => {
    const insurer = { seller_type_id: 1 };
    const lots = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price, insurer));
    const prices = [
      entry('2026-07-01T15:00:00Z', NOT_SOLD, 100, { lot_id: 1000 }),
      entry('2026-07-10T15:00:00Z', SOLD, 200, { lot_id: 1000 }),
    ];
    const found = await ask(
      { vehicles: ofYear, lots: [...lots, soldFor(1500)], prices },
      `select seller_type, lots_offered, lots_sold, round(sell_through, 4) as rate, priced_lots, price_median,
        compared_lots, round(price_ratio_median, 4) as ratio from seller_types order by seller_type`,
    );
    expect(found).toEqual([
      {
        ...{ seller_type: 'insurance', lots_offered: 7, lots_sold: 5, rate: 0.7143, priced_lots: 5 },
        ...{ price_median: 1200, compared_lots: 5, ratio: 0.9231 },
      },
      {
        ...{ seller_type: 'unknown', lots_offered: 1, lots_sold: 1, rate: null, priced_lots: 1 },
        ...{ price_median: null, compared_lots: 1, ratio: null },
      },
    ]);
  });
});
