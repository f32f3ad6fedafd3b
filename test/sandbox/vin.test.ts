import { describe, expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/index.js';
import { carOf } from '../../src/sandbox/world/car.js';
import { activeLives } from '../../src/sandbox/world/life.js';
import { checkDigit } from '../../src/sandbox/world/vin.js';

describe('the vehicle numbers of a world', () => {
  const world = createWorld({ vehicles: 6000 });
  const cars = [...activeLives(world)].map((life) => ({
    life,
    car: carOf(world, life),
  }));
  const real = cars.flatMap(({ life, car }) =>
    car.quirk?.endsWith(' vin') || car.vin === null ? [] : [{ ...car, domain: life.domain, vin: car.vin }],
  );
  const auctioned = real.filter(({ domain }) => domain !== 12);
  const shareOf = (cars: readonly { vin: string }[], test: (vin: string) => boolean): number =>
    cars.filter(({ vin }) => test(vin)).length / cars.length;

  it.each(['1M8GDM9AXKP042788', '11111111111111111', 'WBA3B5G55FNS17722'])(
    'have a check digit as %s has',
    (vin) => {
      expect(checkDigit(vin)).toBe(vin[8]);
    },
  );

  it('have 17 characters each, and are different', () => {
    expect(real.filter(({ vin }) => !/^[A-HJ-NPR-Z0-9]{17}$/.test(vin))).toEqual([]);
    const merged = new Set(real.map(({ index }) => index));
    expect(new Set(real.map(({ vin }) => vin)).size).toBe(merged.size);
  });

  it('have the check digit of North America at auctions, and rarely in Korea', () => {
    const isRight = (vin: string): boolean => checkDigit(vin) === vin[8];
    expect(shareOf(auctioned, isRight)).toBeGreaterThan(0.98);
    expect(shareOf(auctioned, isRight)).toBeLessThan(1);
    expect(
      shareOf(
        real.filter(({ domain }) => domain === 12),
        isRight,
      ),
    ).toBeLessThan(0.2);
  });

  it('encode the model year, which is off by one in a few', () => {
    const yearOf = (vin: string) =>
      'ABCDEFGHJKLMNPRSTVWXY123456789'.indexOf(vin[9] ?? '') + (/\d/.test(vin[6] ?? '') ? 1980 : 2010);
    const differences = real.map(({ vin, year }) => yearOf(vin) - year);
    expect(new Set(differences)).toEqual(new Set([0, 1, -1]));
    const same = differences.filter((difference) => difference === 0).length / real.length;
    expect(same).toBeGreaterThan(0.95);
    expect(same).toBeLessThan(0.99);
  });
});
