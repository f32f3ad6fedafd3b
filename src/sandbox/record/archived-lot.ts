import { enumerations } from '../../service/contract/enumerations.js';
import { named } from '../data/wording.js';
import { auctionFacts } from '../world/auction-facts.js';
import { type Car, carOf } from '../world/car.js';
import { micros, stamp } from '../world/instants.js';
import type { Life } from '../world/life.js';
import { askingPrice, listingFacts } from '../world/listing-facts.js';
import { type LotLife, stateOf } from '../world/lot-life.js';
import { idOf, lotId, lotNumber, type Population } from '../world/population.js';
import { moneyOf, nothing, SALE } from './money.js';

/** A record of the archive feed: flat, with dated amounts, or in the older form with plain ones (field-notes.md). */
export function archivedLotRecord(world: Population, life: Life, lot: LotLife): object {
  const car = carOf(world, life);
  const shown = shownOf(world, life, lot, car);
  const { status, bid, buy_now, sale_date, final_bid, final_bid_updated_at } = shown;
  const head = {
    archived_at: micros(lot.end),
    lot_id: lotId(lot),
    car_id: idOf(world, life.index),
    vin: car.vin?.toLowerCase() ?? null,
    lot: lotNumber(lot),
    domain: named(enumerations.domain, lot.domain),
    status,
  };
  if (lot.index % 5 === 0) return { ...head, bid, buy_now, sale_date, final_bid, final_bid_updated_at };
  const dated = (['bid', 'buy_now', 'sale_date', 'final_bid'] as const).map(
    (name) => [name, { value: shown[name], updated_at: shown[`${name}_updated_at`] }] as const,
  );
  return { ...head, ...Object.fromEntries(dated) };
}

function shownOf(world: Population, life: Life, lot: LotLife, car: Car) {
  const state = stateOf(lot, lot.end);
  if (lot.domain !== 12) return moneyOf({ car, life: lot, state, facts: auctionFacts(world, car, lot) });
  const asked = askingPrice(listingFacts(world, car, lot, life.birth), state.touches);
  return { ...nothing, status: SALE, buy_now: asked, buy_now_updated_at: stamp(state.touchedAt) };
}
