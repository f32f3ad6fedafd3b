import { idAndName, named } from '../data/wording.js';
import wording from '../data/wording.json' with { type: 'json' };
import { type Car, carOf } from '../world/car.js';
import { auctionFacts, listingFacts, reportedPast, reportFacts } from '../world/facts.js';
import { HOUR, type Instant, micros } from '../world/instants.js';
import { type Life, seenLots } from '../world/life.js';
import { type LotLife, reached, stateOf } from '../world/lot-life.js';
import { idOf, type Moment } from '../world/population.js';
import { type Rng, Salt, stream } from '../world/random.js';
import { historyReport } from './history-report.js';
import { inspectionReport } from './inspection.js';
import { auctionLot, listingLot } from './lot.js';
import type { ReportPlace } from './report-head.js';

export interface RecordForm {
  /** Adds `prices` to each lot. Default false. */
  readonly withPrices?: boolean | undefined;
  /**
   * `feed`: as in `/cars`, where older records lack the later members. `detail`: with all members and a mark on every
   * archived lot. `compact`: the same without reports, as in `/search`.
   */
  readonly shape: 'feed' | 'detail' | 'compact';
  /** The only lot whose reports are wanted. Default: all lots that are not archived. */
  readonly listing?: LotLife | undefined;
}

interface Vehicle {
  readonly world: Moment;
  readonly car: Car;
  readonly life: Life;
}

/** The record of a vehicle (service.md#vehicles). */
export function vehicleRecord(world: Moment, life: Life, form: RecordForm): object {
  const car = carOf(world, life);
  const vehicle = { world, car, life };
  const seen = seenLots(world, life);
  const lots = seen.map((lot) => lotRecord(vehicle, lot, form));
  const record = { id: idOf(world, life.index), ...identity(car), lots };
  if (form.shape === 'feed' && car.shape !== 'described') return record;
  const open = seen.filter((lot) => world.now < lot.end).map((lot) => publishedOf(vehicle, lot));
  const flagged = { ...record, ...flagMembers(car, open) };
  if (form.shape === 'compact') return flagged;
  const wanted = form.listing === undefined ? open : [publishedOf(vehicle, form.listing)];
  return { ...flagged, ...reportMembers(vehicle, wanted) };
}

function lotRecord({ world, car, life: { birth } }: Vehicle, life: LotLife, form: RecordForm): object {
  const { withPrices = false, shape } = form;
  const rng = stream(world.seed, life.index, Salt.images + life.place);
  const offer = { car, life, state: stateOf(life, world.now) };
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
  const manufacturer_id = model.manufacturer.id;
  const known = { ...idAndName(generation), manufacturer_id, model_id: model.id };
  return {
    year: car.year,
    title: titleOf(car),
    vin: car.vin,
    manufacturer: model.manufacturer,
    model: { ...idAndName(model), manufacturer_id },
    generation: unknown.generation ? null : known,
    body_type: named('body_type', model.body),
    color,
    engine: unknown.engine ? null : idAndName(engine),
    transmission: named('transmission', car.automatic ? 1 : 2),
    drive_wheel: unknown.wheels ? null : named('drive_wheel', car.wheels),
    vehicle_type: named('vehicle_type', model.vehicleType),
    fuel: named('fuel', engine.fuel),
    cylinders: engine.cylinders,
  };
}

const escaped = (unit: string): string =>
  unit === '/' ? '\\/' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The text of a vehicle's record. Only source 12 escapes slashes and characters outside ASCII (samples). */
export function vehicleJson(world: Moment, life: Life, form: RecordForm): string {
  const text = JSON.stringify(vehicleRecord(world, life, form));
  return life.domain === 12 ? text.replaceAll(/\/|[^\0-\x7f]/g, escaped) : text;
}

/** The published reports of a lot. */
type Published = Readonly<ReturnType<typeof publishedOf>>;

function publishedOf({ world, car, life }: Vehicle, lot: LotLife) {
  const { inspected, superseded, histories, certified } = reportFacts(world, car, lot, life.birth);
  const second = reached(lot.secondReportAt, world.now);
  const first = inspected && !(superseded && second !== null) ? lot.start : null;
  // When the service stored the inspection reports, the newest first.
  const inspections = [second, first].filter((at) => at !== null);
  return { lot, inspections, histories, certified };
}

/** Removes Korean texts from the reports of sources 1 and 3, which have only keys and names. */
function worded<T>(domain: number, value: T): T {
  if (domain === 12) return value;
  return JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === 'string' && /[가-힣]/.test(member) ? null : member,
  );
}

/** The reports of a lot, inspections with the time when the service stored them. */
function reportsOf({ world, car, life }: Vehicle, { lot, inspections, histories }: Published) {
  const placeOf = (place: number, storedAt: Instant, hoursBefore: number): ReportPlace => {
    const [at, zone] = [storedAt - hoursBefore * HOUR, lot.domain === 12 ? 9 : -5];
    const past = reportedPast(world, car, lot, life.birth);
    return { car, vehicleId: idOf(world, life.index), life: lot, past, place, at, storedAt, zone };
  };
  const rngOf = (place: number, salt: number): Rng =>
    stream(world.seed, lot.index, Salt.report + 10 * lot.place + 500 * place + salt);
  return {
    inspections: inspections.map((storedAt) => {
      const place = storedAt === lot.start ? 0 : 1;
      const [rng, rareRng] = [rngOf(place, 10_000), rngOf(place, 30_000)];
      const record = inspectionReport(rng, rareRng, placeOf(place, storedAt, 3));
      return { storedAt, record: worded(lot.domain, record) };
    }),
    // Two history reports come from two sources; they are not versions of one.
    histories: histories.map((place) =>
      worded(lot.domain, historyReport(rngOf(place, 20_000), placeOf(place, lot.start, 2 + place))),
    ),
  };
}

/**
 * Members that the service added later (service.md#vehicles), without the reports. They look at lots that are not
 * archived.
 */
function flagMembers({ doors, seats }: Car, open: readonly Published[]) {
  const listings = open.map(({ histories, certified }) => ({
    has_history_reports: histories.length > 0,
    is_manufacturer_certified: certified,
  }));
  return {
    doors,
    seats,
    has_inspections: open.some(({ inspections }) => inspections.length > 0),
    has_history_reports: listings.some((listing) => listing.has_history_reports),
    listings,
  };
}

/** The reports of some lots, the newest inspection first (service.md#inspections). */
function reportMembers(vehicle: Vehicle, lots: readonly Published[]) {
  const reports = lots.map((lot) => reportsOf(vehicle, lot));
  return {
    inspections: reports
      .flatMap(({ inspections }) => inspections)
      .sort((a, b) => b.storedAt - a.storedAt)
      .map(({ record }) => record),
    vehicle_history_reports: reports.flatMap(({ histories }) => histories),
  };
}
