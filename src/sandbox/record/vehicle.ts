import { bodyNames, formulaNames, fuelNames, wheelNames } from '../data/wording.js';
import { auctionFacts } from '../world/auction-facts.js';
import { type Car, carOf } from '../world/car.js';
import type { Instant } from '../world/instants.js';
import { carLife, type Life, type SeenLot, seenLots } from '../world/life.js';
import { listingFacts } from '../world/listing-facts.js';
import { stateOf } from '../world/lot-life.js';
import { idOf, type Population } from '../world/population.js';
import { auctionLot } from './auction-lot.js';
import { listingLot } from './listing-lot.js';
import { histories, inspections, type ReportedListing } from './reports.js';

/** The record of a vehicle at a clock (service.md), with `prices` on its lots where asked for. */
export function vehicleRecord(world: Population, life: Life, clock: Instant, withPrices: boolean): object {
  const car = carOf(world, carLife(world, life));
  const seen = seenLots(world, life, clock);
  const lots = seen.map(({ life: lot }) => {
    const state = stateOf(lot, clock);
    return lot.domain === 12
      ? listingLot({
          world,
          car,
          life: lot,
          state,
          facts: listingFacts(world, car, lot, life.birth),
          withPrices,
        })
      : auctionLot({ world, car, life: lot, state, facts: auctionFacts(world, car, lot), withPrices });
  });
  const id = idOf(world, life.index);
  const record = { id, ...identity(car), lots };
  return car.shape === 'described' ? { ...record, ...additions(world, car, life, seen, clock) } : record;
}

function identity(car: Car) {
  const { model, generation, unknown, engine, color } = car;
  const title = `${car.year} ${model.manufacturer.name} ${model.name} ${car.trim}`;
  return {
    year: car.year,
    title: car.quirk === 'formula title' ? (formulaNames[1] ?? title) : title,
    vin: car.vin,
    manufacturer: model.manufacturer,
    model: { id: model.id, name: model.name, manufacturer_id: model.manufacturer.id },
    generation: unknown.generation
      ? null
      : {
          id: generation.id,
          name: generation.name,
          manufacturer_id: model.manufacturer.id,
          model_id: model.id,
        },
    body_type: { name: bodyNames.get(model.body) ?? 'other', id: model.body },
    color: { name: color[1], id: color[0] },
    engine: unknown.engine ? null : { id: engine.id, name: engine.name },
    transmission: car.automatic ? { name: 'automatic', id: 1 } : { name: 'manual', id: 2 },
    drive_wheel: unknown.wheels ? null : { name: wheelNames.get(car.wheels) ?? '', id: car.wheels },
    vehicle_type: model.vehicleType === 2 ? { name: 'motorcycle', id: 2 } : { name: 'automobile', id: 1 },
    fuel: { name: fuelNames.get(engine.fuel) ?? '', id: engine.fuel },
    cylinders: engine.cylinders,
  };
}

/** Members that the service added later (service.md); reports come from listings that are not archived. */
function additions(world: Population, car: Car, life: Life, seen: readonly SeenLot[], clock: Instant) {
  const open = seen.filter((lot) => !lot.archived).map((lot) => lot.life);
  const listings = open
    .filter((lot) => lot.domain === 12)
    .map((lot): ReportedListing => {
      const facts = listingFacts(world, car, lot, life.birth);
      return { world, car, vehicleId: idOf(world, life.index), life: lot, facts };
    });
  const inspected = listings
    .flatMap((listing) => inspections(listing, clock))
    .sort((a, b) => b.storedAt - a.storedAt);
  const reported = listings.flatMap(histories);
  return {
    doors: car.doors,
    seats: car.seats,
    has_inspections: inspected.length > 0,
    has_history_reports: reported.length > 0,
    listings: open.map((lot) => {
      const facts = listings.find((listing) => listing.life === lot)?.facts;
      return {
        has_history_reports: (facts?.histories ?? 0) > 0,
        is_manufacturer_certified: facts?.certified ?? false,
      };
    }),
    inspections: inspected.map((report) => report.record),
    vehicle_history_reports: reported,
  };
}
