import { describe, expect, it } from 'vitest';
import { entry, lot, NOT_SOLD, nights, ofYear, SOLD, soldFor } from './cases.js';
import { type Given, openMarts } from './support.js';

const { ask } = openMarts('lot_breakdown');

describe('lot_breakdown', () => {
  it('groups titles by their name in the feed, calls a missing one unknown, and counts lots of every source', async () => {
    const lots = [
      lot({ lot_id: 1, title_name: ' Parts Only' }),
      lot({ lot_id: 2, title_name: 'Parts Only', archived: true }),
      lot({ lot_id: 3, title_name: 'parts only' }),
      lot({ lot_id: 4, title_name: '' }),
      lot({ lot_id: 5, domain_id: 12 }),
    ];
    const found = await ask(
      { lots },
      `select domain_id, name, group_name, lots, share from lot_breakdown where subject = 'title'
       order by domain_id, name`,
    );
    expect(found).toEqual([
      { domain_id: 3, name: 'Parts Only', group_name: 'parts_only', lots: 2, share: 0.5 },
      { domain_id: 3, name: 'parts only', group_name: 'parts_only', lots: 1, share: 0.25 },
      { domain_id: 3, name: 'unknown', group_name: 'unknown', lots: 1, share: 0.25 },
      { domain_id: 12, name: 'unknown', group_name: 'unknown', lots: 1, share: 1 },
    ]);
  });

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
      `select name, lots, share, known_sold, lots_offered, sell_through, price_median from lot_breakdown
       where subject = 'seller_type' order by name`,
    );
    const none = { known_sold: 0, lots_offered: 0, sell_through: null, price_median: null };
    expect(found).toEqual([
      { name: 'fleet', lots: 1, share: 1 / 6, ...none },
      { name: 'insurance', lots: 2, share: 2 / 6, ...none },
      { name: 'non_insurance', lots: 1, share: 1 / 6, ...none },
      { name: 'unknown', lots: 2, share: 2 / 6, ...none },
    ]);
  });

  it('counts each attempt of a relisted lot as an offer, and its sale and its price once, for both subjects', async () => {
    const salvage = { seller_type_id: 1, title_name: 'Salvage' };
    const lots = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price, salvage));
    const prices = [
      entry('2026-07-01T15:00:00Z', NOT_SOLD, 100, { lot_id: 1000 }),
      entry('2026-07-10T15:00:00Z', SOLD, 200, { lot_id: 1000 }),
    ];
    const found = await ask(
      { vehicles: ofYear, lots: [...lots, soldFor(1500)], prices },
      `select subject, name, lots, known_sold, lots_offered, lots_sold, round(sell_through, 4) as rate, priced_lots,
        price_median from lot_breakdown order by subject desc, name`,
    );
    const relisted = {
      ...{ lots: 5, known_sold: 5, lots_offered: 7, lots_sold: 5, rate: 0.7143 },
      ...{ priced_lots: 5, price_median: 1200 },
    };
    const single = {
      ...{ lots: 1, known_sold: 1, lots_offered: 1, lots_sold: 1, rate: null },
      ...{ priced_lots: 1, price_median: null },
    };
    expect(found).toEqual([
      { subject: 'title', name: 'Salvage', ...relisted },
      { subject: 'title', name: 'unknown', ...single },
      { subject: 'seller_type', name: 'insurance', ...relisted },
      { subject: 'seller_type', name: 'unknown', ...single },
    ]);
  });

  it('knows sales and prices of lots that were sold before the lake began, and counts them in no rate', async () => {
    const lots = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price));
    const passes = nights('2026-09-01T02:00:00Z', '2026-09-10T02:00:00Z');
    const found = await ask(
      { passes, vehicles: ofYear, lots },
      'select subject, known_sold, lots_offered, lots_sold, sell_through, price_median from lot_breakdown order by 1',
    );
    const early = { known_sold: 5, lots_offered: 0, lots_sold: 0, sell_through: null, price_median: 1200 };
    expect(found).toEqual([
      { subject: 'seller_type', ...early },
      { subject: 'title', ...early },
    ]);
  });
});
