import { describe, expect, it } from 'vitest';
import { auctioned, entry, lot, NOT_SOLD, SOLD } from './cases.js';
import { openMarts } from './support.js';

const ON_APPROVAL = 4;

const { ask } = openMarts('sell_through');

describe('sell_through', () => {
  it('counts attempts by their outcome and leaves out unresolved and future ones', async () => {
    const lots = [
      ...auctioned(3, 100, '2026-08-03', SOLD),
      ...auctioned(2, 200, '2026-08-04', NOT_SOLD),
      ...auctioned(1, 300, '2026-08-05', ON_APPROVAL),
      ...auctioned(1, 400, '2026-08-06', 3),
      ...auctioned(2, 500, '2026-10-06', SOLD),
    ];
    const found = await ask(
      { lots },
      `select cast(sale_month as varchar) as month, domain_name, lots_offered, lots_unresolved, lots_sold, lots_not_sold,
        lots_on_approval, sell_through from sell_through where level = 'month'`,
    );
    expect(found).toEqual([
      {
        ...{
          month: '2026-08-01',
          domain_name: 'copart_com',
          lots_offered: 6,
          lots_unresolved: 1,
          lots_sold: 3,
        },
        ...{ lots_not_sold: 2, lots_on_approval: 1, sell_through: 0.5 },
      },
    ]);
  });

  it('separates first attempts from later ones, even if the first is unresolved', async () => {
    const relisted = Array.from({ length: 5 }, (_, place) => [
      entry('2026-08-01T15:00:00Z', place === 0 ? 3 : NOT_SOLD, 900, { lot_id: 100 + place }),
      entry('2026-08-10T15:00:00Z', place < 4 ? SOLD : NOT_SOLD, 900, { lot_id: 100 + place }),
    ]).flat();
    const lots = [100, 101, 102, 103, 104].map((lot_id) => lot({ lot_id }));
    const found = await ask(
      { lots, prices: relisted },
      `select lots_offered, lots_unresolved, first_offered, first_sold, first_sell_through, later_offered, later_sold,
        later_sell_through from sell_through where level = 'month'`,
    );
    expect(found).toEqual([
      {
        ...{ lots_offered: 9, lots_unresolved: 1, first_offered: 4, first_sold: 0, first_sell_through: null },
        ...{ later_offered: 5, later_sold: 4, later_sell_through: 0.8 },
      },
    ]);
  });

  it('pools a month with the two calendar months before it, over the end of a year and over gaps', async () => {
    const lots = [
      ...auctioned(3, 100, '2025-11-10', SOLD),
      ...auctioned(3, 200, '2026-01-10', NOT_SOLD),
      ...auctioned(1, 300, '2026-02-10', SOLD),
      ...auctioned(2, 400, '2026-03-10', SOLD),
    ];
    const found = await ask(
      { lots },
      `select cast(sale_month as varchar) as month, lots_offered, sell_through, sell_through_3m
       from sell_through where level = 'month' order by month`,
    );
    expect(found).toEqual([
      { month: '2025-11-01', lots_offered: 3, sell_through: null, sell_through_3m: null },
      { month: '2026-01-01', lots_offered: 3, sell_through: null, sell_through_3m: 0.5 },
      { month: '2026-02-01', lots_offered: 1, sell_through: null, sell_through_3m: null },
      { month: '2026-03-01', lots_offered: 2, sell_through: null, sell_through_3m: 0.5 },
    ]);
  });
});
