import type { Car } from '../world/car.js';
import { HOUR, type Instant } from '../world/instants.js';
import type { Life, SeenLot } from '../world/life.js';
import { type ReportFacts, reportFacts } from '../world/listing-facts.js';
import type { LotLife } from '../world/lot-life.js';
import { idOf, type Population } from '../world/population.js';
import { Salt, stream } from '../world/random.js';
import { historyReport } from './history-report.js';
import { inspectionReport } from './inspection.js';

/** A listing whose reports are wanted. */
interface ReportedListing {
  readonly world: Population;
  readonly car: Car;
  readonly vehicleId: number;
  readonly life: LotLife;
  readonly facts: ReportFacts;
}

/** When the inspection reports of a listing were stored, the newest first, up to a clock. */
function inspectionTimes({ life, facts }: ReportedListing, clock: Instant): Instant[] {
  const second = life.secondReportAt;
  const times = second !== null && second <= clock ? [second] : [];
  const isArchived = times.length > 0 && facts.superseded;
  return facts.inspected && !isArchived ? [...times, life.start] : times;
}

/** Hours that local time is ahead of UTC where the reports of a source are made. */
const zoneOf = (domain: number): number => (domain === 12 ? 9 : -5);

/** Removes Korean texts from the reports of sources 1 and 3, which have only keys and names. */
function worded<T>(domain: number, value: T): T {
  if (domain === 12) return value;
  return JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === 'string' && /[가-힣]/.test(member) ? null : member,
  );
}

/** A report and when the service stored it. */
interface StoredReport {
  readonly storedAt: Instant;
  readonly record: object;
}

/** Inspection reports of a listing, the newest first. */
const inspections = (listing: ReportedListing, clock: Instant): StoredReport[] =>
  inspectionTimes(listing, clock).map((storedAt) => {
    const place = storedAt === listing.life.start ? 0 : 1;
    const { world, life, facts } = listing;
    const rng = stream(world.seed, life.index, Salt.report + 10 * life.place + 500 * place + 10_000);
    const rareRng = stream(world.seed, life.index, Salt.report + 10 * life.place + 500 * place + 30_000);
    const report = { ...listing, place, at: storedAt - 3 * HOUR, storedAt, zone: zoneOf(life.domain) };
    return { storedAt, record: worded(life.domain, inspectionReport(rng, rareRng, report, facts.past)) };
  });

/** History reports of a listing. Two reports come from two sources; they are not versions of one. */
const histories = (listing: ReportedListing): object[] =>
  listing.facts.histories.map((place) => {
    const { world, life, facts } = listing;
    const rng = stream(world.seed, life.index, Salt.report + 10 * life.place + 500 * place + 20_000);
    const at = life.start - (2 + place) * HOUR;
    const report = { ...listing, place, at, storedAt: life.start, zone: zoneOf(life.domain) };
    return worded(life.domain, historyReport(rng, report, facts.past));
  });

/** A vehicle whose later members are wanted. */
interface AddedTo {
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

/** Members that the service added later (service.md), without the reports. They look at lots that are not archived. */
export function flagMembers(vehicle: AddedTo) {
  const open = vehicle.seen.filter((lot) => !lot.archived).map((lot) => listingOf(vehicle, lot.life));
  const listings = open.map((listing) => ({
    has_history_reports: listing !== undefined && listing.facts.histories.length > 0,
    is_manufacturer_certified: listing?.facts.certified ?? false,
  }));
  return {
    doors: vehicle.car.doors,
    seats: vehicle.car.seats,
    has_inspections: open.some((listing) => listing && inspectionTimes(listing, vehicle.clock).length > 0),
    has_history_reports: listings.some((listing) => listing.has_history_reports),
    listings,
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
