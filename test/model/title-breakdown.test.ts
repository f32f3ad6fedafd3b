import { describe, expect, it } from 'vitest';
import { base, lot, ofYear, soldFor } from './cases.js';
import { openMarts } from './support.js';

const { ask } = openMarts('title_breakdown');

describe('title_breakdown', () => {
  const ratios = async (prices: readonly number[]) => {
    const lots = prices.map((price) => soldFor(price, { title_name: `Clear Title Of ${price}` }));
    const runs = [{ run_id: 'r', started_at: '2026-09-10T02:00:00Z', minimum_group: 1 }];
    const found = await ask(
      { runs, vehicles: ofYear, lots },
      'select round(price_ratio_median, 4) as ratio from title_breakdown order by price_median',
    );
    return found.map(({ ratio }) => ratio);
  };

  it('compares each price with the median of the others', async () => {
    expect(await ratios([100, 200, 300, 400, 500, 600])).toEqual([0.25, 0.5, 0.75, 1.3333, 1.6667, 2]);
    expect(await ratios([100, 200, 300, 400, 500])).toEqual([0.2857, 0.5714, 1, 1.6, 2]);
    expect(await ratios([100, 200])).toEqual([0.5, 2]);
    expect(await ratios([100])).toEqual([null]);
  });

  it('needs as many other prices as the minimum group, of the same source and year', async () => {
    const vehicles = [...ofYear, { ...base.vehicles[0], vehicle_id: 11, year: 2021 }];
    const five = [1000, 1100, 1200, 1300, 1400].map((price) => soldFor(price, { title_name: 'Salvage' }));
    const elsewhere = [
      soldFor(9000, { title_name: 'Salvage', domain_id: 1 }),
      soldFor(9100, { title_name: 'Clean', vehicle_id: 11 }),
    ];
    const query = `select domain_id, title_name, lots, priced_lots, price_median, compared_lots,
      round(price_ratio_median, 4) as ratio from title_breakdown order by domain_id, title_name`;
    const other = { lots: 1, priced_lots: 1, price_median: null, compared_lots: 0, ratio: null };
    expect(await ask({ vehicles, lots: [...five, ...elsewhere] }, query)).toEqual([
      { domain_id: 1, title_name: 'Salvage', ...other },
      { domain_id: 3, title_name: 'Clean', ...other },
      {
        ...{ domain_id: 3, title_name: 'Salvage', lots: 5, priced_lots: 5, price_median: 1200 },
        ...{ compared_lots: 0, ratio: null },
      },
    ]);
    const sixth = soldFor(2400, { title_name: 'Clean' });
    expect((await ask({ vehicles, lots: [...five, sixth] }, query)).at(-1)).toMatchObject({
      ...{ title_name: 'Salvage', compared_lots: 5, ratio: 0.9231 },
    });
  });

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
      'select domain_id, title_name, lots, share from title_breakdown order by domain_id, title_name',
    );
    expect(found).toEqual([
      { domain_id: 3, title_name: 'Parts Only', lots: 2, share: 0.5 },
      { domain_id: 3, title_name: 'parts only', lots: 1, share: 0.25 },
      { domain_id: 3, title_name: 'unknown', lots: 1, share: 0.25 },
      { domain_id: 12, title_name: 'unknown', lots: 1, share: 1 },
    ]);
  });
});
