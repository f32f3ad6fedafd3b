import { reportFlags } from '../record/reports.js';
import { titleOf } from '../record/vehicle.js';
import { carOf } from '../world/car.js';
import type { Instant } from '../world/instants.js';
import { carLife, type Life, lifeOf, seenLots } from '../world/life.js';
import { reportFacts } from '../world/listing-facts.js';
import { indexOf, type Population, population } from '../world/population.js';
import type { World } from '../world.js';
import { type LotRow, lotRow } from './lot-row.js';
import { perWorld } from './per-world.js';

/** What filters look at in a vehicle; null where its record shows nothing. */
export interface VehicleRow {
  readonly id: number;
  readonly year: number;
  readonly title: string;
  readonly vin: string | null;
  readonly manufacturer: number;
  readonly model: number;
  readonly generation: number | null;
  readonly body: number;
  readonly color: number;
  readonly transmission: number;
  readonly wheels: number | null;
  readonly vehicleType: number;
  readonly fuel: number;
  readonly engine: string | null;
  readonly cylinders: number | null;
  readonly seats: number;
  readonly inspected: boolean;
  readonly reported: boolean;
  /** Flags of the `listings` entries. */
  readonly listings: readonly { readonly certified: boolean; readonly reported: boolean }[];
  /** Lots that are not archived. */
  readonly lots: readonly LotRow[];
}

const rowsOf = perWorld(() => new Map<number, VehicleRow>());

/** The row of a vehicle that is in the feed; computed once a world, as no record has to be written for it. */
export function rowOf(world: World, id: number): VehicleRow | undefined {
  const rows = rowsOf(world);
  const known = rows.get(id);
  if (known !== undefined) return known;
  const base = population(world.seed, world.vehicles);
  const index = indexOf(base, id);
  if (index === undefined) return undefined;
  const row = makeRow(base, lifeOf(base, index), world.clock.getTime(), id);
  rows.set(id, row);
  return row;
}

function makeRow(world: Population, life: Life, clock: Instant, id: number): VehicleRow {
  const car = carOf(world, carLife(world, life));
  const open = seenLots(world, life, clock).filter((lot) => !lot.archived);
  const listings = open.map(({ life: lot }) => {
    const facts = reportFacts(world, car, lot, life.birth);
    if (facts === undefined) return { certified: false, reported: false, inspected: false };
    return {
      certified: facts.certified,
      ...reportFlags({ world, car, vehicleId: id, life: lot, facts }, clock),
    };
  });
  const { model, unknown } = car;
  return {
    id,
    year: car.year,
    title: titleOf(car),
    vin: car.vin,
    manufacturer: model.manufacturer.id,
    model: model.id,
    generation: unknown.generation ? null : car.generation.id,
    body: model.body,
    color: car.color[0],
    transmission: car.automatic ? 1 : 2,
    wheels: unknown.wheels ? null : car.wheels,
    vehicleType: model.vehicleType,
    fuel: car.engine.fuel,
    engine: unknown.engine ? null : car.engine.name,
    cylinders: car.engine.cylinders,
    seats: car.seats,
    inspected: listings.some((listing) => listing.inspected),
    reported: listings.some((listing) => listing.reported),
    listings,
    lots: open.map(({ life: lot }) => lotRow(world, car, life, lot, clock)),
  };
}
