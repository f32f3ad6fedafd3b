import { americanModels, koreanModels, type ModelRow, rareModels, unusualModels } from './data/models.js';
import { perWorld } from './lookup.js';
import { carOf } from './world/car.js';
import { carLife, lifeOf } from './world/life.js';
import { indexOf } from './world/population.js';
import { hash } from './world/random.js';
import type { World } from './world.js';

/** A generation of the catalogue. */
interface CatalogGeneration {
  readonly id: number;
  readonly name: string;
  readonly from: number;
  readonly to: number | null;
}

/** A model of the catalogue. */
interface CatalogModel {
  readonly id: number;
  readonly name: string;
  readonly maker: number;
  readonly motorcycle: boolean;
  readonly generations: readonly CatalogGeneration[];
}

/** A manufacturer of the catalogue with its models. */
interface CatalogMaker {
  readonly id: number;
  readonly name: string;
  readonly models: readonly CatalogModel[];
}

/** The part of the catalogue that is wanted (service.md, enumerations). */
export type CatalogType = 'cars' | 'motorcycles' | 'all';

const FIRST_ID = 10_000;
const IDS_A_MAKER = 1_000;
const names = 'Ranger Tourer Cruiser Scout Voyager Pioneer Sprint Nomad Summit Pilot'.split(' ');

/** Models that the catalogue lists though no vehicle of them is offered (invented names). */
function fillerModels(maker: number, count: number, motorcycle: boolean): CatalogModel[] {
  return Array.from({ length: count }, (_, place) => {
    const id = FIRST_ID + maker * IDS_A_MAKER + place;
    const draw = hash(maker, place, 0);
    return {
      id,
      name: `${names[draw % names.length]} ${100 + place * 10}`,
      maker,
      motorcycle,
      generations: Array.from({ length: draw % 3 }, (_, number) => {
        const from = 1985 + (draw % 25) + number * 8;
        const last = number + 1 === draw % 3;
        return {
          id: id * 10 + number,
          name: 'I'.repeat(number + 1),
          from,
          to: last && draw % 5 === 0 ? null : from + 7,
        };
      }),
    };
  });
}

const FIRST_FILLER_MAKER = Math.max(...rareModels.map((model) => model.manufacturer.id)) + 1;

const heads =
  `Airlift Alder Anchor Badger Beacon Bluebell Boreal Cardinal Cascade Cedar Colony Comet Coyote Crescent
 Delta Eastwind Ember Falcon Forest Granite Harbor Heron Ironwood Juniper Lakeland Mesa Northway`.split(
    /\s+/,
  );
const tails = 'Coach Trailers Campers Equipment Boats Buses Carts Bodies Homes Custom Tractors Works'.split(
  ' ',
);

/** Manufacturers that no vehicle is of, with the number of their models: makers of trailers, boats, buses and such (invented names), ten of motorcycles, and one for everything else. */
const fillerMakers = [
  { id: FIRST_FILLER_MAKER, name: 'Other / Homemade', motorcycles: false, models: 620 },
  ...heads.flatMap((head, row) =>
    tails.map((tail, column) => {
      const place = row * tails.length + column;
      const motorcycles = tail === 'Works' && row % 3 === 0;
      return {
        id: FIRST_FILLER_MAKER + 1 + place,
        name: `${head} ${motorcycles ? 'Cycles' : tail}`,
        motorcycles,
        models: 1 + ((place * 7) % 17),
      };
    }),
  ),
];

const offered = (model: ModelRow): CatalogModel => ({
  id: model.id,
  name: model.name,
  maker: model.manufacturer.id,
  motorcycle: model.vehicleType === 2,
  generations: model.generations,
});

const offeredModels = [...americanModels, ...koreanModels, ...rareModels, ...unusualModels];

function makerWith(id: number, name: string, fillers: number, motorcycles: boolean): CatalogMaker {
  const own = offeredModels.filter((model) => model.manufacturer.id === id).map(offered);
  const models = [...own, ...fillerModels(id, fillers, motorcycles)];
  return { id, name, models: models.sort((a, b) => a.id - b.id) };
}

const offeredMakers = [
  ...new Map(offeredModels.map(({ manufacturer }) => [manufacturer.id, manufacturer])).values(),
];

/** All manufacturers by id: those of the vehicles on offer, and three times as many of which there is none. */
const catalog: ReadonlyMap<number, CatalogMaker> = new Map(
  [
    ...offeredMakers.map(({ id, name }) => {
      const onlyMotorcycles = offeredModels.every(
        (row) => row.manufacturer.id !== id || row.vehicleType === 2,
      );
      return makerWith(id, name, 4 + (id % 23), onlyMotorcycles);
    }),
    ...fillerMakers.map(({ id, name, models, motorcycles }) => makerWith(id, name, models, motorcycles)),
  ]
    .sort((a, b) => a.id - b.id)
    .map((maker) => [maker.id, maker]),
);

/** Models of the catalogue by id. */
const catalogModels: ReadonlyMap<number, CatalogModel> = new Map(
  [...catalog.values()].flatMap((maker) => maker.models.map((model) => [model.id, model] as const)),
);

/** Whether a model belongs to a part of the catalogue; all that is no motorcycle counts as a car. */
const isOfType = (model: CatalogModel, type: CatalogType): boolean =>
  type === 'all' || model.motorcycle === (type === 'motorcycles');

/** How many vehicles of the feed there are of each model and of each generation, by id. */
export interface CatalogCounts {
  readonly models: ReadonlyMap<number, number>;
  /** A vehicle whose record names no generation counts for none. */
  readonly generations: ReadonlyMap<number, number>;
}

/** Counts the feed of a world. */
const countsOf = perWorld((world): CatalogCounts => {
  const models = new Map<number, number>();
  const generations = new Map<number, number>();
  for (const id of world.activeIds()) {
    const car = carOf(world, carLife(world, lifeOf(world, indexOf(world, id) ?? 0)));
    add(models, car.model.id);
    if (!car.unknown.generation) add(generations, car.generation.id);
  }
  return { models, generations };
});

const add = (counts: Map<number, number>, id: number): void => {
  counts.set(id, (counts.get(id) ?? 0) + 1);
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Records of `/manufacturers`: those with models of the type, with the counts of that type. */
export function manufacturerRecords(world: World, type: CatalogType) {
  const counts = countsOf(world);
  return [...catalog.values()].flatMap((maker) => {
    const models = maker.models.filter((model) => isOfType(model, type));
    if (models.length === 0) return [];
    return {
      id: maker.id,
      name: maker.name,
      cars_qty: sum(models.map((model) => counts.models.get(model.id) ?? 0)),
      image: `https://static.service.example/makers/${maker.id}.svg`,
      models_qty: models.length,
      cars: maker.models.some((model) => !model.motorcycle),
      motorcycles: maker.models.some((model) => model.motorcycle),
    };
  });
}

/** Records of `/models/{manufacturer_id}`; none for a manufacturer that is none. */
export function modelRecords(world: World, makerId: number, type: CatalogType) {
  const counts = countsOf(world);
  const models = catalog.get(makerId)?.models.filter((model) => isOfType(model, type)) ?? [];
  return models.map((model) => ({
    id: model.id,
    name: model.name,
    cars_qty: counts.models.get(model.id) ?? 0,
    manufacturer_id: model.maker,
    generations_qty: model.generations.length,
  }));
}

/** Records of `/generations/{model_id}`; none for a model that is none or of the other type. */
export function generationRecords(world: World, modelId: number, type: CatalogType) {
  const counts = countsOf(world);
  const model = catalogModels.get(modelId);
  if (model === undefined || !isOfType(model, type)) return [];
  return model.generations.map((generation) => ({
    id: generation.id,
    name: generation.name,
    cars_qty: counts.generations.get(generation.id) ?? 0,
    from_year: generation.from,
    to_year: generation.to,
    manufacturer_id: model.maker,
    model_id: model.id,
  }));
}
