import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Asked, findVehicle } from '../../src/ask/query/find-vehicle.js';
import { lakeCard } from '../../src/cli/vehicle-card.js';
import { createFunctions } from '../../src/core/model/functions.js';
import { fill, openLake, type TestLake } from '../model/support.js';

const SEEN = '2026-11-20T02:00:00Z';

let lake: TestLake;
beforeEach(async () => {
  lake = await openLake();
  await createFunctions(lake.connection, 'values');
  const vehicle = { archived: false, year: 2014, manufacturer_name: 'Toyota', model_name: 'Camry' };
  await fill(lake.connection, 'vehicles', [
    { ...vehicle, vehicle_id: 1, vin: 'vin1', changed_at: '2026-11-01T02:00:00Z' },
    { ...vehicle, vehicle_id: 2, vin: ' VIN1 ', changed_at: '2026-11-03T02:00:00Z' },
    { ...vehicle, vehicle_id: 3, vin: 'VIN1', changed_at: '2026-11-04T02:00:00Z', archived: true },
    { ...vehicle, vehicle_id: 4, vin: null, changed_at: '2026-11-04T02:00:00Z' },
  ]);
  await lake.connection.run(`create table vin_facts as select vehicle_id, upper(trim(vin)) as vin from vehicles;
    create table vehicle_timeline (vehicle_id bigint, place bigint, event varchar, occurred_at timestamptz, occurred_local varchar,
      domain_id bigint, lot varchar, amount double, currency varchar, odometer_km double, odometer_rollback boolean, description varchar)`);
  const lot = { archived: false, changed_at: SEEN };
  await fill(lake.connection, 'lots', [
    { ...lot, lot_id: 10, vehicle_id: 2, domain_id: 1, lot: 'a7', bid: 500 },
    { ...lot, lot_id: 11, vehicle_id: 4, domain_id: 3, lot: 'A7', changed_at: '2026-11-01T02:00:00Z' },
    { ...lot, lot_id: 12, vehicle_id: null, domain_id: 3, lot: 'B1' },
  ]);
  await fill(lake.connection, 'sightings', [
    { vehicle_id: 2, lot_id: null, seen_at: '2026-11-19T02:00:00Z' },
    { vehicle_id: 2, lot_id: 10, seen_at: SEEN },
  ]);
  await fill(lake.connection, 'inspections', [
    { vehicle_id: 2, domain_id: 12, gone_at: null },
    { vehicle_id: 2, domain_id: 12, gone_at: SEEN },
  ]);
});
afterEach(() => lake.close());

const idsFor = async (asked: Asked) => {
  const found = await findVehicle(lake.connection, asked);
  return found && [found.vehicle.vehicle_id, ...found.other_vehicle_ids];
};

describe('a lookup in the lake', () => {
  it.each<[Asked, readonly number[] | undefined]>([
    [{ kind: 'vin', id: ' Vin1' }, [2, 1, 3]],
    [{ kind: 'car', id: '3' }, [3]],
    [{ kind: 'lot', id: 'a7' }, [2, 4]],
    [{ kind: 'lot', id: 'A7', domain: 3 }, [4]],
    [{ kind: 'listing', id: 'A7', domain: 1 }, [2]],
    [{ kind: 'listing', id: 'A7', domain: 12 }, undefined],
    [{ kind: 'car', id: '5' }, undefined],
    [{ kind: 'vin', id: 'VIN2' }, undefined],
    // No vehicle has this lot.
    [{ kind: 'lot', id: 'B1' }, undefined],
  ])('finds %j: %j, those in the feed first', async (asked, ids) => {
    expect(await idsFor(asked)).toEqual(ids);
  });

  it('says when the service last delivered the vehicle, and counts the reports that it still has', async () => {
    const found = await findVehicle(lake.connection, { kind: 'car', id: '2' });
    expect(found).toMatchObject({
      seen_at: SEEN,
      vehicle: { vehicle_id: 2, model_name: 'Camry', inspections: 1, history_reports: 0 },
      lots: [{ lot_id: 10, lot: 'a7', bid: 500, archived: false }],
      timeline: [],
    });
    const card = found === undefined ? '' : lakeCard(found);
    expect(card).toContain(`from the lake, which last saw it at ${SEEN}\n`);
    expect(card).toContain('id 2, VIN  VIN1 , 2014 Toyota Camry\n');
    expect(card).not.toMatch(/null|undefined|NaN/);
  });

  it('says so if another version made the snapshot', async () => {
    await lake.connection.run('drop table sightings');
    await expect(findVehicle(lake.connection, { kind: 'car', id: '2' })).rejects.toMatchObject({
      code: 'QUERY_NO_TABLE',
      hint: expect.stringContaining('lotlake run rebuild'),
    });
  });
});
