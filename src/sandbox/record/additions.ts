import type { Car } from '../world/car.js';
import type { Instant } from '../world/instants.js';
import type { Life, SeenLot } from '../world/life.js';
import { reportFacts } from '../world/listing-facts.js';
import type { LotLife } from '../world/lot-life.js';
import { idOf, type Population } from '../world/population.js';
import { histories, inspections, type ReportedListing, reportFlags } from './reports.js';

/** A vehicle whose later members are wanted. */
export interface AddedTo {
  readonly world: Population;
  readonly car: Car;
  readonly life: Life;
  readonly seen: readonly SeenLot[];
  readonly clock: Instant;
}

/** A lot with its reports; undefined where it has none. */
function listingOf({ world, car, life }: AddedTo, lot: LotLife): ReportedListing | undefined {
  const facts = reportFacts(world, car, lot, life.birth);
  return facts && { world, car, vehicleId: idOf(world, life.index), life: lot, facts };
}

/** Members that the service added later, but for the reports (service.md): from lots that are not archived. */
export function flagMembers(vehicle: AddedTo) {
  const open = vehicle.seen.filter((lot) => !lot.archived).map((lot) => listingOf(vehicle, lot.life));
  const flags = open.map((listing) =>
    listing === undefined ? { inspected: false, reported: false } : reportFlags(listing, vehicle.clock),
  );
  return {
    doors: vehicle.car.doors,
    seats: vehicle.car.seats,
    has_inspections: flags.some((flag) => flag.inspected),
    has_history_reports: flags.some((flag) => flag.reported),
    listings: open.map((listing, place) => ({
      has_history_reports: flags[place]?.reported ?? false,
      is_manufacturer_certified: listing?.facts.certified ?? false,
    })),
  };
}

/** The reports of the given lots, inspections by newest first (reports.md). */
export function reportMembers(vehicle: AddedTo, lots: readonly LotLife[]) {
  const listings = lots.flatMap((lot) => listingOf(vehicle, lot) ?? []);
  return {
    inspections: listings
      .flatMap((listing) => inspections(listing, vehicle.clock))
      .sort((a, b) => b.storedAt - a.storedAt)
      .map((report) => report.record),
    vehicle_history_reports: listings.flatMap(histories),
  };
}
