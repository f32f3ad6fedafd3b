import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWorld, DEFAULT_CLOCK, SandboxError, type World } from '../../src/sandbox/index.js';

const DAY = 86_400_000;
const later = (days: number): Date => new Date(DEFAULT_CLOCK.getTime() + days * DAY);
const bytes = (world: World, ids: readonly number[]): (string | undefined)[] =>
  ids.map((id) => world.vehicleJson(id, { pricesHistory: true }));

describe('a world', () => {
  it('is byte-equal for the same seed, size and clock', () => {
    const [one, other] = [createWorld({ seed: 7, vehicles: 300 }), createWorld({ seed: 7, vehicles: 300 })];
    expect(other.activeIds()).toEqual(one.activeIds());
    // In reverse order, because no record may depend on the records made before it.
    const reversed = bytes(other, other.activeIds().toReversed()).toReversed();
    expect(reversed).toEqual(bytes(one, one.activeIds()));
    expect(JSON.stringify(other.statistics())).toBe(JSON.stringify(one.statistics()));
    expect(other.archivedLotIds().map(other.archivedLot)).toEqual(one.archivedLotIds().map(one.archivedLot));
  });

  it('differs with the seed', () => {
    const [one, other] = [createWorld({ seed: 1, vehicles: 50 }), createWorld({ seed: 2, vehicles: 50 })];
    expect(bytes(other, other.activeIds())).not.toEqual(bytes(one, one.activeIds()));
  });

  it('is the same whether created at a clock or moved there', () => {
    const moved = createWorld({ vehicles: 200 }).at(later(9));
    const made = createWorld({ vehicles: 200, clock: later(9) });
    expect(bytes(moved, moved.activeIds())).toEqual(bytes(made, made.activeIds()));
  });

  it('holds about as many active vehicles as asked for, ascending and without repeats', () => {
    const worlds = fc.record({
      seed: fc.integer(),
      vehicles: fc.integer({ min: 150, max: 1500 }),
      days: fc.integer({ min: -700, max: 700 }),
    });
    fc.assert(
      fc.property(worlds, ({ seed, vehicles, days }) => {
        const ids = createWorld({ seed, vehicles, clock: later(days) }).activeIds();
        expect(Math.abs(ids.length - vehicles)).toBeLessThanOrEqual(Math.max(10, vehicles * 0.03));
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      }),
      { numRuns: 25 },
    );
  });

  it('spreads its vehicles over the sources, most with one lot', () => {
    const world = createWorld({ vehicles: 3000 });
    const share = (domain: number): number => world.activeIds([domain]).length / world.activeIds().length;
    expect(share(1)).toBeCloseTo(0.47, 1);
    expect(share(3)).toBeCloseTo(0.47, 1);
    expect(share(12)).toBeCloseTo(0.1, 1);
    const counts = lotsOf(world).map((lots) => lots.length);
    expect(counts.filter((count) => count === 1).length / counts.length).toBeCloseTo(0.94, 1);
    expect(Math.max(...counts)).toBeLessThanOrEqual(14);
  });

  it('refuses a clock before its feed is full, and invalid sizes and seeds', () => {
    expect(() => createWorld({ clock: new Date('2024-03-01T00:00:00Z') })).toThrow(SandboxError);
    expect(() => createWorld({ clock: new Date(Number.NaN) })).toThrow(SandboxError);
    expect(() => createWorld({ vehicles: 0 })).toThrow(SandboxError);
    expect(() => createWorld({ seed: 0.5 })).toThrow(SandboxError);
  });

  it('returns no vehicle that is not in the feed', () => {
    const world = createWorld({ vehicles: 100 });
    const gone = createWorld({ vehicles: 100, clock: later(-200) }).activeIds()[0] ?? 0;
    expect([0, -5, 1, 1e12, 100_001.5, gone].map((id) => world.vehicleJson(id))).toEqual(
      Array(6).fill(undefined),
    );
    expect([0, -5, 1e12].map((id) => world.archivedLot(id))).toEqual(Array(3).fill(undefined));
  });
});

interface SeenLot {
  readonly id: number;
  readonly images?: object;
  readonly location?: object;
  readonly damage?: object;
}

const recordLots = (world: World, id: number): SeenLot[] => JSON.parse(world.vehicleJson(id) ?? '{}').lots;
const lotsOf = (world: World): SeenLot[][] => world.activeIds().map((id) => recordLots(world, id));

const vehicleOfLot = (world: World): Map<number, number> =>
  new Map(world.activeIds().flatMap((id) => recordLots(world, id).map((lot) => [lot.id, id])));

/** The text of a lot without the members that change with time. */
const lotText = (world: World, vehicle: number | undefined, id: number): string => {
  const { images, location, damage } = recordLots(world, vehicle ?? 0).find((lot) => lot.id === id) ?? {};
  return JSON.stringify({ images, location, damage });
};

describe('a night', () => {
  const before = createWorld({ vehicles: 2000 });
  const after = before.at(later(1));
  const both = after.activeIds().filter((id) => before.vehicleJson(id) !== undefined);

  it('changes only some vehicles, and leaves the others byte-equal', () => {
    const changed = new Set(after.activeIds(undefined, before.now + 1));
    const [was, is] = [bytes(before, both), bytes(after, both)];
    const differing = both.filter((_, place) => was[place] !== is[place]);
    expect(differing).toEqual(both.filter((id) => changed.has(id)));
    const share = (differing.length + before.activeIds().length - both.length) / before.activeIds().length;
    expect(share).toBeGreaterThan(0.01);
    expect(share).toBeLessThan(0.045);
  });

  it('brings new vehicles with higher ids only', () => {
    const known = Math.max(...before.activeIds());
    const fresh = after.activeIds().filter((id) => before.vehicleJson(id) === undefined);
    expect(fresh.length).toBeGreaterThan(0);
    expect(fresh.every((id) => id > known)).toBe(true);
  });

  it('moves lots of departed vehicles to the archive, or to the vehicle that they turned out to be', () => {
    const month = before.at(later(20));
    const [was, is] = [vehicleOfLot(before), vehicleOfLot(month)];
    const archived = new Set([...before.archivedLotIds(), ...month.archivedLotIds()]);
    const gone = [...was.keys()].filter((lot) => !is.has(lot));
    const moved = [...was].filter(([lot, vehicle]) => is.has(lot) && is.get(lot) !== vehicle);
    expect(gone.length).toBeGreaterThan(100);
    expect(gone.every((lot) => archived.has(lot))).toBe(true);
    expect(moved.length).toBeGreaterThan(0);
    for (const [lot, vehicle] of moved) {
      expect(month.vehicleJson(vehicle)).toBeUndefined();
      expect(lotText(month, is.get(lot), lot)).toBe(lotText(before, vehicle, lot));
    }
  });

  it('forgets archived lots after a month', () => {
    const now = new Set(before.archivedLotIds());
    const next = new Set(before.at(later(31)).archivedLotIds());
    expect(now.size).toBeGreaterThan(300);
    expect([...now].some((lot) => next.has(lot))).toBe(false);
  });
});
