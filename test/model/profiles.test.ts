import { describe, expect, it } from 'vitest';
import { apart, base, entry, lot, nights, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('offer_profiles');

async function compute(given: Readonly<Record<string, readonly Given[]>>): Promise<void> {
  await marts.compute(apart({ ...base, ...given }));
}

let next = 1;
/** Lots of a seller with one auction each. The first `sold` lots were sold. */
const offers = (seller_name: string | null, offered: number, sold: number, rest: Given = {}): Given[] =>
  Array.from({ length: offered }, (_, place) =>
    lot({
      ...{
        lot_id: next++,
        seller_name,
        created_at: '2026-04-01T08:00:00Z',
        sale_date: '2026-05-01T15:00:00Z',
      },
      ...{ status_id: place < sold ? SOLD : 8, final_bid: 900, ...rest },
    }),
  );

/** Figures of the sellers by name, rounded. */
async function sellers(...columns: readonly string[]): Promise<Record<string, unknown>> {
  const shown = columns.map((column) => `round(cast(${column} as double), 4)`).join(', ');
  const rows = await marts.query(
    `select party, ${shown} from offer_profiles where level = 'seller' order by party`,
  );
  return Object.fromEntries(rows.map((row) => [row.party, Object.values(row).slice(1)]));
}

describe('the rate of a seller', () => {
  it('is pulled further towards the mean of its source the fewer attempts it has', async () => {
    const planted = [
      offers('Most', 200, 140),
      offers('Half', 100, 55),
      offers('Few', 40, 16),
      offers('One', 1, 1),
    ];
    await compute({ lots: [...planted.flat(), ...offers('Elsewhere', 9, 3, { domain_id: 1 })] });
    // Computed with exact fractions in Python: mean 212/341, correlation 0.071607, so the mean has the weight of
    // 12.9652 attempts.
    const columns = ['sell_through', 'sell_through_shrunk', 'sell_through_low', 'sell_through_high'];
    expect(await sellers(...columns)).toEqual({
      most: [0.7, 0.6952, 0.6304, 0.7531],
      half: [0.55, 0.5582, 0.4662, 0.6464],
      few: [0.4, 0.4543, 0.3278, 0.5869],
      one: [null, 0.6488, 0.3927, 0.8407],
      elsewhere: [0.3333, 0.3333, 0.1206, 0.6458],
    });
    expect(await sellers('is_pooled', 'offered')).toMatchObject({ most: [0, 200], one: [1, 1] });
  });

  it('equals the rate of its source if sellers differ by chance alone', async () => {
    await compute({ lots: [...offers('A', 10, 5), ...offers('B', 10, 6), ...offers('C', 20, 11)] });
    expect(await sellers('sell_through', 'sell_through_shrunk')).toEqual({
      a: [0.5, 0.5495],
      b: [0.6, 0.5505],
      c: [0.55, 0.55],
    });
  });

  it('is null if the source has fewer attempts than the minimum group', async () => {
    await compute({ lots: [...offers('A', 2, 1), ...offers('B', 2, 2)] });
    expect(await sellers('sell_through', 'sell_through_shrunk', 'sell_through_low')).toEqual({
      a: [null, null, null],
      b: [null, null, null],
    });
  });

  it('lies nearer to the planted rate than the raw one, and in its interval 19 of 20 times', async () => {
    let seed = 7;
    const draw = (): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (seed >>> 8) / 0x7fffff;
    };
    const rates = Array.from({ length: 300 }, () => 0.35 + 0.5 * draw());
    const counts = rates.map((rate) => {
      const offered = 5 + Math.floor(20 * draw());
      return {
        offered,
        sold: Array.from({ length: offered }, draw).filter((chance) => chance < rate).length,
      };
    });
    await compute({ lots: counts.flatMap(({ offered, sold }, place) => offers(`s${place}`, offered, sold)) });
    const columns = ['sell_through', 'sell_through_shrunk', 'sell_through_low', 'sell_through_high'];
    const found = await sellers(...columns);
    const error = (column: number): number =>
      rates.reduce(
        (sum, rate, place) => sum + (Number((found[`s${place}`] as number[])[column]) - rate) ** 2,
        0,
      );
    expect(error(1)).toBeLessThan(0.75 * error(0));
    const inside = rates.filter((rate, place) => {
      const [, , low = 1, high = 0] = found[`s${place}`] as number[];
      return low <= rate && rate <= high;
    });
    expect(inside.length / rates.length).toBeGreaterThan(0.92);
    expect(inside.length / rates.length).toBeLessThan(0.98);
  });
});

describe('a seller', () => {
  it('is the same however its name is spelled, and is left out without a name', async () => {
    const lots = [offers('Acme ', 3, 3), offers('ACME', 2, 0), offers(null, 9, 9), offers(' ', 9, 9)].flat();
    await compute({ lots });
    expect(await marts.query('select level, party, party_name, offered, sold from offer_profiles')).toEqual([
      { level: 'seller', party: 'acme', party_name: 'Acme', offered: 5, sold: 3 },
    ]);
  });

  it('counts observed attempts, those that came back, reserves of last attempts, and days of all sales', async () => {
    const passes = nights('2026-08-21T02:00:00Z', '2026-09-10T02:00:00Z');
    const reserve = { seller_reserve_price: 1000 };
    const early = offers('A', 1, 1);
    const late = { sale_date: '2026-08-29T15:00:00Z' };
    const [back] = offers('A', 1, 0, { ...late, ...reserve });
    const met = offers('A', 1, 1, { ...late, ...reserve, final_bid: 1200 });
    const waiting = offers('A', 1, 0, { ...late, status_id: 4 });
    const prices = [entry('2026-08-10T15:00:00Z', 8, 500, { lot_id: back?.lot_id ?? null })];
    await compute({ passes, prices, lots: [...early, ...(back ? [back] : []), ...met, ...waiting] });
    const columns =
      'offered, sold, on_approval, relisted, reserved_lots, compared_reserves, met_reserves, timed_lots';
    expect(await marts.query(`select ${columns} from offer_profiles`)).toEqual([
      {
        ...{ offered: 3, sold: 1, on_approval: 1, relisted: 1 },
        ...{ reserved_lots: 2, compared_reserves: 2, met_reserves: 1, timed_lots: 2 },
      },
    ]);
  });
});

describe('a branch', () => {
  it('is identified by its id, otherwise by its name, within its source', async () => {
    const branch = (id: number | null, name: string | null, domain_id = 3): Given[] =>
      offers('A', 1, 1, { selling_branch_id: id, selling_branch_name: name, domain_id });
    const lots = [
      branch(5, 'TX - Dallas'),
      branch(5, 'Dallas '),
      branch(5, null, 1),
      branch(null, ' OH - Akron'),
    ];
    await compute({ lots: [...lots, branch(null, null)].flat() });
    expect(
      await marts.query(
        "select domain_id, party, party_name, offered from offer_profiles where level = 'branch' order by 1, 2",
      ),
    ).toEqual([
      { domain_id: 1, party: '5', party_name: null, offered: 1 },
      { domain_id: 3, party: '5', party_name: 'TX - Dallas', offered: 2 },
      { domain_id: 3, party: 'oh - akron', party_name: 'OH - Akron', offered: 1 },
    ]);
  });
});
