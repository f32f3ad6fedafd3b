import type { Car } from '../world/car.js';
import { type ReportFacts, reportFacts } from '../world/facts.js';
import { HOUR, type Instant } from '../world/instants.js';
import type { Life } from '../world/life.js';
import type { LotLife } from '../world/lot-life.js';
import { idOf, type Population } from '../world/population.js';
import { type Rng, Salt, stream } from '../world/random.js';
import { historyReport } from './history-report.js';
import { inspectionReport } from './inspection.js';
import type { ReportPlace } from './report-head.js';

/** A vehicle at a clock. */
export interface Vehicle {
  readonly world: Population;
  readonly car: Car;
  readonly life: Life;
  readonly clock: Instant;
}

/** When the inspection reports of a listing were stored, the newest first, up to a clock. */
function inspectionTimes(life: LotLife, facts: ReportFacts, clock: Instant): Instant[] {
  const second = life.secondReportAt;
  const times = second !== null && second <= clock ? [second] : [];
  const isArchived = times.length > 0 && facts.superseded;
  return facts.inspected && !isArchived ? [...times, life.start] : times;
}

/** Removes Korean texts from the reports of sources 1 and 3, which have only keys and names. */
function worded<T>(domain: number, value: T): T {
  if (domain === 12) return value;
  return JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === 'string' && /[가-힣]/.test(member) ? null : member,
  );
}

/** The reports of a listing, each with the time when the service stored it. */
function reportsOf({ world, car, life: { index }, clock }: Vehicle, life: LotLife, facts: ReportFacts) {
  const placeOf = (place: number, storedAt: Instant, hoursBefore: number): ReportPlace => {
    const [at, zone] = [storedAt - hoursBefore * HOUR, life.domain === 12 ? 9 : -5];
    return { car, vehicleId: idOf(world, index), life, past: facts.past, place, at, storedAt, zone };
  };
  const rngOf = (place: number, salt: number): Rng =>
    stream(world.seed, life.index, Salt.report + 10 * life.place + 500 * place + salt);
  return {
    inspections: inspectionTimes(life, facts, clock).map((storedAt) => {
      const place = storedAt === life.start ? 0 : 1;
      const [rng, rareRng] = [rngOf(place, 10_000), rngOf(place, 30_000)];
      const record = inspectionReport(rng, rareRng, placeOf(place, storedAt, 3));
      return { storedAt, record: worded(life.domain, record) };
    }),
    // Two history reports come from two sources; they are not versions of one.
    histories: facts.histories.map((place) =>
      worded(life.domain, historyReport(rngOf(place, 20_000), placeOf(place, life.start, 2 + place))),
    ),
  };
}

const factsOf = ({ world, car, life }: Vehicle, lot: LotLife) => reportFacts(world, car, lot, life.birth);

/** Members that the service added later (service.md), without the reports. They look at lots that are not archived. */
export function flagMembers(vehicle: Vehicle, open: readonly LotLife[]) {
  const facts = open.map((lot) => factsOf(vehicle, lot));
  const listings = facts.map((listing) => ({
    has_history_reports: listing !== undefined && listing.histories.length > 0,
    is_manufacturer_certified: listing?.certified ?? false,
  }));
  const isInspected = (lot: LotLife, place: number): boolean => {
    const listing = facts[place];
    return listing !== undefined && inspectionTimes(lot, listing, vehicle.clock).length > 0;
  };
  return {
    doors: vehicle.car.doors,
    seats: vehicle.car.seats,
    has_inspections: open.some(isInspected),
    has_history_reports: listings.some((listing) => listing.has_history_reports),
    listings,
  };
}

/** The reports of the given lots, inspections by newest first (reports.md). */
export function reportMembers(vehicle: Vehicle, lots: readonly LotLife[]) {
  const reports = lots.flatMap((lot) => {
    const facts = factsOf(vehicle, lot);
    return facts === undefined ? [] : reportsOf(vehicle, lot, facts);
  });
  return {
    inspections: reports
      .flatMap(({ inspections }) => inspections)
      .sort((a, b) => b.storedAt - a.storedAt)
      .map(({ record }) => record),
    vehicle_history_reports: reports.flatMap(({ histories }) => histories),
  };
}
