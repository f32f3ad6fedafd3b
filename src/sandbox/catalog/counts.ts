import { perWorld } from '../lookup/per-world.js';
import { carOf } from '../world/car.js';
import { carLife, lifeOf } from '../world/life.js';
import { indexOf, population } from '../world/population.js';

/** How many vehicles of the feed there are of each model and of each generation, by id. */
export interface CatalogCounts {
  readonly models: ReadonlyMap<number, number>;
  /** A vehicle whose record names no generation counts for none. */
  readonly generations: ReadonlyMap<number, number>;
}

/** Counts the feed of a world. */
export const countsOf = perWorld((world): CatalogCounts => {
  const base = population(world.seed, world.vehicles);
  const models = new Map<number, number>();
  const generations = new Map<number, number>();
  for (const id of world.activeIds()) {
    const car = carOf(base, carLife(base, lifeOf(base, indexOf(base, id) ?? 0)));
    add(models, car.model.id);
    if (!car.unknown.generation) add(generations, car.generation.id);
  }
  return { models, generations };
});

const add = (counts: Map<number, number>, id: number): void => {
  counts.set(id, (counts.get(id) ?? 0) + 1);
};
