import document from '../data/models.json' with { type: 'json' };
import quirkCounts from '../data/quirks.json' with { type: 'json' };
import { colors, type Named, rareColors } from '../data/wording.js';
import { DAY } from './instants.js';
import { carLife, type Life, lifeOfId } from './life.js';
import { idOf, type Population } from './population.js';
import { between, byWeight, chance, hash, normal, pick, type Rng, Salt, stream, unit } from './random.js';
import { vinOf } from './vin.js';

/** A generation of a model; `to` is the last model year, null while it is built. */
interface GenerationRow extends Named {
  readonly from: number;
  readonly to: number | null;
}

/** A model as `models.json` has it. Written out, since declarations of the package cannot read JSON. */
interface Written extends Named {
  readonly manufacturer: Named;
  readonly newPrice: number;
  readonly body: number;
  readonly vehicleType: number;
  readonly weight: number;
  readonly generations: readonly GenerationRow[];
  /** Names of its engines. */
  readonly engines: readonly string[];
}

/** Engines by their name as the sources write it, with the id of the fuel. */
const engines: Readonly<Record<string, { id: number; cylinders: number | null; fuel: number }>> =
  document.engines;

/**
 * Models of the planted market. `newPrice`, in USD, is the start of every fair value; `weight` is the share among the
 * vehicles of its market, relative to the others; the oldest generation stands first.
 */
const withEngines = (rows: readonly Written[]) =>
  rows.map((row) => ({
    ...row,
    engines: row.engines.map((name) => ({ id: 0, cylinders: null, fuel: 0, ...engines[name], name })),
  }));

/** A model of the planted market. */
type ModelRow = Readonly<ReturnType<typeof withEngines>[number]>;

/** Models on sources 1 and 3. */
export const americanModels = withEngines(document.american);
/** Models on source 12. */
export const koreanModels = withEngines(document.korean);
/** Models of sources 1 and 3 that are all about equally rare. */
export const rareModels = withEngines(document.rare);
/** Boats, buses, hearses and the like, so that every vehicle type, body and fuel of the service is on offer. */
export const unusualModels = withEngines(document.unusual);

/** One vehicle of sources 1 and 3 in this many is of a rare model. */
const RARE = 40;
/** One vehicle in this many is an unusual one, if it is of source 1 or 3. */
const UNUSUAL = 33;

/**
 * A rare oddity of a vehicle (service.md#values). `quirks.json` says on how many of `QUIRK_CYCLE` consecutive vehicles
 * each falls, so that a world of a few thousand holds all of them.
 */
type Quirk = keyof typeof quirkCounts;

const quirks = Object.entries(quirkCounts).flatMap(([quirk, count]) =>
  Array<Quirk>(count).fill(quirk as Quirk),
);

const QUIRK_CYCLE = 300;

/** The oddity of the vehicle of an index; most vehicles have none. */
function quirkOf(world: Population, index: number): Quirk | undefined {
  const slot = (index + (hash(world.seed, 1, Salt.birth) % QUIRK_CYCLE)) % QUIRK_CYCLE;
  // Spread over the cycle, so that neighbours are not all odd.
  return slot % 12 === 0 ? quirks[slot / 12] : undefined;
}

/** The car itself, independent of its lots. */
export type Car = Readonly<ReturnType<typeof carOf>>;

const american = byWeight(americanModels, (model) => model.weight);
const korean = byWeight(koreanModels, (model) => model.weight);
const trims = ['SE', 'Limited', 'Sport', 'Premium', 'LX ', 'xDrive', 'S', 'Base'] as const;
const fakeVins = ['00000000000000000', 'NOVIN', '11111111111111111', 'HLL0000000000'] as const;
const MEAN_KM_A_YEAR = 19_000;

/** The car of a vehicle, or of the vehicle that it is merged into, computed only from the seed and an index. */
export function carOf(world: Population, vehicle: Life) {
  const life = carLife(world, vehicle);
  const rng = stream(world.seed, life.index, Salt.car);
  const usual = pick(rng, life.domain === 12 ? korean : american);
  const model = (life.domain === 12 ? undefined : oddModel(world, life.index)) ?? usual;
  const born = new Date(life.birth).getUTCFullYear();
  const age = Math.min(17, Math.floor(-Math.log(1 - unit(rng)) * 5.5));
  const generation = generationOf(model, born - age);
  const year = Math.min(generation.to ?? born, Math.max(generation.from, born - age));
  const years = Math.max(0.3, (life.birth - Date.UTC(year, 0, 1)) / (365.25 * DAY));
  const quirk = quirkOf(world, life.index);
  const shape = shapeOf(rng, life.domain);
  const engine = pick(rng, model.engines);
  return {
    index: life.index,
    quirk,
    shape,
    model,
    generation,
    year,
    engine,
    vin: seenVin(world, quirk, { index: life.index, domain: life.domain, model, engine, year }),
    color: rareColor(world, life.index, pick(rng, colors)),
    automatic: chance(rng, 0.94),
    wheels: chance(rng, 0.5) ? 2 : chance(rng, 0.6) ? 3 : 1,
    doors: model.vehicleType === 2 ? 0 : model.body === 3 || model.vehicleType === 4 ? 2 : 4,
    seats: model.body === 7 ? between(rng, 7, 11) : 5,
    // Kilometres when the vehicle appears.
    km: Math.round(years * MEAN_KM_A_YEAR * Math.exp(0.38 * normal(rng) - 0.07)),
    trim: pick(rng, trims),
    // Members that are null in the record.
    unknown: { generation: chance(rng, 0.05), engine: chance(rng, 0.04), wheels: chance(rng, 0.12) },
  };
}

/**
 * The model of a vehicle of source 1 or 3 if it is an unusual or rare one. Each unusual model falls on one vehicle in a
 * fixed number of consecutive vehicles. Rare ones have a draw of their own, so that all other vehicles keep theirs.
 */
function oddModel(world: Population, index: number): ModelRow | undefined {
  const cycle = UNUSUAL * unusualModels.length;
  const slot = (index + (hash(world.seed, 2, Salt.rare) % cycle)) % cycle;
  const draw = hash(world.seed, index, Salt.rare);
  if (slot % UNUSUAL === 0) return unusualModels[slot / UNUSUAL];
  return draw % RARE === 0 ? rareModels[Math.floor(draw / RARE) % rareModels.length] : undefined;
}

/** One vehicle in 20 has a rare colour. It has a draw of its own, so that all other vehicles keep theirs. */
function rareColor(world: Population, index: number, usual: Named): Named {
  const draw = hash(world.seed, index, Salt.color);
  return draw % 20 === 0 ? (rareColors[Math.floor(draw / 20) % rareColors.length] ?? usual) : usual;
}

/** How complete the record of a vehicle is. */
function shapeOf(rng: Rng, domain: number) {
  const draw = unit(rng);
  if (domain === 12) return draw < 0.85 ? 'described' : 'observed';
  if (draw < 0.04) return 'abridged';
  return draw < 0.5 ? 'described' : 'observed';
}

function generationOf(model: ModelRow, year: number): GenerationRow {
  const fitting = model.generations.find((row) => row.from <= year && year <= (row.to ?? year));
  const [first] = model.generations;
  const last = model.generations.at(-1);
  if (first === undefined || last === undefined) throw new RangeError(`${model.name} has no generation`);
  return fitting ?? (year < first.from ? first : last);
}

/** The VIN in the record. A shared VIN is the VIN of the previous vehicle. */
function seenVin(
  world: Population,
  quirk: Quirk | undefined,
  car: Parameters<typeof vinOf>[1],
): string | null {
  if (quirk === 'missing vin') return null;
  if (quirk === 'empty vin') return '';
  if (quirk === 'fake vin') return pick(stream(world.seed, car.index, Salt.vin), fakeVins);
  const before = quirk === 'shared vin' ? lifeOfId(world, idOf(world, car.index - 1)) : undefined;
  return before === undefined ? vinOf(world, car) : carOf(world, before).vin;
}
