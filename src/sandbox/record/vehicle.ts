import { named } from '../data/wording.js';
import wording from '../data/wording.json' with { type: 'json' };
import { type Car, carOf } from '../world/car.js';
import { auctionFacts, listingFacts } from '../world/facts.js';
import { type Instant, micros } from '../world/instants.js';
import { type Life, seenLots } from '../world/life.js';
import { type LotLife, stateOf } from '../world/lot-life.js';
import { idOf, type Population } from '../world/population.js';
import { Salt, stream } from '../world/random.js';
import { auctionLot, listingLot } from './lot.js';
import { flagMembers, reportMembers, type Vehicle } from './reports.js';

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
