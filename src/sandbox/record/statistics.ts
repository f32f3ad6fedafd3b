import { sumOf } from '../../base/config/printable.js';
import { idAndName, named } from '../data/wording.js';
import { type Car, carOf } from '../world/car.js';
import { auctionFacts } from '../world/facts.js';
import { DAY, type Instant, micros } from '../world/instants.js';
import { allLots, type Life, visibleLives } from '../world/life.js';
import { stateOf } from '../world/lot-life.js';
import type { Moment } from '../world/population.js';

/** One record of `/statistics`. */
export type StatisticRecord = Readonly<ReturnType<typeof row>>;

/** Vehicles of one generation, model year and source that were sold. */
interface Group {
  readonly car: Car;
  readonly domain: number;
  readonly bids: number[];
}

/** The first Monday of 1970 was the fifth of January. */
const MONDAY = 4 * DAY;

/**
 * Average prices by generation, model year and source over the sold lots of all vehicles (service.md#other-lists), as
 * the service calculated them at the start of the week.
 */
export function statisticRecords(world: Moment): StatisticRecord[] {
  const monday = Math.floor((world.now - MONDAY) / (7 * DAY)) * 7 * DAY + MONDAY;
  const then = { ...world, now: monday };
  const groups = new Map<number, Group>();
  for (const life of visibleLives(then)) {
    for (const { car, domain, bid } of salesOf(then, life)) {
      const id = car.generation.id * 1000 + (car.year - 1990) * 10 + domain;
      const group = groups.get(id) ?? { car, domain, bids: [] };
      group.bids.push(bid);
      groups.set(id, group);
    }
  }
  return [...groups].sort(([a], [b]) => a - b).map(([id, group]) => row(id, group, monday));
}

function salesOf(world: Moment, life: Life) {
  const lots = allLots(world, life).filter((lot) => lot.domain !== 12 && lot.start <= world.now);
  return lots.flatMap((lot) => {
    const { done, next } = stateOf(lot, world.now);
    if (next !== null) return [];
    const car = carOf(world, life);
    const facts = auctionFacts(world, car, lot);
    const result = facts.attempts[done.length - 1];
    return facts.unpriced || result?.isSold !== true ? [] : [{ car, domain: lot.domain, bid: result.bid }];
  });
}

function row(id: number, { car, domain, bids }: Group, at: Instant) {
  const { model, generation, engine } = car;
  const date = new Date(at);
  return {
    id,
    year: car.year,
    vehicle_type: idAndName(named('vehicle_type', model.vehicleType)),
    avg_final_bid: Math.round((sumOf(bids, (bid) => bid) / bids.length) * 100) / 100,
    min_final_bid: Math.min(...bids),
    max_final_bid: Math.max(...bids),
    lot_count: bids.length,
    calculated_at: micros(at),
    year_calc_at: date.getUTCFullYear(),
    month_calc_at: date.getUTCMonth() + 1,
    day_calc_at: date.getUTCDate(),
    manufacturer: model.manufacturer,
    car_model: idAndName(model),
    generation: idAndName(generation),
    engine: id % 4 === 0 ? null : idAndName(engine),
    domain: idAndName(named('domain', domain)),
  };
}
