import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valueOfCar, valuesOfLots } from '../../src/ask/query/valuation.js';
import { withOwnSeeds } from '../../src/core/model/model-files.js';
import { base, lot, SOLD, vinOf } from './cases.js';
import {
  computeMarts,
  computeModels,
  fill,
  type Given,
  modelsOf,
  openLake,
  openMarts,
  type TestLake,
  texts,
} from './support.js';

const marts = openMarts('vehicle_facts');

/** The same VIN with a wrong check digit. */
const broken = (vin: string): string => vin.slice(0, 8) + (vin[8] === '1' ? '2' : '1') + vin.slice(9);

const camry = { manufacturer_id: 124, manufacturer_name: 'Toyota', model_id: 2010, model_name: 'Camry' };
/** A Camry built in the United States as one of 2014, and one of 2004. */
const OF_2014 = vinOf('4T1BF1F', 'E');
const OF_2004 = vinOf('4T1BF10', '4');
/** A Korean car of 1984 or 2014. */
const KOREAN = broken(vinOf('KMHE14L', 'E'));
const TOYOTA_OF_JAPAN = vinOf('JTNBF1F', 'E');

describe('the year that the models believe', () => {
  const factsOf = async (vin: string | null, year: number | null, rest: Given = {}) => {
    const vehicles = [{ vehicle_id: 1, vin, year, ...camry, vehicle_type_id: 1, ...rest }];
    await marts.compute({ ...base, vehicles });
    return (await marts.query('select year, year_origin from vehicle_facts'))[0];
  };
  const believed = (year: number | null, year_origin: string) => ({ year, year_origin });

  // The runs are in September 2026, so 2027 is the last year that can be.
  it.each([
    ['the same year', OF_2014, 2014],
    ['a year one off, as many of the feed are', OF_2014, 2015],
    ['a year one off before it', OF_2014, 2013],
    ['no VIN', null, 2027],
    ['a VIN that is too short', '4T1BF1FA', 2027],
    ['a VIN of one character, which says 2001', '11111111111111111', 2014],
    ['a character that need not be a year', broken(vinOf('WBA3B5C', 'E')), 2020],
    ['the other cycle, which a heavy truck may have', vinOf('4T1BF10', 'E'), 2014],
    ['a year that cannot be by the VIN', vinOf('4T1BF1F', 'W'), 2020],
    ['the VIN of another make', vinOf('1HGBF1F', 'E'), 2020],
  ])('is the one of the feed with %s: %s', async (_, vin, year) => {
    expect(await factsOf(vin, year)).toEqual(believed(year, 'feed'));
  });

  it.each([
    ['another year', OF_2014, 2027, 2014],
    ['an older one', OF_2014, 2009, 2014],
    ['another one of the cycle before', OF_2004, 2012, 2004],
    ['0', OF_2014, 0, 2014],
    ['1900', OF_2014, 1900, 2014],
    ['one after the next', OF_2014, 2028, 2014],
    ['none', OF_2014, null, 2014],
    ['none, in Korea', KOREAN, null, 2014],
    ['0, in Korea', KOREAN, 0, 2014],
  ])('is that of a right VIN, if the feed states %s: %s, %s', async (_, vin, year, expected) => {
    const rest = vin === KOREAN ? { manufacturer_name: 'Hyundai' } : {};
    expect(await factsOf(vin, year, rest)).toEqual(believed(expected, 'vin'));
  });

  it.each([
    ['a wrong check digit', broken(OF_2014), 2027, {}],
    ['a wrong check digit', broken(OF_2014), 0, {}],
    ['an identifier of no known make', vinOf('1ZZBF1F', 'E'), 2020, {}],
    ['no check digit', KOREAN, 2020, { manufacturer_name: 'Hyundai' }],
    ['a check digit that can be right by chance', TOYOTA_OF_JAPAN, 2020, {}],
    ['a cycle that only the year of the feed tells', OF_2014, 2020, { vehicle_type_id: 4 }],
    ['too few characters', '4T1BF1FA', 1900, {}],
    ['too few characters', '4T1BF1FA', 2028, {}],
    ['no characters', null, 0, {}],
  ])('is doubted, if the VIN contradicts it with %s: %s, %s', async (_, vin, year, rest) => {
    expect(await factsOf(vin, year, rest)).toEqual(believed(null, 'doubted'));
  });

  it.each([
    ['the VIN of another model', { model_id: 2012, model_name: 'Corolla' }, believed(null, 'doubted')],
    ['the VIN of the same model', {}, believed(2014, 'vin')],
  ])('with %s', async (_, other, expected) => {
    const car = { ...camry, vin: OF_2014, vehicle_type_id: 1 };
    const vehicles = [
      { ...car, vehicle_id: 1, year: 2014, ...other },
      { ...car, vehicle_id: 2, year: 2027 },
      { ...car, vehicle_id: 3, year: 0 },
    ];
    await marts.compute({ ...base, vehicles });
    const found = await marts.query('select year, year_origin from vehicle_facts order by vehicle_id');
    expect(found).toEqual([believed(2014, 'feed'), expected, expected]);
  });

  it.each([null, '4T1BF1FA', broken(OF_2014)])('is unknown, if neither states one: %s', async (vin) => {
    expect(await factsOf(vin, null)).toEqual(believed(null, 'unknown'));
  });
});

describe('names of manufacturers and models', () => {
  const car = (vehicle_id: number, manufacturer: string, model: string, rest: Given = {}): Given => {
    const [manufacturer_id = '', manufacturer_name = ''] = manufacturer.split(':');
    const [model_id = '', model_name = ''] = model.split(':');
    return {
      ...{ vehicle_id, vehicle_type_id: 1, manufacturer_name, model_name, ...rest },
      ...{ manufacturer_id: Number(manufacturer_id), model_id: Number(model_id) },
    };
  };
  const idsOf = async (vehicles: readonly Given[]) => {
    await marts.compute({ ...base, vehicles });
    const found = await marts.query(
      "select manufacturer_id || '/' || model_id as ids from vehicle_facts order by vehicle_id",
    );
    return found.map(({ ids }) => ids);
  };

  it('that are spelled alike are one, with the smallest id', async () => {
    const ids = await idsOf([
      car(1, '7:Mercedes-Benz', '71:E 350'),
      car(2, '5: mercedes benz ', '60:E-350'),
      car(3, '5: mercedes benz ', '61:E 250'),
      car(4, '9:Mercedes', '90:E 350'),
    ]);
    expect(ids).toEqual(['5/60', '5/60', '5/61', '9/90']);
    expect(await marts.query('select * from dim_manufacturers order by manufacturer_id')).toEqual([
      { manufacturer_id: 5, manufacturer_name: 'mercedes benz', joined_to: 5 },
      { manufacturer_id: 7, manufacturer_name: 'Mercedes-Benz', joined_to: 5 },
      { manufacturer_id: 9, manufacturer_name: 'Mercedes', joined_to: 9 },
    ]);
    expect(await marts.query('select model_id, joined_to from dim_models order by model_id')).toEqual([
      ...[60, 61].map((id) => ({ model_id: id, joined_to: id })),
      { model_id: 71, joined_to: 60 },
      { model_id: 90, joined_to: 90 },
    ]);
  });

  it('stay apart in another vehicle type, whatever single vehicles have', async () => {
    const motorcycle = { vehicle_type_id: 2 };
    const ids = await idsOf([
      car(1, '5:Honda', '50:Civic'),
      car(2, '5:Honda', '50:Civic'),
      car(3, '5:Honda', '50:Civic', motorcycle),
      car(4, '4:HONDA', '40:Civic', motorcycle),
    ]);
    expect(ids).toEqual(['5/50', '5/50', '5/50', '4/40']);
  });

  describe('in a seed of the user', () => {
    const MARTS = ['vehicle_facts'];
    let lake: TestLake;
    beforeAll(async () => {
      lake = await openLake();
    });
    afterAll(() => lake.close());

    it.each([
      ['keep an id apart', '7,7\n', '71,71\n', ['5/50', '5/50', '7/71', '9/90']],
      ['keep the smallest id apart', '5,5\n', '', ['5/50', '6/60', '6/60', '9/90']],
      ['join two names', '9,5\n', '90,50\n', ['5/50', '5/50', '5/50', '5/50']],
      [
        'join a name to the id that another one is joined to',
        '9,7\n',
        '90,71\n',
        ['5/50', '5/50', '5/50', '5/50'],
      ],
    ])('%s', async (name, makes, models, expected) => {
      const seeds = join(lake.folder, name);
      mkdirSync(seeds);
      writeFileSync(join(seeds, 'manufacturer_joins.csv'), `manufacturer_id,joined_to\n${makes}`);
      writeFileSync(join(seeds, 'model_joins.csv'), `model_id,joined_to\n${models}`);
      await fill(lake.connection, 'runs', base.runs);
      await fill(lake.connection, 'vehicles', [
        car(1, '5:Volkswagen', '50:Golf'),
        car(2, '6:volkswagen', '60:golf'),
        car(3, '7:VOLKSWAGEN', '71:GOLF'),
        car(4, '9:VW', '90:Golf Mk'),
      ]);
      await computeModels(lake, withOwnSeeds(modelsOf(MARTS), seeds));
      const found = await texts(
        lake,
        "select manufacturer_id || '/' || model_id as ids from vehicle_facts order by vehicle_id",
      );
      expect(found.map(({ ids }) => ids)).toEqual(expected);
    });
  });

  it('that are empty join nothing', async () => {
    expect(await idsOf([car(1, '5: ', '50: '), car(2, '4:', '40:')])).toEqual(['5/50', '4/40']);
  });
});

describe('the marts of two ids of Toyota and a year of 2027', () => {
  const MARTS = [
    ...['price_estimates', 'price_trends', 'price_factors', 'price_accuracy', 'damage_breakdown'],
    // What a value reads beside them.
    ...['sell_through_odds', 'sold_by_day', 'days_on_market', 'odometer_rollbacks', 'vin_facts'],
  ];
  let lake: TestLake;
  beforeAll(async () => {
    lake = await openLake();
  });
  afterAll(() => lake.close());
  const codes = '89ABCDEFGHJKLMNPR';
  /** 400 Camrys of 2008 to 2024, of two manufacturer ids, which lose 11 % a year. */
  const sold = Array.from({ length: 400 }, (_, i) => {
    const year = 2008 + (i % codes.length);
    const vin = vinOf(year < 2010 ? '4T1BF10' : '4T1BF1F', codes[i % codes.length] ?? '', i);
    const other = { manufacturer_id: 200, manufacturer_name: ' toyota ', model_id: 3000 };
    return {
      vehicle: { ...camry, ...(i % 3 === 0 ? other : {}), vehicle_id: i + 10, vin, year, vehicle_type_id: 1 },
      lot: lot({
        ...{ lot_id: i + 10, vehicle_id: i + 10, status_id: SOLD, odometer_km: 15_000 * (2026 - year) },
        final_bid: Math.round(20_000 * Math.exp(-0.11 * (2026 - year) + 0.1 * Math.sin(i * i))),
        sale_date: `2026-0${5 + (i % 3)}-1${i % 10}T15:00:00Z`,
      }),
    };
  });
  const offered = lot({ vehicle_id: 1, lot: 'L1', sale_date: '2026-10-01T15:00:00Z', odometer_km: 180_000 });
  const compute = (year: number, vin: string): Promise<void> => {
    const vehicles = [
      ...sold.map(({ vehicle }) => vehicle),
      { ...sold[1]?.vehicle, vehicle_id: 1, vin, year },
    ];
    return computeMarts(
      lake,
      { ...base, vehicles, lots: [offered, ...sold.map((each) => each.lot)] },
      ...MARTS,
    );
  };
  const estimate = async (year: number, vin: string) => {
    await compute(year, vin);
    const [found] = await texts(lake, 'select estimate, year_origin from price_estimates where lot_id = 1');
    const [value] = await valuesOfLots(lake.connection, 'L1');
    return {
      estimate: Number(found?.estimate),
      origin: found?.year_origin,
      of: value?.of,
      note: value?.note,
    };
  };

  it('estimate a Camry of 2014 as one of 2014', async () => {
    const right = await estimate(2014, OF_2014);
    expect(right).toMatchObject({ origin: 'feed', note: null });
    expect(right.estimate).toBeGreaterThan(4_500);
    expect(right.estimate).toBeLessThan(6_000);
    const late = await estimate(2027, OF_2014);
    expect(late).toMatchObject({
      origin: 'vin',
      of: expect.stringMatching(/^2014 Toyota Camry/),
      note: 'model year 2014 by the VIN; the feed says 2027',
    });
    expect(Math.abs(late.estimate / right.estimate - 1)).toBeLessThan(0.03);
    expect(await estimate(2027, broken(OF_2014))).toMatchObject({
      origin: 'doubted',
      of: expect.stringMatching(/^Toyota Camry/),
      // without its year, no car is like it
      note: expect.stringMatching(
        /^no price of a like car .*; the model year 2027 of the feed is doubted and not used$/,
      ),
    });
  });

  it('show one Toyota', async () => {
    await compute(2014, OF_2014);
    const names = 'manufacturer_id, manufacturer_name, model_id';
    const toyota = { manufacturer_id: 124, manufacturer_name: 'Toyota', model_id: 2010 };
    expect(await texts(lake, `select distinct ${names} from price_trends where level = 'model'`)).toEqual([
      toyota,
    ]);
    expect(await texts(lake, `select distinct ${names} from damage_breakdown where level = 'model'`)).toEqual(
      [toyota],
    );
    expect(
      await texts(lake, "select level, prices from price_factors where factor = 'manufacturer'"),
    ).toMatchObject([{ level: '124', prices: 400 }]);
    expect(await texts(lake, 'select count(distinct manufacturer_id) as ids from vehicles')).toEqual([
      { ids: 2 },
    ]);
    const value = await valueOfCar(lake.connection, {
      make: 'TOYOTA',
      model: 'Camry',
      year: 2018,
      km: 120_000,
    });
    expect(value.comparable_sales).toHaveLength(10);
    expect(Number(value.estimate) / (20_000 * Math.exp(-0.11 * 8))).toBeCloseTo(1, 0);
  });
});
