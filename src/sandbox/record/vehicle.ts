import { named } from '../data/wording.js';
import wording from '../data/wording.json' with { type: 'json' };
import { type Car, carOf } from '../world/car.js';
import { auctionFacts, listingFacts, type ReportFacts, reportFacts } from '../world/facts.js';
import { HOUR, type Instant, micros } from '../world/instants.js';
import { type Life, seenLots } from '../world/life.js';
import { type LotLife, stateOf } from '../world/lot-life.js';
import { idOf, type Population } from '../world/population.js';
import { type Rng, Salt, stream } from '../world/random.js';
import { historyReport } from './history-report.js';
import { inspectionReport } from './inspection.js';
import { auctionLot, listingLot } from './lot.js';
import type { ReportPlace } from './report-head.js';

export interface RecordForm {
  /** Adds `prices` to each lot. Default false. */
  readonly withPrices?: boolean | undefined;
  /**
   * `feed`: as `/cars` gives it, where older records lack the later members; `detail`: with all of them and the
   * archive marker on every archived lot; `compact`: the same without reports, as `/search` gives it.
   */
  readonly shape: 'feed' | 'detail' | 'compact';
  /** The only lot whose reports are wanted; without it, all lots that are not archived. */
  readonly listing?: LotLife | undefined;
}

/** A vehicle at a clock. */
interface Vehicle {
  readonly world: Population;
  readonly car: Car;
  readonly life: Life;
  readonly clock: Instant;
}

/** The record of a vehicle at a clock (service.md). */
export function vehicleRecord(world: Population, life: Life, clock: Instant, form: RecordForm): object {
  const car = carOf(world, life);
  const vehicle = { world, car, life, clock };
  const seen = seenLots(world, life, clock);
  const lots = seen.map((lot) => lotRecord(vehicle, lot, form));
  const record = { id: idOf(world, life.index), ...identity(car), lots };
  if (form.shape === 'feed' && car.shape !== 'described') return record;
  const open = seen.filter((lot) => clock < lot.end);
  const flagged = { ...record, ...flagMembers(vehicle, open) };
  if (form.shape === 'compact') return flagged;
  return { ...flagged, ...reportMembers(vehicle, form.listing === undefined ? open : [form.listing]) };
}

function lotRecord({ world, car, life: { birth }, clock }: Vehicle, life: LotLife, form: RecordForm): object {
  const { withPrices = false, shape } = form;
  const rng = stream(world.seed, life.index, Salt.images + life.place);
  const offer = { car, life, state: stateOf(life, clock) };
  const record =
    life.domain === 12
      ? listingLot(rng, { ...offer, facts: listingFacts(world, car, life, birth) }, withPrices)
      : auctionLot(rng, { ...offer, facts: auctionFacts(world, car, life) }, withPrices);
  const marked = shape !== 'feed' && offer.state.archived;
  return marked ? { ...record, archived: true, archived_at: micros(life.end) } : record;
}

/** The title of a vehicle; a few look like a formula. */
function titleOf({ year, model, trim, quirk }: Car): string {
  const title = `${year} ${model.manufacturer.name} ${model.name} ${trim}`;
  return quirk === 'formula title' ? (wording.formulaNames[1] ?? title) : title;
}

function identity(car: Car) {
  const { model, generation, unknown, engine, color } = car;
  const of = { manufacturer_id: model.manufacturer.id, model_id: model.id };
  const known = { id: generation.id, name: generation.name, ...of };
  return {
    year: car.year,
    title: titleOf(car),
    vin: car.vin,
    manufacturer: model.manufacturer,
    model: { id: model.id, name: model.name, manufacturer_id: model.manufacturer.id },
    generation: unknown.generation ? null : known,
    body_type: named('body_type', model.body),
    color,
    engine: unknown.engine ? null : { id: engine.id, name: engine.name },
    transmission: named('transmission', car.automatic ? 1 : 2),
    drive_wheel: unknown.wheels ? null : named('drive_wheel', car.wheels),
    vehicle_type: named('vehicle_type', model.vehicleType),
    fuel: named('fuel', engine.fuel),
    cylinders: engine.cylinders,
  };
}

const escaped = (unit: string): string =>
  unit === '/' ? '\\/' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The text of a vehicle's record. Only source 12 escapes slashes and what is not ASCII (samples). */
export function vehicleJson(world: Population, life: Life, clock: Instant, form: RecordForm): string {
  const text = JSON.stringify(vehicleRecord(world, life, clock, form));
  return life.domain === 12 ? text.replaceAll(/\/|[^\0-\x7f]/g, escaped) : text;
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
function flagMembers(vehicle: Vehicle, open: readonly LotLife[]) {
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
function reportMembers(vehicle: Vehicle, lots: readonly LotLife[]) {
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
