import { expect, it } from 'vitest';
import { createWorld, wearFactor } from '../../src/sandbox/index.js';
import { texts } from '../model/support.js';
import { groupBy } from '../model/world/statistics.js';
import { mean, modelYearOf, type PlantedSale, plantedLake, plantedSales } from './planted-lake.js';

/** A mileage band of an age: its planted effect and the effect in the mart, as logarithms. */
interface Band {
  readonly age: number;
  readonly lots: number;
  readonly planted: number;
  readonly found: number;
}

const BAND = 25_000;

/** Least number of other prices for a comparison. */
const LEAST = 5;

/** About ten seconds. */
it('odometer_curve finds the planted loss from one mileage band to the next', async () => {
  const world = createWorld({ vehicles: 60_000 });
  const sales = plantedSales(world);
  const lake = await plantedLake(world, sales, LEAST, 'odometer_curve');
  try {
    const curve = await texts(
      lake,
      `select age_years, odometer_band_km, compared_lots, price_ratio_median from odometer_curve
       where level = 'all' and price_ratio_median is not null`,
    );
    const wear = plantedWear(sales);
    const bands = curve.map(
      ({ age_years, odometer_band_km, compared_lots, price_ratio_median }): Band => ({
        age: Number(age_years),
        lots: Number(compared_lots),
        planted: wear.get(`${age_years} ${odometer_band_km}`) ?? Number.NaN,
        found: Math.log(Number(price_ratio_median)),
      }),
    );
    const { slope, error } = slopeOf(bands);
    const summary = `${bands.length} bands, ${slope.toFixed(3)} of the planted loss, error ${error.toFixed(3)}`;
    process.stdout.write(`${summary}\n`);
    expect(error).toBeLessThan(0.05);
    expect(Math.abs(slope - 1), summary).toBeLessThan(3 * error);
  } finally {
    lake.close();
  }
});

/** Mean logarithm of the planted wear of sales by age and band, if their model year is large enough. */
function plantedWear(sales: readonly PlantedSale[]): Map<string, number> {
  const large = [...groupBy(sales, modelYearOf).values()].filter(({ length }) => length > LEAST).flat();
  const bands = groupBy(large, ({ lot: { facts }, saleAt }) => {
    const age = Math.min(30, Math.max(0, saleAt.getUTCFullYear() - facts.year));
    return `${age} ${Math.min(400_000, Math.floor(facts.km / BAND) * BAND)}`;
  });
  const wearOf = ({ lot: { facts }, saleAt }: PlantedSale): number =>
    Math.log(wearFactor(facts.year, facts.km, saleAt.getTime()));
  return new Map([...bands].map(([band, lots]) => [band, mean(lots.map(wearOf))]));
}

/** Share of the planted difference between the bands of one age that is found, with its standard error. */
function slopeOf(bands: readonly Band[]): { readonly slope: number; readonly error: number } {
  const ages = groupBy(bands, ({ age }) => String(age));
  const centred = [...ages.values()].flatMap((group) => {
    const weights = group.map(({ lots }) => lots);
    const middle = (read: (band: Band) => number): number => mean(group.map(read), weights);
    const [planted, found] = [middle((band) => band.planted), middle((band) => band.found)];
    return group.map((band) => ({ ...band, planted: band.planted - planted, found: band.found - found }));
  });
  const sum = (read: (band: Band) => number): number =>
    centred.reduce((total, band) => total + band.lots * read(band), 0);
  const spread = sum(({ planted }) => planted ** 2);
  const slope = sum(({ planted, found }) => planted * found) / spread;
  const rest = sum(({ planted, found }) => (found - slope * planted) ** 2);
  return { slope, error: Math.sqrt(rest / (centred.length - ages.size - 1) / spread) };
}
