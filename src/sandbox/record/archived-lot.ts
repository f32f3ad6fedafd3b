import { enumerations } from '../../service/contract/enumerations.js';
import { named } from '../data/wording.js';
import { auctionFacts } from '../world/auction-facts.js';
import { type Car, carOf } from '../world/car.js';
import { micros, stamp } from '../world/instants.js';
import { carLife, type Life } from '../world/life.js';
import { askingPrice, listingFacts } from '../world/listing-facts.js';
import { type LotLife, stateOf } from '../world/lot-life.js';
import { idOf, lotId, lotNumber, type Population } from '../world/population.js';
import { type Money, moneyOf, nothing, SALE } from './money.js';

type Shown = Omit<Money, 'timedStart'>;

/** A record of the archive feed: flat, with dated amounts, or in the older form with plain ones (field-notes.md). */
export function archivedLotRecord(world: Population, life: Life, lot: LotLife): object {
  const car = carOf(world, carLife(world, life));
  const shown = shownOf(world, life, lot, car);
  const head = {
    archived_at: micros(lot.end),
    lot_id: lotId(lot),
    car_id: idOf(world, life.index),
    vin: car.vin?.toLowerCase() ?? null,
    lot: lotNumber(lot),
    domain: named(enumerations.domain, lot.domain),
    status: shown.status,
  };
  return lot.index % 5 === 0 ? { ...head, ...older(shown) } : { ...head, ...dated(shown) };
}

function shownOf(world: Population, life: Life, lot: LotLife, car: Car): Shown {
  const state = stateOf(lot, lot.end);
  if (lot.domain !== 12) return moneyOf({ car, life: lot, state, facts: auctionFacts(world, car, lot) });
  const asked = askingPrice(listingFacts(world, car, lot, life.birth), state.touches);
  return { ...nothing, status: SALE, buyNow: asked, buyNowAt: state.touchedAt };
}

const dated = (shown: Shown) => ({
  bid: { value: shown.bid, updated_at: stamp(shown.bidAt) },
  buy_now: { value: shown.buyNow, updated_at: stamp(shown.buyNowAt) },
  sale_date: { value: stamp(shown.saleAt), updated_at: stamp(shown.saleKnownAt) },
  final_bid: { value: shown.finalBid, updated_at: stamp(shown.finalBidAt) },
});

const older = (shown: Shown) => ({
  bid: shown.bid,
  buy_now: shown.buyNow,
  sale_date: stamp(shown.saleAt),
  final_bid: shown.finalBid,
  final_bid_updated_at: stamp(shown.finalBidAt),
});
