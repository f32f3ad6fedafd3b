import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CostRow } from '../../../src/core/model/costs/columns.js';
import {
  carCosts,
  missingAt,
  mostToBid,
  partsAt,
  totalAt,
  wayTo,
} from '../../../src/core/model/costs/landing.js';
import type { CostCar } from '../../../src/core/model/costs/parts.js';
import { readCosts } from '../../../src/core/model/costs/read-tables.js';
import { scheduleOf } from '../../../src/core/model/costs/schedule.js';
import { targetOf } from '../../../src/core/model/costs/target.js';
import { below, chance, type Rng, stream } from '../../../src/sandbox/world/random.js';
import * as oracle from './oracle.js';
import { DAYS, randomCar, randomTables, toFiles } from './random.js';

const folder = mkdtempSync(join(tmpdir(), 'lotlake-costs-'));

let folders = 0;

/** Removes the folders of {@link written}. */
export const removeWritten = (): void => rmSync(folder, { recursive: true });

/** Writes tables into a folder of their own. */
export function written(
  files: Readonly<Record<string, string>>,
  encoding: 'utf8' | 'latin1' = 'utf8',
): string {
  const place = mkdtempSync(join(folder, `${folders++}-`));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text, encoding);
  return place;
}

const carOf = (car: oracle.Car): CostCar => ({
  source: car.source,
  currency: car.currency,
  branch: car.branch,
  postal: car.postal,
  state: car.state,
  title: car.title,
  vehicleType: car.vehicleType,
  bodyType: car.bodyType,
  fuel: car.fuel,
  cm3: car.cm3,
  year: car.year,
});

/** Prices around each edge of the bands of fees, and some others, in cents. */
function pricesFor(rows: readonly oracle.CostRow[], random: Rng): number[] {
  const edges = rows.flatMap(({ table, values }) =>
    table === 'buyer_fees' && Number(values.from) > 0 ? [Math.round(Number(values.from) * 100)] : [],
  );
  const some = edges.filter(() => chance(random, 0.05)).slice(0, 2);
  return [...some.flatMap((edge) => [edge - 1, edge]), 1 + below(random, 3_000_000)];
}

const plain = (text: string | null): string | null => text?.trim().toLowerCase() ?? null;

/** What was compared. */
type Count = Record<'lots' | 'totals' | 'missing' | 'bids' | 'falling' | 'rising' | 'targets', number>;

/** Compares random lots with the oracle, at least so many, and says what it compared. */
export function compareLots(least: number): Count {
  const count = { lots: 0, totals: 0, missing: 0, bids: 0, falling: 0, rising: 0, targets: 0 };
  for (let seed = 1; count.lots < least; seed++) {
    const rows = seed % 2 === 0 ? risen(randomTables(seed)) : randomTables(seed);
    const read = readCosts(written(toFiles(rows)));
    const random = stream(seed, 1, 77);
    for (const day of DAYS) {
      const schedule = scheduleOf(read, day);
      for (const destination of schedule.destinations)
        for (let i = 0; i < 8; i++) compareLot(rows, read, { day, destination, schedule, random, count });
    }
  }
  return count;
}

/** Tables whose fees and taxes rise at every edge. */
const risen = (rows: readonly oracle.CostRow[]): oracle.CostRow[] =>
  rows.map((row) => {
    if (row.table === 'buyer_fees')
      return { ...row, values: { ...row.values, fixed: '5.55', share: '0.0712', minimum: '20' } };
    if (row.table !== 'taxes' || row.values.base === '') return row;
    return { ...row, values: { ...row.values, fixed: '', share: '0.2', minimum: '', minimum_per_cm3: '' } };
  });

interface Place {
  readonly day: string;
  readonly destination: ReturnType<typeof scheduleOf>['destinations'][number];
  readonly schedule: ReturnType<typeof scheduleOf>;
  readonly random: Rng;
  readonly count: Count;
}

function compareLot(
  rows: readonly oracle.CostRow[],
  read: readonly CostRow[],
  { day, destination, schedule, random, count }: Place,
): void {
  const car = randomCar(random, rows);
  const given = carOf(car);
  const costs = carCosts(schedule, given, destination);
  const way = wayTo(schedule, given, costs.size, destination);
  const about = JSON.stringify({ day, destination: destination.name, car });
  count.lots++;
  for (const price of pricesFor(rows, random)) {
    const expected = oracle.landed(rows, car, destination.name, day, BigInt(price));
    const total = totalAt(costs, way, price);
    expect(Number.isNaN(total) ? null : BigInt(total), `${about} ${price}`).toBe(expected.total);
    expect(missingAt(costs, way, price).length > 0, about).toBe(expected.isMissing);
    if (expected.total === null) {
      count.missing++;
      continue;
    }
    count.totals++;
    const parts = partsAt(costs, way, price).map(({ part, name, row, currency, amount, converted }) => ({
      part,
      name: plain(part === 'inland' || part === 'ocean' ? null : name),
      table: row?.table ?? '',
      line: row?.line ?? 0,
      currency,
      amount: BigInt(amount),
      converted: BigInt(converted),
    }));
    expect(sorted(parts), about).toEqual(
      sorted(
        expected.parts.map((part) => ({
          ...part,
          name: part.part === 'inland' || part.part === 'ocean' ? null : plain(part.name),
        })),
      ),
    );
    if (!chance(random, 0.02)) continue;
    count[costs.isRising ? 'rising' : 'falling']++;
    // At the total itself, a cent below and a cent above.
    for (const limit of [total, total - 1, total + 1]) {
      const most = mostToBid(costs, way, limit);
      expect(most === undefined ? null : BigInt(most), `${about} within ${limit}`).toBe(
        oracle.mostToBid(rows, car, destination.name, day, BigInt(limit)),
      );
      count.bids++;
    }
  }
  const median = { price: 900_000n, currency: 'USD' };
  const target = targetOf(
    schedule,
    { make: car.make, model: car.model, modelId: 1, year: car.year },
    destination,
    (source, country) => ({ source, country, modelId: 1, year: 2018, currency: 'USD', median: 9_000 }),
  );
  const limit = oracle.targetOf(rows, car, destination.name, day, () => median);
  expect(typeof target === 'object' ? BigInt(target.limit) : null, about).toBe(limit);
  if (limit !== null) count.targets++;
  expect(read.length).toBe(rows.length);
}

const sorted = <T extends { table: string; line: number }>(parts: readonly T[]): T[] =>
  [...parts].sort((a, b) => (a.table === b.table ? a.line - b.line : a.table < b.table ? -1 : 1));
