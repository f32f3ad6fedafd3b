import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valueOfCar, valuesOfLots } from '../../src/ask/query/valuation.js';
import { cardOf } from '../../src/cli/commands/value.js';
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
  await market.connection.run(NOTHING_BESIDE);
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
    expect(value).toMatchObject({ place_factor: null, seller_factor: null });
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

  it('follows the state, and its interval is narrower with one', async () => {
    const car = { make: 'Make 2', model: 'Model 203', year: 2024, km: 100_000, damage: 'd0', title: 't0' };
    const states = await market.rows(
      `select level, effect, prices, (select sum(prices * ln(effect)) / sum(prices) from price_factors where factor = 'state') as mean
       from price_factors where factor = 'state'`,
    );
    const without = await valueOfCar(market.connection, car);
    const width = ({ low_80, high_80 }: typeof without): number => Number(high_80) / Number(low_80);
    for (const { level, effect, mean } of states) {
      const code = String(level).replace('US ', '');
      const value = await valueOfCar(market.connection, { ...car, state: code });
      const factor = Number(effect) / Math.exp(Number(mean));
      expect(value.place_factor).toBeCloseTo(factor, 9);
      expect(Number(value.estimate) / Number(without.estimate)).toBeCloseTo(factor, 3);
      expect(width(value)).toBeLessThanOrEqual(width(without));
      expect(value.of).toBe(`${without.of}, in ${code}`);
      expect(value.note).toBe(without.note);
    }
    expect(new Set(states.map(({ effect }) => effect)).size).toBeGreaterThan(5);
  });

  it('says what each other damage and title would bring, as if asked for the car with it', async () => {
    for (const facts of [{ damage: 'd4', title: 't1' }, { title: 't1' }, {}]) {
      const car = { make: 'Make 2', model: 'Model 203', year: 2020, km: 100_000, ...facts };
      const { evidence } = await valueOfCar(market.connection, car);
      expect(evidence?.otherwise.length).toBe(6 + 4);
      for (const { what, level, prices, is_own, ...told } of evidence?.otherwise ?? []) {
        const { estimate, low_80, high_80 } = await valueOfCar(market.connection, { ...car, [what]: level });
        expect(told, level).toEqual({ estimate, low_80, high_80 });
        expect(is_own).toBe(level === { damage: undefined, title: undefined, ...facts }[what]);
        const column = what === 'damage' ? 'damage_main_group' : 'title_brand';
        const [counted] = await market.rows(
          `select count(price) as prices from price_inputs where ${column} = '${level}'`,
        );
        // The model leaves out a price far from the others.
        expect(Math.abs(prices - Number(counted?.prices)), level).toBeLessThan(5);
      }
    }
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
    [{ state: '222' }, 'no auction lot is in the state 222; did you mean'],
    [{ state: ' ' }, 'no auction lot is in the state'],
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
      of: '2024 Make 1 Model 102, 22,321 km, d5, t3, lot L30 of copart_com',
      currency: 'USD',
      estimate: mart?.estimate,
    });
    expect(value?.drivers[0]).toEqual({ factor: mart?.driver_1, amount: mart?.driver_1_amount });
    expect(value?.accuracy?.prices).toBeGreaterThan(0);
  });

  it('comes with the priced lots that are near it in all, the nearest first', async () => {
    const lots = await market.rows(`
      select lot_id, model_id, damage_main_group as damage, title_brand as title, odometer_km as km, p.price, estimate
      from price_inputs p join price_estimates e using (lot_id) where estimate is not null`);
    // All lots of the law have one model year. Those with few others of their damage and title show that all of these count.
    let shown = 0;
    for (const own of lots.filter(({ lot_id }) => [30, 47, 60, 90, 300, 570, 900].includes(Number(lot_id)))) {
      const apart = ({ km }: Readonly<Record<string, unknown>>): number =>
        Math.abs(Number(km) - Number(own.km));
      const near = lots
        .filter(
          (lot) =>
            lot.price !== null &&
            lot.lot_id !== own.lot_id &&
            (['model_id', 'damage', 'title'] as const).every((fact) => lot[fact] === own[fact]) &&
            apart(lot) <= 50_000 &&
            Math.abs(Math.log2(Number(lot.estimate) / Number(own.estimate))) <= 1,
        )
        .sort((a, b) => apart(a) - apart(b));
      const [value] = await valuesOfLots(market.connection, String(own.lot_id));
      const found = value?.comparable_sales ?? [];
      expect(found.map(({ lot }) => lot)).toEqual(near.slice(0, 10).map(({ lot_id }) => `L${lot_id}`));
      // A lot number of the source is a number, so these have no page there.
      if (found.length > 0) expect(found[0]).toMatchObject({ price: near[0]?.price, link: null });
      shown += found.length;
    }
    expect(shown).toBeGreaterThan(3);
  });

  it('has beside any car what is near in each thing that is said of it', async () => {
    const car = { make: 'Make 2', model: 'Model 203', year: 2024 };
    const lots = await market.rows(`
      select lot_id, damage_main_group as damage, title_brand as title, odometer_km as km, estimate
      from price_inputs p join price_estimates e using (lot_id) where model_id = 203 and p.price is not null`);
    let tooFarInWorth = 0;
    for (const facts of [
      ...[
        { km: 100_000 },
        { km: 30_000, year: 2022 },
        { km: 60_000, damage: 'd0' },
        { km: 200_000, title: 't3' },
      ],
      ...[{ year: 2021 }, { km: 100_000, year: 2021 }, { km: 900_000 }],
    ]) {
      const {
        km,
        damage,
        title,
        year,
      }: Partial<Record<'km' | 'year', number> & Record<'damage' | 'title', string>> = facts;
      const value = await valueOfCar(market.connection, { ...car, ...facts });
      const apart = (lot: Readonly<Record<string, unknown>>): number => Math.abs(Number(lot.km) - Number(km));
      // All lots are of 2024.
      const like = lots.filter(
        (lot) =>
          (year ?? 2024) >= 2022 &&
          (damage ?? lot.damage) === lot.damage &&
          (title ?? lot.title) === lot.title &&
          apart(lot) <= 50_000,
      );
      const near = like.filter(
        (lot) => Math.abs(Math.log2(Number(lot.estimate) / Number(value.estimate))) <= 1,
      );
      tooFarInWorth += like.length - near.length;
      const nearest = near.sort((one, other) => apart(one) - apart(other)).slice(0, 10);
      expect(
        value.comparable_sales.map(({ lot }) => lot),
        JSON.stringify(facts),
      ).toEqual(nearest.map(({ lot_id }) => `L${lot_id}`));
      expect(nearest.length > 0, JSON.stringify(facts)).toBe(year !== 2021 && km !== 900_000);
    }
    expect(tooFarInWorth).toBeGreaterThan(3);
  });

  it.each(['nothing', ' '])('refuses a lot that the lake does not know: %j', async (id) => {
    await expect(valuesOfLots(market.connection, id)).rejects.toThrow(
      `the lake has no price or offer of ${id}`,
    );
  });
});

/** Marts of a lot on offer (30) and its vehicle, and of a lot whose price is doubted (31), as a lake of many nights has them. */
const MARTS = `
  update price_estimates set buy_now = 9000, buy_now_share = 0.25, place_factor = 1.032, seller_factor = 0.949 where lot_id = 30;
  update price_estimates set place_factor = 1.004, seller_factor = 1.2 where lot_id = 32;
  update price_estimates set place_factor = 0.996, seller_factor = 1 where lot_id = 33;
  insert into price_doubts values (31, 'ten_times_estimate')`;

/** What a lake of many nights has of lot 30 and its vehicle beside its estimate. */
const BESIDE = `
  drop view if exists sales;
  create table sales as select * from (values
    (30, 30, 1, 'sold', timestamptz '2025-01-09 15:00:00Z', 4000.0, 'USD', '12_hours', 'copart_com', false, null, true, 'trusted'),
    (77, 30, 1, 'sold', timestamptz '2025-02-09 15:00:00Z', 999000.0, 'USD', 'buy_now', 'iaai_com', true, 'ten_times_estimate', true, 'trusted'),
    (30, 30, 2, 'upcoming', timestamptz '2030-01-08 15:00:00Z', null, 'USD', null, 'copart_com', false, null, false, 'upcoming'))
    as s (lot_id, vehicle_id, attempt, outcome, sale_date, amount, currency, trust_basis, domain_name, is_outlier, outlier_reason, is_trusted, trust_reason);
  create table sell_through_odds as select 30 as lot_id, 2 as attempt, timestamptz '2030-01-08 15:00:00Z' as sale_date,
    0.7 as sell_probability, 0.6 as sell_probability_low, 0.8 as sell_probability_high, null::varchar as reason;
  create table sold_by_day as select * from (values
    ('source', 0, null, null, 30, 500, 0.2::double, 0.15::double, 0.25::double), ('source', 0, null, null, 60, 500, 0.3, 0.2, 0.4),
    ('source', 1, null, null, 30, 500, 0.2, 0.15, 0.25), ('source', 1, null, null, 60, 500, 0.3, 0.2, 0.4),
    ('source', 3, null, null, 30, 500, 0.2, 0.15, 0.25), ('source', 3, null, null, 60, 500, 0.3, 0.2, 0.4),
    ('make', 3, 1, null, 30, 50, 0.22, 0.1, 0.3), ('make', 3, 1, null, 60, 50, null, null, null),
    ('model', 3, 1, 102, 30, 7, null, null, null), ('model', 3, 1, 102, 60, 7, null, null, null))
    as s (level, domain_id, manufacturer_id, model_id, day, lots, sold, sold_low, sold_high);
  alter table sold_by_day add column sold_at_most double;
  update sold_by_day set sold_at_most = sold + 0.1;
  alter table sold_by_day add column domain_name varchar default 'copart_com';
  alter table sold_by_day add column manufacturer_name varchar;
  alter table sold_by_day add column model_name varchar;
  update sold_by_day set manufacturer_name = 'Make 1' where manufacturer_id = 1;
  create table days_on_market as select level, domain_id, manufacturer_id, model_id, 41 as quarter_sold_by from sold_by_day where day = 30;
  create table vin_facts as select 30 as vehicle_id, 'VIN3' as vin, 'year' as reason, 2014 as model_year, 'MAKER' as manufacturer,
    false as agrees_with_year, true as agrees_with_make;
  create table odometer_rollbacks as select 30 as vehicle_id, date '2025-01-01' as read_on, 22321.0 as odometer_km, 90000.0 as odometer_highest_km`;

/** A lake of one night, which has nothing of a lot beside its estimate. */
const NOTHING_BESIDE = `${BESIDE};
  ${['sales', 'sell_through_odds', 'sold_by_day', 'days_on_market', 'odometer_rollbacks', 'vin_facts'].map((mart) => `truncate ${mart}`).join(';')};
  insert into vin_facts (vehicle_id, vin) select vehicle_id, upper(trim(vin)) from vehicles`;

describe('the answer on a lot on offer', () => {
  let lake: PricedMarket;
  beforeAll(async () => {
    const vehicles = [
      { vehicle_id: 30, vin: 'VIN3', year: 2024, manufacturer_id: 1, manufacturer_name: 'Make 1' },
    ];
    const lots = Array.from({ length: 2_000 }, (_, lot_id) => ({
      ...{
        lot_id,
        vehicle_id: lot_id === 30 ? 30 : null,
        domain_id: 3,
        domain_name: 'copart_com',
        lot: `L${lot_id}`,
      },
      ...{ damage_main_name: 'Front End', detailed_title_name: 'Salvage' },
    }));
    lots.push({
      ...{ lot_id: 5_000, lot: 'other', vehicle_id: 30, domain_id: 3, domain_name: 'copart_com' },
      ...{ damage_main_name: 'Front End', detailed_title_name: 'Salvage' },
    });
    // Lots 31 and 40 to 51 are cars like that of lot 30, the first at an absurd price.
    const like = `select * replace (n as lot_id, n as vehicle_id, false as is_offered, if(n = 31, 999000, 500 + 4 * n) as price,
      odometer_km + 1000 * (n - 31) as odometer_km) from law, unnest(list_append(range(40, 52), 31)) as copies(n) where lot_id = 30`;
    const inputs = `with law as (${lotsOf({ lots: 2_000 })}) select * replace (3 as domain_id) from (
      select * from law where lot_id <> 31 and lot_id not between 40 and 51 union all select * exclude (n) from (${like}))`;
    lake = await fitted(inputs, { vehicles, lots });
    await lake.connection.run('create or replace table doubts as from price_doubts');
    await lake.connection.run('create or replace table estimates as from price_estimates');
    for (const mart of ['price_doubts', 'price_estimates']) await lake.connection.run(`drop view ${mart}`);
    await lake.connection.run('alter table doubts rename to price_doubts');
    await lake.connection.run('alter table estimates rename to price_estimates');
    await lake.connection.run('delete from price_doubts where lot_id = 31');
    await lake.connection.run(`${MARTS};${BESIDE}`);
  });
  afterAll(() => lake.close());

  it('has the last sale, odds, days, Buy Now price and what the VIN and the odometer say', async () => {
    const [value] = await valuesOfLots(lake.connection, '30');
    expect(value).toMatchObject({
      ...{ buy_now: 9000, buy_now_share: 0.25, place_factor: 1.032, seller_factor: 0.949 },
      last_sale: { sold_on: '2025-02-09', amount: 999_000, sold_by: 'buy_now', doubt: 'ten_times_estimate' },
      odds: { auction_on: '2030-01-08', sell_probability: 0.7, reason: null },
      // The model was not watched for 30 days, the make was.
      days: {
        of: 'Make 1 at copart_com',
        lots: 50,
        sold_30: 0.22,
        sold_60: null,
        quarter_sold_by: 41,
        reason: null,
      },
      vin: { reason: 'year', vin_year: 2014, feed_year: 2024, agrees_with_year: false },
      rollbacks: [{ read_on: '2025-01-01', km: 22_321, highest_km: 90_000 }],
    });
  });

  it('adjusts similar sales to the car by the estimates, and marks those that are doubted', async () => {
    const [value] = await valuesOfLots(lake.connection, '30');
    const [doubted, ...others] = value?.comparable_sales ?? [];
    expect(doubted).toMatchObject({
      lot: 'L31',
      price: 999_000,
      adjusted_price: null,
      doubt: 'ten_times_estimate',
    });
    expect(others.length).toBe(10);
    const estimates = await lake.rows('select lot_id, estimate from price_estimates');
    for (const { lot, price, adjusted_price, doubt } of others) {
      const own = estimates.find(({ lot_id }) => `L${lot_id}` === lot);
      expect(doubt).toBeNull();
      expect(adjusted_price).toBe(
        Math.round((Number(price) * Number(value?.estimate)) / Number(own?.estimate)),
      );
    }
  });

  it('says it to a person, a line each', async () => {
    const [value] = await valuesOfLots(lake.connection, '30');
    const card = value === undefined ? '' : cardOf(value);
    for (const line of [
      /^estimate at auction of 2030-01-08: [\d,]+ USD$/m,
      /^last sold on 2025-02-09 at its Buy Now price for 999,000 USD \(iaai_com\); doubted: ten times the estimate, or a tenth of it$/m,
      /^Buy Now price 9,000 USD; of lots sold with one at this ratio to the estimate, 25.0 % went for it$/m,
      /^sells at its next auction with a chance of 70.0 % \(60.0 % to 80.0 %\)$/m,
      /^of all lots like it \(Make 1 at copart_com\), sold since they were listed: 22.0 % by day 30 \(10.0 % to 30.0 %\), at most 32.0 % if those that left were sold$/m,
      /^the VIN says model year 2014, the feed 2024$/m,
      /^odometer rolled back: 22,321 km on 2025-01-01, after 90,000 km$/m,
      /^ {2}in the estimate: state and branch \+3\.2 %, seller −5\.1 %$/m,
    ])
      expect(card).toMatch(line);
    expect(card).not.toMatch(/null|undefined|NaN/);
  });

  it('leaves out a place or seller that hardly moves the estimate', async () => {
    const [value] = await valuesOfLots(lake.connection, '32');
    expect(value).toMatchObject({ place_factor: 1.004, seller_factor: 1.2 });
    expect(value && cardOf(value)).toMatch(/^ {2}in the estimate: seller \+20\.0 %$/m);
    const [other] = await valuesOfLots(lake.connection, '33');
    expect(other && cardOf(other)).not.toContain('in the estimate');
  });
});

it('says why there is no interval', async () => {
  const lots = Array.from({ length: 500 }, (_, lot_id) => ({ lot_id, domain_id: 3, lot: `L${lot_id}` }));
  const lake = await fitted(`select * replace (1.5 * price as price) from (${lotsOf({ lots: 500 })})`, {
    lots,
  });
  await lake.connection.run(NOTHING_BESIDE);
  const [without] = await lake.rows('select lot_id from price_estimates where interval_reason is not null');
  const [value] = await valuesOfLots(lake.connection, String(without?.lot_id));
  lake.close();
  expect(value).toMatchObject({ low_80: null, interval_reason: 'few_prices_in_band' });
  expect(value?.note).toMatch(/no interval: the class .* has fewer than 20 prices/);
  expect(value && cardOf(value)).not.toContain('50 % of');
});

it('tells no amount of a damage or title with too few prices', async () => {
  const named = { manufacturer_id: 1, manufacturer_name: 'Make 1', model_id: 102, model_name: 'Model 102' };
  const lake = await fitted(lotsOf({ lots: 500 }), { vehicles: [{ vehicle_id: 0, year: 2024, ...named }] });
  await lake.connection.run(
    `${NOTHING_BESIDE}; create table settings as select * replace (85 as minimum_group) from dim_settings`,
  );
  await lake.connection.run('drop view dim_settings; alter table settings rename to dim_settings');
  const { evidence } = await valueOfCar(lake.connection, { make: 'Make 1', model: 'Model 102', year: 2024 });
  const few = evidence?.otherwise.filter(({ prices }) => prices < 85) ?? [];
  expect(few.length).toBeGreaterThan(0);
  expect(few.length).toBeLessThan(evidence?.otherwise.length ?? 0);
  for (const each of evidence?.otherwise ?? [])
    expect(each.estimate === null, each.level).toBe(each.prices < 85);
  lake.close();
});

it('says so if another version made the snapshot', async () => {
  const lake = await fitted(lotsOf({ lots: 400 }), {
    lots: [{ lot_id: 30, domain_id: 3, domain_name: 'copart_com', lot: 'L30' }],
  });
  await lake.connection.run('drop view price_doubts');
  await expect(valuesOfLots(lake.connection, 'L30')).rejects.toMatchObject({ code: 'QUERY_NO_TABLE' });
  lake.close();
});
