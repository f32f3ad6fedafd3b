import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { readLayer, readModels } from '../../src/core/model/model-files.js';
import { withReferences } from '../../src/core/model/references.js';
import { base, entry, lot, SOLD, vinOf } from './cases.js';
import { type Given, openMarts } from './support.js';

const marts = openMarts('sales', 'price_inputs', 'odometer_rollbacks', 'days_on_market');

const CAMRY = { manufacturer_id: 124, manufacturer_name: 'Toyota', model_id: 2010, model_name: 'Camry' };
const ACCORD = { manufacturer_id: 17, manufacturer_name: 'Honda', model_id: 170, model_name: 'Accord' };
const vehicle = (vehicle_id: number, vin: string, year: number, car: Given): Given => ({
  ...{ vehicle_id, vin, year, vehicle_type_id: 1, engine_name: '2.5L', ...car },
});

const OLD_VIN = vinOf('4T1BF1F', 'E', 700);
const NEW_VIN = vinOf('1HGCR2F', 'K', 42);

/** A lot that left the feed after its sale, and the next lot of its vehicle two weeks later, which is in the feed. */
const DAY_OF_SECOND = '2026-05-20T00:00:00Z';
const lots = [
  lot({ lot_id: 1, archived: true, odometer_km: 150_000, created_at: '2026-05-01T00:00:00Z' }),
  lot({ lot_id: 2, odometer_km: 20_000, created_at: DAY_OF_SECOND, first_seen_at: DAY_OF_SECOND }),
];
const prices = [
  entry('2026-05-10T12:00:00Z', SOLD, 9000, { lot_id: 1, final_bid_updated_at: '2026-05-10T13:00:00Z' }),
  entry('2026-05-24T12:00:00Z', SOLD, 15_000, { lot_id: 2, final_bid_updated_at: '2026-05-24T13:00:00Z' }),
];
const archived = (vin: string | null, rest: Given = {}): Given => ({
  ...{ lot_id: 1, vehicle_id: 10, domain_id: 3, vin, archived_at: '2026-05-11T00:00:00Z', ...rest },
});
const others = [vehicle(11, vinOf('4T1BF1F', 'E', 5), 2014, CAMRY)];

const SALES = `select lot_id, vehicle_id, manufacturer_name, model_name, year, outcome, vehicle_round
  from sales order by lot_id`;
const OF_ACCORD = { vehicle_id: 10, manufacturer_name: 'Honda', model_name: 'Accord', year: 2019 };
/** The first lot is of the Accord too, which was offered again within 30 days. */
const ONE_CAR = [
  { lot_id: 1, ...OF_ACCORD, outcome: 'not_sold', vehicle_round: 1 },
  { lot_id: 2, ...OF_ACCORD, outcome: 'sold', vehicle_round: 1 },
];
const compute = (archived_lots: readonly Given[], rest: Readonly<Record<string, readonly Given[]>> = {}) =>
  marts.compute({
    ...base,
    ...{ vehicles: [vehicle(10, NEW_VIN, 2019, ACCORD), ...others], lots, prices, archived_lots, ...rest },
  });

describe('a vehicle id that was used again for another car', () => {
  it('leaves the old sale with its own car', async () => {
    await compute([archived(OLD_VIN.toLowerCase())]);
    expect(await marts.query(SALES)).toEqual([
      {
        ...{ lot_id: 1, vehicle_id: null, manufacturer_name: 'Toyota', model_name: 'Camry', year: 2014 },
        ...{ outcome: 'sold', vehicle_round: 1 },
      },
      { lot_id: 2, ...OF_ACCORD, outcome: 'sold', vehicle_round: 1 },
    ]);
    expect(
      await marts.query(
        'select lot_id, model_id, year, year_origin, engine, price from price_inputs order by lot_id',
      ),
    ).toEqual([
      { lot_id: 1, model_id: 2010, year: 2014, year_origin: 'vin', engine: null, price: 9000 },
      { lot_id: 2, model_id: 170, year: 2019, year_origin: 'feed', engine: '2.5l', price: 15_000 },
    ]);
    expect(await marts.query('from odometer_rollbacks')).toEqual([]);
  });

  it('leaves it without facts that no other VIN tells', async () => {
    await compute([archived(OLD_VIN)], { vehicles: [vehicle(10, NEW_VIN, 2019, ACCORD)] });
    expect((await marts.query(SALES))[0]).toEqual({
      ...{ lot_id: 1, vehicle_id: null, manufacturer_name: null, model_name: null, year: null },
      ...{ outcome: 'sold', vehicle_round: 1 },
    });
  });

  it('leaves a sale that only the archive feed told of with its own car', async () => {
    const sale = { status_id: SOLD, sale_date: '2026-05-10T12:00:00Z', final_bid: 9000 };
    await compute([archived(OLD_VIN, sale)], { lots: lots.slice(1), prices: prices.slice(1) });
    expect((await marts.query(SALES))[0]).toEqual({
      ...{ lot_id: 1, vehicle_id: null, manufacturer_name: 'Toyota', model_name: 'Camry', year: 2014 },
      ...{ outcome: 'sold', vehicle_round: 1 },
    });
  });
});

describe('a vehicle is one car', () => {
  it.each([
    ['of the same VIN', NEW_VIN],
    ['of a VIN whose serial number was corrected', vinOf('1HGCR2F', 'K', 43)],
    ['of a VIN whose beginning was corrected', vinOf('1HGCR2G', 'K', 42)],
    ['of no VIN', null],
    ['of an empty VIN', ''],
    ['of a VIN that is cut off', OLD_VIN.slice(0, 11)],
    ['of a VIN with other characters', `${OLD_VIN.slice(0, 16)}*`],
    ['of a placeholder', '11111111111111111'],
  ])('if the archive feed has the lot %s', async (_, vin) => {
    await compute([archived(vin)]);
    expect(await marts.query(SALES)).toEqual(ONE_CAR);
    expect(await marts.query('select vehicle_id from odometer_rollbacks')).toEqual([{ vehicle_id: 10 }]);
  });

  it('if the lot is in the feed again', async () => {
    await compute([archived(OLD_VIN)], { lots: lots.map((each) => ({ ...each, archived: false })) });
    expect(await marts.query(SALES)).toEqual(ONE_CAR);
  });

  it('if a later archiving has its VIN', async () => {
    await compute([archived(OLD_VIN), archived(NEW_VIN, { archived_at: '2026-05-12T00:00:00Z' })]);
    expect(await marts.query(SALES)).toEqual(ONE_CAR);
  });

  it('if the vehicle has a VIN that cannot be compared', async () => {
    for (const vin of ['2222222222222222', '22222222222222222']) {
      await compute([archived(OLD_VIN)], { vehicles: [vehicle(10, vin, 2019, ACCORD), ...others] });
      expect(await marts.query(SALES), vin).toEqual(ONE_CAR);
    }
  });
});

it('no model takes the facts of a lot that may be of another car from its vehicle', async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const models = await withReferences(connection, [...readModels(), ...readLayer('examples')]);
  connection.closeSync();
  const readers = models.filter(({ references }) => references.includes('vehicle_facts'));
  // Lots on offer are in the feed, and so of the car that the feed has.
  const others = ['column_figures', 'dim_vin_heads', 'lots_on_offer'];
  expect(readers.map(({ name }) => name).sort()).toEqual([...others, 'lot_cars'].sort());
});
