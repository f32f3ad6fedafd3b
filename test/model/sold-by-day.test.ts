import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apart, base, lot, nights, SOLD } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('days_on_market', 'sold_by_day');

const DAY = 86_400_000;
/** The first whole day of the watch, of 70. */
const WATCHED = Date.parse('2026-07-01T10:00:00Z');
const passes = nights('2026-06-30T02:00:00Z', '2026-09-10T02:00:01Z');

/** A lot by the days, since the first of the watch, on which it was created, sold and left. */
interface Days {
  readonly created: number;
  readonly sold: number | null;
  readonly left: number | null;
}

/** The lots, as far as they are known at the end of the watch. */
function lotsOf(days: readonly Days[], rest: (place: number) => Given = () => ({})): Given[] {
  const at = (day: number): string => new Date(WATCHED + day * DAY).toISOString();
  return days.map(({ created, sold, left }, place) =>
    lot({
      ...{ lot_id: place + 1, created_at: at(created) },
      ...(sold === null || sold > 69 ? {} : { sale_date: at(sold), status_id: SOLD, final_bid: 1000 }),
      ...(left === null || left > 69 ? {} : { archived: true, archived_at: at(left) }),
      ...rest(place),
    }),
  );
}

const compute = (lots: readonly Given[], rest: object = {}) =>
  marts.compute(apart({ ...base, passes, ...rest, lots }));

const shares = (columns: string) =>
  marts.query(`select day, ${columns} from sold_by_day where level = 'source' order by day`);

/** A CSV file of numbers; an empty cell is null. */
function readNumbers(file: string): Record<string, number | null>[] {
  const [head = '', ...lines] = readFileSync(file, 'utf8').replaceAll('"', '').trim().split('\n');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(
      head.split(',').map((name, i) => [name, cells[i] ? Number(cells[i]) : null] as const),
    );
  });
}

describe('the shares sold by day, and their intervals', () => {
  const folder = join(import.meta.dirname, 'sold-by-day');
  const cases = readdirSync(folder).flatMap((file) => /^([a-z-]+)\.csv$/.exec(file)?.[1] ?? []);

  it.each(cases)('are those of the R packages etm and survival: %s', async (name) => {
    await compute(lotsOf(readNumbers(join(folder, `${name}.csv`)) as unknown as Days[]));
    const expected = readNumbers(join(folder, `${name}.expected.csv`));
    const actual = await shares(
      Object.keys(expected[0] ?? {})
        .slice(1)
        .join(),
    );
    expect(actual.length).toBe(expected.length);
    for (const [i, row] of expected.entries())
      for (const [column, value] of Object.entries(row)) {
        const found = actual[i]?.[column];
        if (value === null) expect(found, `${column} by day ${row.day}`).toBeNull();
        else expect(Math.abs(Number(found) - value), `${column} by day ${row.day}`).toBeLessThan(1e-6);
      }
  });
});

it('a lot that left unsold is not sold later, unlike in the estimate of Kaplan and Meier', async () => {
  // 30 of 100 are sold, on days 1 to 30; on each of these days two leave, and the last ten stay open.
  const lots = Array.from({ length: 100 }, (_, i): Days => {
    if (i < 30) return { created: 0, sold: i + 1, left: null };
    return { created: 0, sold: null, left: i < 90 ? 1 + ((i - 30) >> 1) : null };
  });
  await compute(lotsOf(lots));
  const [row] = await marts.query(
    "select days_p25, days_median, quarter_sold_by, half_sold_by from days_on_market where level = 'source'",
  );
  expect(row).toEqual({ days_p25: 20, days_median: 30, quarter_sold_by: 25, half_sold_by: null });
  const found = await shares('sold, left_unsold, open, sold_at_most');
  const rounded = found.map((each) => Object.values(each).map((n) => n && Math.round(Number(n) * 1e9) / 1e9));
  expect(rounded).toEqual([
    [7, 0.07, 0.14, 0.79, 0.21],
    [14, 0.14, 0.28, 0.58, 0.42],
    [30, 0.3, 0.6, 0.1, 0.9],
    [60, 0.3, 0.6, 0.1, 0.9],
    [90, null, null, null, null],
    [180, null, null, null, null],
  ]);
});

it('no share is known beyond an age at which too few lots were watched', async () => {
  // Old lots are watched from day 100 on, new ones to day 40: nobody knows what happens between.
  const old = Array.from({ length: 20 }, (_, i): Days => ({ created: -100, sold: i, left: null }));
  const fresh = Array.from({ length: 20 }, (_, i): Days => ({ created: 29, sold: 30 + i, left: null }));
  await compute(lotsOf([...old, ...fresh]));
  expect((await shares('sold')).map(({ sold }) => sold && Number(Number(sold).toFixed(9)))).toEqual([
    ...[0.35, 0.7, null, null, null, null],
  ]);
});

it('all shares stay after the age at which the last lots are sold or leave', async () => {
  const all = Array.from(
    { length: 8 },
    (_, i): Days => ({ created: 0, sold: i < 6 ? 10 : null, left: i < 6 ? null : 10 }),
  );
  await compute(lotsOf(all));
  expect(await shares('sold, open, sold_low, sold_at_most, sold_at_most_low')).toMatchObject([
    { day: 7, sold: 0, open: 1, sold_low: null, sold_at_most: 0, sold_at_most_low: null },
    ...[14, 30, 60, 90, 180].map((day) => ({ day, sold: 0.75, open: 0, sold_at_most: 1 })),
  ]);
});

it('95 % intervals hold the planted shares', async () => {
  // Of a lot that is open, 1 % are sold each day and 0.7 % leave; on each seventh day, 8 % and 3 %.
  const [models, size] = [40, 200];
  const hazards = (age: number): [number, number] => (age % 7 === 6 ? [0.08, 0.03] : [0.01, 0.007]);
  let state = 20260710;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const draw = (): Days => {
    for (;;) {
      const created = Math.floor(random() * 250) - 180;
      let age = 0;
      let end: 'sold' | 'left' | undefined;
      for (; end === undefined; age++) {
        const [sold, left] = hazards(age);
        const at = random();
        if (at < sold) end = 'sold';
        else if (at < sold + left) end = 'left';
      }
      const ended = created + age - 1;
      // What ended before the watch is not known.
      if (ended >= 0) return { created, sold: null, left: null, [end]: ended };
    }
  };
  const truth = (day: number): Record<string, number> => {
    let [open, sold] = [1, 0];
    for (let age = 0; age <= day; age++) {
      const [sells, leaves] = hazards(age);
      sold += open * sells;
      open *= 1 - sells - leaves;
    }
    return { sold, sold_at_most: 1 - open, left_unsold: 1 - open - sold };
  };
  const lots = lotsOf(Array.from({ length: models * size }, draw), (place) => ({
    vehicle_id: place % models,
  }));
  const vehicles = Array.from({ length: models }, (_, id) => ({
    ...{ vehicle_id: id, manufacturer_id: 5, manufacturer_name: 'Ford', model_id: id, model_name: `M${id}` },
  }));
  await compute(lots, { vehicles });
  const found = await marts.query("select * from sold_by_day where level = 'model' and sold is not null");
  for (const day of [7, 14, 30, 60])
    for (const [column, share] of Object.entries(truth(day))) {
      const of = found.filter((row) => row.day === day);
      const holds = of.filter(
        (row) => Number(row[`${column}_low`]) <= share && share <= Number(row[`${column}_high`]),
      );
      expect(of.length, `${column} by day ${day}`).toBeGreaterThan(30);
      expect(holds.length / of.length, `${column} by day ${day}`).toBeGreaterThanOrEqual(0.9);
    }
}, 120_000);
