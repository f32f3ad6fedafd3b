import { fillerMakers } from '../data/filler-makers.js';
import { americanModels, koreanModels, type ModelRow } from '../data/models.js';
import { rareModels, unusualModels } from '../data/rare-models.js';
import { fillerModels } from './filler-models.js';

/** A generation of the catalogue. */
interface CatalogGeneration {
  readonly id: number;
  readonly name: string;
  readonly from: number;
  readonly to: number | null;
}

/** A model of the catalogue. */
export interface CatalogModel {
  readonly id: number;
  readonly name: string;
  readonly maker: number;
  readonly motorcycle: boolean;
  readonly generations: readonly CatalogGeneration[];
}

/** A manufacturer of the catalogue with its models. */
export interface CatalogMaker {
  readonly id: number;
  readonly name: string;
  readonly models: readonly CatalogModel[];
}

/** The part of the catalogue that is wanted (service.md, enumerations). */
export type CatalogType = 'cars' | 'motorcycles' | 'all';

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
export const catalog: ReadonlyMap<number, CatalogMaker> = new Map(
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
export const catalogModels: ReadonlyMap<number, CatalogModel> = new Map(
  [...catalog.values()].flatMap((maker) => maker.models.map((model) => [model.id, model] as const)),
);

/** Whether a model belongs to a part of the catalogue; all that is no motorcycle counts as a car. */
export const isOfType = (model: CatalogModel, type: CatalogType): boolean =>
  type === 'all' || model.motorcycle === (type === 'motorcycles');
