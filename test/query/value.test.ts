import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valueOfCar, valuesOfLots } from '../../src/query/value.js';
import {
  EFFECTS,
  fitted,
  LOSS_A_10000_KM,
  LOSS_A_YEAR,
  lotsOf,
  type PricedMarket,
  USUAL,
} from '../model/pricing/market.js';

const LOTS = 3_000;
const LAW = lotsOf({ lots: LOTS });

let market: PricedMarket;
beforeAll(async () => {
  const models = Array.from({ length: 12 }, (_, make) =>
    Array.from({ length: 5 }, (_, model) => ({ make, model })),
  );
  const vehicles = models.flat().map(({ make, model }, i) => ({
    ...{ vehicle_id: i * 10, vin: i === 0 ? '' : `VIN${i}`, year: 2024 },
    ...{ manufacturer_id: make, manufacturer_name: `Make ${make}` },
    ...{ model_id: make * 100 + model, model_name: `Model ${make * 100 + model}` },
  }));
  const lots = Array.from({ length: LOTS }, (_, lot_id) => ({
    ...{ lot_id, vehicle_id: vehicles.some((vehicle) => vehicle.vehicle_id === lot_id) ? lot_id : null },
    ...{ domain_id: 3, domain_name: 'copart_com', lot: `L${lot_id}` },
    ...{ damage_main_name: 'Front End', detailed_title_name: 'Salvage' },
  }));
  market = await fitted(LAW, { vehicles, lots });
});
afterAll(() => market.close());

describe('the price factors', () => {
  it('multiply to the estimates of lots on offer', async () => {
    const [sums] = await market.rows(`
      with effects as (select factor, level, ln(effect) as effect from price_factors),
      of_levels as (
        select lot_id, sum(effect) as effect
        from (unpivot (select lot_id, sold_by, odometer, damage_main_group, damage_second_group, title_brand, condition,
            has_keys, seller_group, country, state, cast(domain_id as varchar) as domain_id,
            manufacturer_id || '/' || model_id || '/' || generation_id as generation,
            left(cast(priced_month as varchar), 7) as month, 'all' as base
          from price_inputs where is_offered) on * exclude (lot_id) into name factor value level)
        join effects using (factor, level) group by lot_id),
      lines as (
        select lot_id, (select effect + (age_years - cast(level as double)) * (
            select (n.effect - e.effect) / (cast(n.level as double) - cast(e.level as double)) from effects n
            where n.factor = 'age' and cast(n.level as double) > cast(e.level as double) order by cast(n.level as double) limit 1)
          from effects e where factor = 'age' and cast(level as double) <= age_years order by cast(level as double) desc limit 1) as age
        from price_inputs where is_offered)
      select count(*) as lots, max(abs(ln(e.estimate) - o.effect - l.age)) as most, median(ln(e.estimate) - o.effect - l.age) as middle
      from price_estimates e join of_levels o using (lot_id) join lines l using (lot_id)`);
    expect(Number(sums?.lots)).toBe(300);
    // The rest is the effect of mileage.
    expect(Math.abs(Number(sums?.middle))).toBeLessThan(0.02);
    expect(Number(sums?.most)).toBeLessThan(0.16);
  });
});

describe('the value of a car', () => {
  it('follows the formula of the prices', async () => {
    const age = 6 + 0.5 / 12;
    const car = { make: 'make 2', model: 'MODEL 203', year: 2024, km: 100_000, damage: 'd0', title: 't0' };
    const value = await valueOfCar(market.connection, car);
    const [law] = await market.rows(
      `select exp(9 + (hash(2, 1) % 1000) / 1000.0 + (hash(2, 3) % 1000) / 2500.0) as sound`,
    );
    const mean = (effects: readonly number[]): number => effects.reduce((a, b) => a + b, 0) / effects.length;
    const others = mean(EFFECTS.domain_id) + mean(EFFECTS.condition);
    const wear = -LOSS_A_YEAR * age - LOSS_A_10000_KM * (10 - USUAL * age);
    const truth = Number(law?.sound) * Math.exp(wear + others);
    expect(Math.abs(Number(value.estimate) / truth - 1)).toBeLessThan(0.08);
    expect(Number(value.low_50)).toBeLessThan(Number(value.estimate));
    expect(Number(value.low_80)).toBeLessThan(Number(value.low_50));
    expect(Number(value.high_80)).toBeGreaterThan(Number(value.high_50));
  });

  it('follows damage, title, age and distance as the factors say', async () => {
    const car = { make: 'Make 2', model: 'Model 203', year: 2024, km: 100_000, damage: 'd0', title: 't0' };
    const worth = async (change: Partial<typeof car>): Promise<number> =>
      Number((await valueOfCar(market.connection, { ...car, ...change })).estimate);
    const sound = await worth({});
    const effect = async (factor: string, level: string): Promise<number> => {
      const [found] = await market.rows(
        `select effect from price_factors where factor = '${factor}' and level = '${level}'`,
      );
      return Number(found?.effect);
    };
    expect((await worth({ damage: 'D5' })) / sound).toBeCloseTo(
      (await effect('damage_main_group', 'd5')) / (await effect('damage_main_group', 'd0')),
      2,
    );
    expect((await worth({ title: 't3' })) / sound).toBeCloseTo(
      (await effect('title_brand', 't3')) / (await effect('title_brand', 't0')),
      2,
    );
    expect(await worth({ km: 200_000 })).toBeLessThan(sound);
    expect(await worth({ year: 2019 })).toBeLessThan(sound);
  });

  it('has an interval that widens with each missing fact', async () => {
    const prices = await market.rows(`
      select * from (select manufacturer_id, model_id, price * exp(${LOSS_A_YEAR} * (age_years - 6)) as price from price_inputs)
      where price is not null`);
    const car = { make: 'Make 2', model: 'Model 203', year: 2024 };
    const value = await valueOfCar(market.connection, car);
    const alike = prices.filter(({ model_id }) => Number(model_id) === 203).map(({ price }) => Number(price));
    const inside = alike.filter((price) => price > Number(value.low_80) && price < Number(value.high_80));
    expect(alike.length).toBeGreaterThan(30);
    expect(inside.length / alike.length).toBeGreaterThan(0.65);
    expect(inside.length / alike.length).toBeLessThan(0.95);
    const described = await valueOfCar(market.connection, { ...car, km: 100_000, damage: 'd0', title: 't0' });
    const width = ({ low_80, high_80 }: typeof value): number => Number(high_80) / Number(low_80);
    expect(width(value)).toBeGreaterThan(2 * width(described));
  });

  it.each([
    [{ make: 'Make 222' }, 'no manufacturer Make 222; did you mean Make'],
    [{ model: 'Model 2033' }, 'no model Model 2033; did you mean Model 203'],
    [{ damage: 'dd5' }, 'no price has the damage dd5; did you mean d5'],
    [{ title: 'clean' }, 'no price has the title clean'],
    [{ year: 2032 }, 'no car has the model year 2032 yet'],
  ])('names what the lake does not know: %j', async (change, message) => {
    const car = { make: 'Make 2', model: 'Model 203', year: 2024 };
    await expect(valueOfCar(market.connection, { ...car, ...change })).rejects.toThrow(message);
  });
});

describe('the value of a lot', () => {
  it.each(['L30', 'vin3', '30'])('is found by %s, with its drivers', async (id) => {
    const [value] = await valuesOfLots(market.connection, id);
    const [mart] = await market.rows('select * from price_estimates where lot_id = 30');
    expect(value).toMatchObject({
      of: '2024 Make 1 Model 102, 22321 km, d5, t3, lot L30 of copart_com',
      currency: 'USD',
      estimate: mart?.estimate,
    });
    expect(value?.drivers[0]).toEqual({ factor: mart?.driver_1, amount: mart?.driver_1_amount });
    expect(value?.accuracy?.prices).toBeGreaterThan(0);
  });

  it('comes with the ten most similar priced lots of its model', async () => {
    const [value] = await valuesOfLots(market.connection, '30');
    const sales = await market.rows(`
      select lot_id, damage_main_group as damage, title_brand as title, odometer_km as km, price from price_inputs
      where model_id = (select model_id from price_inputs where lot_id = 30) and price is not null and lot_id <> 30`);
    // All lots of the law have one model year, so damage, title and distance decide how alike they are.
    const unlike = ({ damage, title, km }: Readonly<Record<string, unknown>>): number =>
      (damage === 'd5' ? 0 : 2) + (title === 't3' ? 0 : 2) + Math.abs(Number(km) - 22_321) / 50_000;
    const nearest = sales.sort((a, b) => unlike(a) - unlike(b)).slice(0, 10);
    const found = value?.comparable_sales ?? [];
    expect(found.map(({ lot }) => lot)).toEqual(nearest.map(({ lot_id }) => `L${lot_id}`));
    expect(found[0]).toMatchObject({
      price: nearest[0]?.price,
      link: `https://www.copart.com/lot/L${nearest[0]?.lot_id}`,
    });
  });

  it.each(['nothing', ' '])('refuses a lot that the lake does not know: %j', async (id) => {
    await expect(valuesOfLots(market.connection, id)).rejects.toThrow(
      `the lake has no price or offer of ${id}`,
    );
  });
});
