import { expectedPrice } from '../../src/sandbox/data/market.js';
import { carOf } from '../../src/sandbox/world/car.js';
import { auctionFacts } from '../../src/sandbox/world/facts.js';
import { activeLives, type Life, seenLots } from '../../src/sandbox/world/life.js';
import { type LotLife, stateOf } from '../../src/sandbox/world/lot-life.js';
import { idOf, lotId } from '../../src/sandbox/world/population.js';
import type { World } from '../../src/sandbox/world.js';

export type PlantedLot = ReturnType<typeof plantedLot>;

function plantedLot(world: World, life: Life, lot: LotLife) {
  const car = carOf(world, life);
  const facts = auctionFacts(world, car, lot);
  return {
    vehicleId: idOf(world, life.index),
    lotId: lotId(lot),
    modelId: car.model.id,
    generationId: car.generation.id,
    facts: facts.price,
    // False if the service never learned the price.
    priced: !facts.unpriced,
    attempts: stateOf(lot, world.clock.getTime()).done.map((attempt, place) => ({
      saleAt: new Date(attempt.saleAt),
      sold: attempt.sold,
      // The highest bid in USD. For a sold attempt, this is the price.
      bid: facts.attempts[place]?.bid ?? 0,
      // Whether it was sold at its Buy Now price, which depends on the market only through its markup.
      isBoughtNow: facts.attempts[place]?.isBoughtNow ?? false,
      // The median price of the planted market at the auction, USD.
      expected: expectedPrice(facts.price, attempt.saleAt),
    })),
  };
}

/** The planted facts behind the prices of a world, lot by lot, ascending by vehicle. */
export function* plantedLots(world: World): Generator<PlantedLot> {
  for (const life of activeLives(world)) {
    const lots = seenLots(world, life).filter((lot) => lot.domain !== 12);
    yield* lots.map((lot) => plantedLot(world, life, lot));
  }
}
