import { expectedPrice, type PriceFacts } from './data/market.js';
import { auctionFacts } from './world/auction-facts.js';
import { carOf } from './world/car.js';
import { carLife, isActive, livesAt, seenLots } from './world/life.js';
import { stateOf } from './world/lot-life.js';
import { idOf, lotId } from './world/population.js';
import type { World } from './world.js';

/** An auction whose result is known, with what it should have brought. */
interface PlantedAttempt {
  readonly saleAt: Date;
  readonly sold: boolean;
  /** Highest bid, USD; of a sold attempt the price. */
  readonly bid: number;
  /** Whether it was sold at its Buy Now price, which follows the market by its markup alone. */
  readonly isBoughtNow: boolean;
  /** Median price of the planted market at the auction, USD. */
  readonly expected: number;
}

/** What was planted for a lot of source 1 or 3 that a world shows. */
export interface PlantedLot {
  readonly vehicleId: number;
  readonly lotId: number;
  readonly modelId: number;
  readonly generationId: number;
  readonly facts: PriceFacts;
  /** False where the service never learned the price. */
  readonly priced: boolean;
  readonly attempts: readonly PlantedAttempt[];
}

/** The truth behind the prices of a world, lot by lot, ascending by vehicle. */
export function* plantedLots(world: World): Generator<PlantedLot> {
  const now = world.clock.getTime();
  for (const life of livesAt(world, now)) {
    if (!isActive(life, now)) continue;
    const car = carOf(world, carLife(world, life));
    for (const { life: lot } of seenLots(world, life, now)) {
      if (lot.domain === 12) continue;
      const facts = auctionFacts(world, car, lot);
      yield {
        vehicleId: idOf(world, life.index),
        lotId: lotId(lot),
        modelId: car.model.id,
        generationId: car.generation.id,
        facts: facts.price,
        priced: !facts.unpriced,
        attempts: stateOf(lot, now).done.map((attempt, place) => ({
          saleAt: new Date(attempt.saleAt),
          sold: attempt.sold,
          bid: facts.attempts[place]?.bid ?? 0,
          isBoughtNow: facts.attempts[place]?.isBoughtNow ?? false,
          expected: expectedPrice(facts.price, attempt.saleAt),
        })),
      };
    }
  }
}
