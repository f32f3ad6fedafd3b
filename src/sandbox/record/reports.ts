import type { Car } from '../world/car.js';
import { HOUR, type Instant } from '../world/instants.js';
import type { ListingFacts } from '../world/listing-facts.js';
import type { LotLife } from '../world/lot-life.js';
import type { Population } from '../world/population.js';
import { Salt, stream } from '../world/random.js';
import { historyReport } from './history-report.js';
import { inspectionReport } from './inspection.js';

/** A listing whose reports are wanted. */
export interface ReportedListing {
  readonly world: Population;
  readonly car: Car;
  readonly vehicleId: number;
  readonly life: LotLife;
  readonly facts: ListingFacts;
}

/** When the inspection reports of a listing were stored, the newest first, as far as a clock has seen them. */
export function inspectionTimes({ life, facts }: ReportedListing, clock: Instant): Instant[] {
  const second = life.secondReportAt;
  const times = second !== null && second <= clock ? [second] : [];
  return facts.inspected ? [...times, life.start] : times;
}

/** A report and when the service stored it. */
export interface StoredReport {
  readonly storedAt: Instant;
  readonly record: object;
}

/** Inspection reports of a listing, the newest first. */
export const inspections = (listing: ReportedListing, clock: Instant): StoredReport[] =>
  inspectionTimes(listing, clock).map((storedAt) => {
    const place = storedAt === listing.life.start ? 0 : 1;
    const { world, life, facts } = listing;
    const rng = stream(world.seed, life.index, Salt.report + 10 * life.place + 500 * place + 10_000);
    const report = { ...listing, place, at: storedAt - 3 * HOUR, storedAt };
    return { storedAt, record: inspectionReport(rng, report, facts.past) };
  });

/** History reports of a listing; two are two sources, not two states of one. */
export const histories = (listing: ReportedListing): object[] =>
  Array.from({ length: listing.facts.histories }, (_, place) => {
    const { world, life, facts } = listing;
    const rng = stream(world.seed, life.index, Salt.report + 10 * life.place + 500 * place + 20_000);
    const report = { ...listing, place, at: life.start - (2 + place) * HOUR, storedAt: life.start };
    return historyReport(rng, report, facts.past);
  });

/** Whether a listing has an inspection report or a history report at a clock. */
export const reportFlags = (listing: ReportedListing, clock: Instant) => ({
  inspected: inspectionTimes(listing, clock).length > 0,
  reported: listing.facts.histories > 0,
});
