import { sumOf } from '../base/config/printable.js';
import fillers from './data/fillers.json' with { type: 'json' };
import { damages, titles } from './data/market.js';
import places from './data/places.json' with { type: 'json' };
import { americanModels, carOf, koreanModels, rareModels, unusualModels } from './world/car.js';
import { activeLives } from './world/life.js';
import { hash } from './world/random.js';
import { perWorld, type World } from './world.js';

/** The requested part of the catalogue (service.md#endpoints). */
type CatalogType = 'cars' | 'motorcycles' | 'all';

const offered = [...americanModels, ...koreanModels, ...rareModels, ...unusualModels].map((model) => ({
  ...model,
  maker: model.manufacturer.id,
  motorcycle: model.vehicleType === 2,
}));

type CatalogModel = Pick<(typeof offered)[number], 'id' | 'name' | 'maker' | 'motorcycle' | 'generations'>;

/** Models that the catalogue lists without a vehicle on offer (invented names). */
const fillerModels = (maker: number, count: number, motorcycle: boolean): CatalogModel[] =>
  Array.from({ length: count }, (_, place) => {
    const id = 10_000 + maker * 1_000 + place;
    const draw = hash(maker, place, 0);
    const generations = Array.from({ length: draw % 3 }, (_, number) => {
      const from = 1985 + (draw % 25) + number * 8;
      const isBuilt = number + 1 === draw % 3 && draw % 5 === 0;
      return { id: id * 10 + number, name: 'I'.repeat(number + 1), from, to: isBuilt ? null : from + 7 };
    });
    const name = `${fillers.models[draw % fillers.models.length]} ${100 + place * 10}`;
    return { id, name, maker, motorcycle, generations };
  });

const FIRST_FILLER_MAKER = Math.max(...rareModels.map((model) => model.manufacturer.id)) + 1;

/** Manufacturers without a vehicle (invented names): of trailers, boats, buses and such, some of motorcycles. */
const fillerMakers = fillers.heads.flatMap((head, row) =>
  fillers.tails.map((tail, column) => {
    const place = row * fillers.tails.length + column;
    const motorcycles = tail === 'Works' && row % 3 === 0;
    const name = `${head} ${motorcycles ? 'Cycles' : tail}`;
    return { id: FIRST_FILLER_MAKER + 1 + place, name, others: 1 + ((place * 7) % 17), motorcycles };
  }),
);

const makers = [...new Map(offered.map(({ manufacturer }) => [manufacturer.id, manufacturer])).values()].map(
  ({ id, name }) => {
    const motorcycles = offered.every((model) => model.maker !== id || model.motorcycle);
    return { id, name, others: 4 + (id % 23), motorcycles };
  },
);

/** All manufacturers, ascending by id: those of the vehicles on offer, and three times as many without a vehicle. */
const catalog = [
  ...makers,
  { id: FIRST_FILLER_MAKER, name: 'Other / Homemade', others: 620, motorcycles: false },
  ...fillerMakers,
]
  .sort((a, b) => a.id - b.id)
  .map(({ id, name, others, motorcycles }) => {
    const own = offered.filter((model) => model.maker === id);
    const models = [...own, ...fillerModels(id, others, motorcycles)].sort((a, b) => a.id - b.id);
    return { id, name, models };
  });

const modelsById = new Map(
  catalog.flatMap(({ models }) => models.map((model) => [model.id, model] as const)),
);

/** Whether a model belongs to a part of the catalogue. Everything but a motorcycle counts as a car. */
const isOfType = (model: CatalogModel, type: CatalogType): boolean =>
  type === 'all' || model.motorcycle === (type === 'motorcycles');

/** Vehicles of the feed by model and, unless the record lacks it, by generation. */
const countsOf = perWorld((world) => {
  const [models, generations] = [new Map<number, number>(), new Map<number, number>()];
  for (const life of activeLives(world)) {
    const car = carOf(world, life);
    add(models, car.model.id);
    if (!car.unknown.generation) add(generations, car.generation.id);
  }
  return { models, generations };
});

const add = (counts: Map<number, number>, id: number): void => {
  counts.set(id, (counts.get(id) ?? 0) + 1);
};

/** Records of `/manufacturers`: those that have models of the type, with the counts of that type. */
export function manufacturerRecords(world: World, type: CatalogType) {
  const counts = countsOf(world);
  return catalog.flatMap((maker) => {
    const models = maker.models.filter((model) => isOfType(model, type));
    if (models.length === 0) return [];
    return {
      id: maker.id,
      name: maker.name,
      cars_qty: sumOf(models, (model) => counts.models.get(model.id) ?? 0),
      image: `https://static.service.example/makers/${maker.id}.svg`,
      models_qty: models.length,
      cars: maker.models.some((model) => !model.motorcycle),
      motorcycles: maker.models.some((model) => model.motorcycle),
    };
  });
}

/** Records of `/models/{manufacturer_id}`; none for an unknown manufacturer. */
export function modelRecords(world: World, makerId: number, type: CatalogType) {
  const counts = countsOf(world);
  const models = catalog.find(({ id }) => id === makerId)?.models ?? [];
  const wanted = models.filter((model) => isOfType(model, type));
  return wanted.map((model) => ({
    id: model.id,
    name: model.name,
    cars_qty: counts.models.get(model.id) ?? 0,
    manufacturer_id: model.maker,
    generations_qty: model.generations.length,
  }));
}

/** Records of `/generations/{model_id}`; none for an unknown model or one of the other type. */
export function generationRecords(world: World, modelId: number, type: CatalogType) {
  const counts = countsOf(world);
  const model = modelsById.get(modelId);
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

/** States by the code of their country. Those with yards have the same ids as in lots. */
export const states = { us: places.states, ca: places.provinces } as const;

const common = ['springfield', 'franklin', 'clinton', 'salem', ' georgetown'];

/** Cities of a state, those with yards first; none for an unknown state. */
export function citiesOf(stateId: number) {
  if (![...states.us, ...states.ca].some((state) => state.id === stateId)) return [];
  const yards = [...places.american, ...places.canadian].filter((place) => place.state?.id === stateId);
  const others = common.map((name, place) => ({ id: 5000 + stateId * 10 + place, name }));
  return [...yards.map((place) => place.city), ...others];
}

const DAMAGES = 2_300;
/** From about here on the service lists codes instead of names (service.md#other-lists). */
const FIRST_JUNK = 100;

const planted = new Map(damages.map((damage) => [damage.id, damage.name]));
const { parts, kinds, documents } = fillers;
const letters = 'abcdefghijklmnopqrstuvwxyz';

const partNamed = (id: number): string => `${parts[id % parts.length]} ${kinds[id % kinds.length]}`;

const pair = (value: number): string => {
  const text = `${letters[Math.floor(value / 26) % 26]}${letters[value % 26]}`;
  return text[0]?.toUpperCase() + text.slice(1);
};

const junk = (id: number): string =>
  id < FIRST_JUNK + 676 ? pair(id * 7) : `${pair(id * 11)}${id % 3 === 0 ? '|' : '/'}${pair(id * 5)}`;

/** Rows of `/usa/damages`: the damages of lots, other names, and codes that mean nothing. */
export const damageRows = Array.from({ length: DAMAGES }, (_, place) => {
  const id = place + 1;
  return { id, name: planted.get(id) ?? (id < FIRST_JUNK ? partNamed(id) : junk(id)) };
});

const stateTitles = states.us.flatMap((state, row) =>
  documents.map((document, column) => ({
    id: 2000 + row * documents.length + column,
    code: column === 2 ? null : state.code,
    name: `${state.code.toUpperCase()} - ${document}`,
  })),
);

/** Rows of `/usa/titles`: titles and detailed titles of lots, and documents of every state. */
export const titleRows = [
  ...titles.map(({ id, code, name }) => ({ id, code, name })),
  ...titles.map(({ detailed }) => detailed),
  ...stateTitles,
].sort((a, b) => a.id - b.id);
