import { ageAt, expectedPrice, market, type PriceFacts } from '../../src/sandbox/data/market.js';
import { richLaw } from '../../src/sandbox/data/rich-law.js';
import { noiseAt } from '../../src/sandbox/data/uneven.js';
import { carOf } from '../../src/sandbox/world/car.js';
import { accepted, auctionFacts } from '../../src/sandbox/world/facts.js';
import type { Instant } from '../../src/sandbox/world/instants.js';
import { activeLives, type Life, seenLots } from '../../src/sandbox/world/life.js';
import { type LotLife, stateOf } from '../../src/sandbox/world/lot-life.js';
import { idOf, lotId } from '../../src/sandbox/world/population.js';
import type { World } from '../../src/sandbox/world.js';

export type PlantedLot = ReturnType<typeof plantedLot>;

/** The law of a price: its median in USD, the standard deviation of its logarithm, and the share of wider noise. */
export type PriceLaw = ReturnType<typeof lawAt>;

function lawAt({ law, uneven }: World, facts: PriceFacts, accepted: number, at: Instant) {
  const expected = expectedPrice(facts, at);
  const deviation = noiseAt(uneven, market.noise, expected, ageAt(facts.year, at));
  return { expected, deviation, accepted, tail: law === 'rich' ? richLaw.tail : { share: 0, width: 1 } };
}

function plantedLot(world: World, life: Life, lot: LotLife) {
  const car = carOf(world, life);
  const facts = auctionFacts(world, car, lot);
  return {
    vehicleId: idOf(world, life.index),
    lotId: lotId(lot),
    modelId: car.model.id,
    generationId: car.generation.id,
    facts: facts.price,
    // What the lot can be bought for, USD; 0 or null if it cannot.
    buyNow: facts.buyNow,
    // What an auction of the lot brings at an instant, if it sells: `accepted` is the least part of the median that does.
    priceAt: (at: Date) => lawAt(world, facts.price, accepted(world, lot), at.getTime()),
    // False if the service never learned the price.
    priced: !facts.unpriced,
    attempts: stateOf(lot, world.clock.getTime()).done.map((attempt, place) => ({
      saleAt: new Date(attempt.saleAt),
      sold: facts.attempts[place]?.isSold ?? false,
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
