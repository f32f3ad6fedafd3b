import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { titles } from '../../src/sandbox/data/market.js';
import { brandOf } from '../model/world/marts/lot_breakdown.js';
import { type MartRow, type WorldNight, worldNight } from '../model/world/night.js';

/** Vehicles of the world. At 6,000, the rarer titles have too few lots to compare. */
const vehicles = Math.max(6000, Number(process.env.LOTLAKE_WORLD ?? 20_000));

/** The planted factor of each brand. Titles of one brand share it. */
const planted: ReadonlyMap<string, number> = new Map(
  titles.map((title) => [brandOf({ title, detailed_title: title.detailed }), title.factor]),
);

/** What a mart says a brand is worth, as a logarithm, with its standard error. */
interface Effect {
  readonly place: string;
  readonly brand: string;
  readonly log: number;
  readonly error: number;
}

/** About half a minute. */
describe(`the titles of a world of ${vehicles} vehicles`, () => {
  let night: WorldNight;
  let reference: string;
  let effects: readonly Effect[];
  beforeAll(async () => {
    night = await worldNight(vehicles, 5);
    const factors = await night.rows('price_factors');
    const isOurs = ({ market, currency }: MartRow): boolean => market === 'auction' && currency === 'USD';
    const ofTitles = factors.find((row) => isOurs(row) && row.factor === 'title_brand');
    reference = String(ofTitles?.reference);
    const levels = await night.rows('price_levels');
    effects = levels
      .filter(
        (row) =>
          isOurs(row) &&
          row.subject === 'title_brand' &&
          row.value !== reference &&
          planted.has(String(row.value)) &&
          ['all', 'source'].includes(String(row.level)),
      )
      .map(effectOf);
  });
  afterAll(() => night.close());

  it('have the planted factors in price_levels, of all sources and of each, within the sampling error', () => {
    expect(effects.length).toBeGreaterThan(planted.size - 1);
    const base = planted.get(reference) ?? Number.NaN;
    for (const { place, brand, log, error } of effects) {
      const truth = (planted.get(brand) ?? Number.NaN) / base;
      const text = `${brand} ${place}: ${Math.exp(log).toFixed(3)}, planted ${truth.toFixed(3)}, ±${(100 * error).toFixed(1)} %`;
      process.stdout.write(`${text}\n`);
      expect(Math.abs(log - Math.log(truth)), text).toBeLessThan(3 * error);
    }
  });

  it('separate salvage from clean by far more than the sampling error', () => {
    const of = (brand: string): Pick<Effect, 'log' | 'error'> =>
      effects.find((effect) => effect.brand === brand && effect.place === '') ?? { log: 0, error: 0 };
    const [salvage, clean] = [of('salvage'), of('clean')];
    expect((clean.log - salvage.log) / Math.hypot(clean.error, salvage.error)).toBeGreaterThan(5);
  });
});

function effectOf({ place, value, effect, effect_low, effect_high }: MartRow): Effect {
  // The interval of 95 % is 3.92 standard errors wide.
  const error = Math.log(Number(effect_high) / Number(effect_low)) / 3.92;
  return { place: String(place), brand: String(value), log: Math.log(Number(effect)), error };
}
