import type { World } from '../world.js';
import { type CatalogType, catalog, catalogModels, isOfType } from './catalog.js';
import { countsOf } from './counts.js';

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
