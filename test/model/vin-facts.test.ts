import { expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/index.js';
import { carOf } from '../../src/sandbox/world/car.js';
import { activeLives } from '../../src/sandbox/world/life.js';
import { base } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('vin_facts');

/** The row of vin_facts for one vehicle. */
async function factsOf(vin: string | null, rest: Given = {}) {
  const vehicles = [{ vehicle_id: 1, vin, ...rest }];
  await marts.compute({ ...base, vehicles });
  return (await marts.query('select * from vin_facts'))[0];
}

const car = (manufacturer_name: string, year: number | null, vehicle_type_id = 1): Given => ({
  ...{ manufacturer_name, year, vehicle_type_id },
});

it('a VIN is taken apart', async () => {
  expect(await factsOf(' 1hgcm82633a004352 ', car('Honda', 2003))).toEqual({
    ...{ vehicle_id: 1, vin: '1HGCM82633A004352', is_valid: true, check_digit_ok: true, wmi: '1HG' },
    ...{ manufacturer: 'AMERICAN HONDA MOTOR CO., INC.', country_code: 'US', model_year: 2003 },
    ...{ plant_code: 'A', serial: '004352', agrees_with_make: true, agrees_with_year: true, reason: null },
    ...{ tells_year: true, tells_cycle: true },
  });
});

it.each([
  ['1M8GDM9AXKP042788', car('Mci', 1989), { check_digit_ok: true, model_year: 1989, agrees_with_make: null }],
  [
    '1GNEK13ZX3R298984',
    car('Chevrolet', 2003),
    { check_digit_ok: true, agrees_with_make: true, reason: null },
  ],
  ['1J4FA29P4YP728937', car('Jeep', 2000), { model_year: 2000, reason: null }],
  ['5GZCZ43D13S812715', car('Saturn', 2004), { model_year: 2003, agrees_with_year: false, reason: 'year' }],
  ['JHMCM56557C404453', car('Honda', 2007), { country_code: 'JP', model_year: 2007, reason: null }],
  ['WBA3B5G55FNS17722', car('BMW', 2015), { country_code: 'DE', model_year: 2015, reason: null }],
  ['1HGCM82633A004352', car('Toyota', 2003), { agrees_with_make: false, reason: 'make' }],
  ['1HGCM82643A004352', car('Honda', 2003), { check_digit_ok: false, reason: 'check_digit' }],
])('%s of %j is read as published: %j', async (vin, vehicle, facts) => {
  expect(await factsOf(vin, vehicle)).toMatchObject({ is_valid: true, ...facts });
});

it.each([
  ['11111111111111111', { is_valid: true, check_digit_ok: true, reason: 'placeholder' }],
  ['1HGCM82633A00435', { is_valid: false, reason: 'length', wmi: null, model_year: null }],
  ['1HGCM82633A0O4352', { is_valid: false, reason: 'characters', check_digit_ok: null }],
  ['NOVIN', { is_valid: false, reason: 'length' }],
])('%s is %j', async (vin, facts) => {
  expect(await factsOf(vin, car('Honda', 2003))).toMatchObject(facts);
});

it.each([null, '', ' '])('a vehicle without a VIN has no row: %j', async (vin) => {
  expect(await factsOf(vin)).toBeUndefined();
});

// The runs are in 2026. The tenth character is K, which means 1989 or 2019.
it.each([
  ['by the seventh character, if built in North America', '1FT00000XK0000001', car('Ford', 2019), 1989],
  ['by the seventh character, if built in North America', '1FT000A0XK0000001', car('Ford', 1989), 2019],
  ['by the feed for other vehicles than cars', '1HD00000XK0000001', car('Harley-Davidson', 2019, 2), 2019],
  ['by the feed elsewhere', 'KMH000A0XK0000001', car('Hyundai', 1990), 1989],
  ['by the feed elsewhere', 'KMH00000XK0000001', car('Hyundai', 2018), 2019],
  ['as the latest possible one without a year in the feed', 'KMH00000XK0000001', car('Hyundai', null), 2019],
  ['as the latest possible one with a year that cannot be', 'KMH00000XK0000001', car('Hyundai', 0), 2019],
  ['as unknown if the character is not a code of a year', 'KMH00000X00000001', car('Hyundai', 2018), null],
])('the cycle of model years is determined %s: %s', async (_, vin, vehicle, model_year) => {
  expect(await factsOf(vin, vehicle)).toMatchObject({ model_year });
});

it.each([
  ['WBA00000XF0000001', car('BMW', 2014), null],
  ['KNA00000XF0000001', car('Kia', 2014), false],
  ['KNA00000XF0000001', car('Kia', 2015), true],
])(
  'outside North America, Korea and China the year is not judged without a check digit: %s',
  async (...given) => {
    const [vin, vehicle, agrees_with_year] = given;
    expect(await factsOf(vin, vehicle)).toMatchObject({ check_digit_ok: false, agrees_with_year });
  },
);

it('the only cars of the sandbox that disagree are the planted ones', async () => {
  const world = createWorld({ vehicles: 1500 });
  const cars = [...activeLives(world)].map((life) => carOf(world, life));
  const vehicles = cars
    .filter(({ quirk }) => quirk !== 'shared vin')
    .map(({ vin, year, model }, place) => ({
      ...{ vehicle_id: place + 1, vin, year, vehicle_type_id: model.vehicleType },
      manufacturer_name: model.manufacturer.name,
    }));
  await marts.compute({ ...base, vehicles });
  const found =
    await marts.query(`select reason, min(wmi) as first_wmi, max(wmi) as last_wmi, max(abs(model_year - year)) as years,
      count(*) / (select count(*) from vin_facts) as share
    from vin_facts inner join vehicles using (vehicle_id)
    where reason in ('make', 'year', 'check_digit') group by 1 order by 1`);
  const shares = found.map(({ share }) => Number(share));
  expect(found).toMatchObject([
    { reason: 'check_digit' },
    { reason: 'make', first_wmi: '5LM', last_wmi: '5LM' },
    { reason: 'year', years: 1 },
  ]);
  for (const [place, planted] of [2 / 250, 1 / 250, 7 / 250].entries()) {
    expect(shares[place]).toBeGreaterThan(planted / 3);
    expect(shares[place]).toBeLessThan(planted * 2);
  }
});
