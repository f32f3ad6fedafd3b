import { describe, expect, it } from 'vitest';
import { apart, base, lot, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('inventory_daily');
const { query } = marts;
/** Computes the mart with a vehicle for each lot. */
const compute = (given: Readonly<Record<string, readonly Given[]>>) => marts.compute(apart(given));

describe('inventory_daily', () => {
  const seen = (day: string): string => `2026-09-${day}T02:00:01Z`;
  const change = (lot_id: number, day: string, old_value: string, new_value: string, hour = '02'): Given => ({
    ...{ lot_id, field: 'archived', old_value, new_value },
    seen_at: `2026-09-${day}T${hour}:00:01Z`,
  });
  const inventory = (domain = 3) =>
    query(`select cast(day as varchar) as day, active_lots, new_lots, archived_lots, returned_lots, first_day
       from inventory_daily where domain_id = ${domain} order by 1`);
  const row = (day: string, active: number, fresh: number | null, archived = 0, returned = 0) => ({
    day: `2026-09-${day}`,
    active_lots: active,
    new_lots: fresh,
    archived_lots: archived,
    returned_lots: returned,
    first_day: fresh === null,
  });

  it('counts each departure and return of a lot, even within a day', async () => {
    await compute({
      ...base,
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('06'), archived: true }),
        lot({ lot_id: 2, first_seen_at: seen('06') }),
      ],
      lot_changes: [
        change(1, '07', 'false', 'true'),
        change(1, '09', 'true', 'false'),
        change(1, '09', 'false', 'true', '14'),
        { ...change(2, '08', '1', '2'), field: 'bid' },
      ],
    });
    expect(await inventory()).toEqual([
      row('06', 2, null),
      row('07', 1, 0, 1),
      row('08', 1, 0),
      row('09', 1, 0, 1, 1),
      row('10', 1, 0),
    ]);
  });

  it('counts a lot that first came archived only from its return on', async () => {
    await compute({
      ...base,
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('08') }),
        lot({ lot_id: 2, first_seen_at: seen('09'), archived: true }),
        lot({ lot_id: 3, first_seen_at: seen('09') }),
        lot({ lot_id: 4, first_seen_at: seen('09') }),
      ],
      lot_changes: [change(3, '10', 'true', 'false')],
    });
    expect(await inventory()).toEqual([row('08', 1, null), row('09', 2, 1), row('10', 3, 0, 0, 1)]);
  });

  it('lets no lot leave before it was seen, even if the clock was set back', async () => {
    await compute({
      ...base,
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('09') }),
        lot({ lot_id: 2, first_seen_at: seen('09'), archived: true }),
      ],
      lot_changes: [change(2, '08', 'false', 'true')],
    });
    expect(await inventory()).toEqual([row('09', 1, null, 1), row('10', 1, 0)]);
  });

  it('begins on the first day of each source, and ends on the day of a pass that began after midnight', async () => {
    await compute({
      ...base,
      passes: [{ pass_id: 'p', stream: 'cars', state: 'sealed', started_at: '2026-09-11T00:00:01Z' }],
      lots: [
        lot({ lot_id: 1, first_seen_at: seen('09') }),
        lot({ lot_id: 2, domain_id: 12, domain_name: 'encar_com', first_seen_at: '2026-09-11T00:00:01Z' }),
      ],
    });
    expect(await inventory()).toEqual([row('09', 1, null), row('10', 1, 0), row('11', 1, 0)]);
    expect(await inventory(12)).toEqual([row('11', 1, null)]);
  });

  it('counts second attempts on the day of their auction', async () => {
    const prices = ['2026-08-20', '2026-09-08'].map((day, place) => ({
      ...{ price_id: place, lot_id: 1, domain_id: 3, sale_date: `${day}T15:00:00Z` },
      ...{ status_id: place === 0 ? 8 : SOLD, bid: 1000 },
    }));
    await compute({ ...base, lots: [lot({ first_seen_at: seen('08') })], prices });
    const found = await query(
      'select cast(day as varchar) as day from inventory_daily where relisted_lots = 1',
    );
    expect(found).toEqual([{ day: '2026-09-08' }]);
  });
});
