import { enumerations } from '../../service/contract/enumerations.js';
import { named } from '../data/wording.js';
import type { Car } from '../world/car.js';
import { micros } from '../world/instants.js';
import { lotId, lotNumber } from '../world/keys.js';
import { askingPrice, type ListingFacts } from '../world/listing-facts.js';
import type { LotLife, LotState } from '../world/lot-life.js';
import type { Population } from '../world/population.js';
import { Salt, stream } from '../world/random.js';
import { archiveMembers } from './archive-members.js';
import { listingDetails } from './details.js';
import { listingImages } from './images.js';
import { locationOf } from './location.js';
import { statuses } from './money.js';

/** What a record of a listing is made of. */
export interface ListingParts {
  readonly world: Population;
  readonly car: Car;
  readonly life: LotLife;
  readonly state: LotState;
  readonly facts: ListingFacts;
  readonly withPrices: boolean;
}

const KM_A_MILE = 1.609344;

/** A lot of source 12: an asking price instead of auctions, and large details. */
export function listingLot({ world, car, life, state, facts, withPrices }: ListingParts): object {
  const rng = stream(world.seed, life.index, Salt.images + life.place);
  const number = lotNumber(life);
  const lot = {
    id: lotId(life),
    lot: number,
    domain: named(enumerations.domain, life.domain),
    external_id: null,
    odometer: { km: car.km, mi: Math.round(car.km / KM_A_MILE), status: { name: 'actual', id: 1 } },
    estimate_repair_price: null,
    pre_accident_price: null,
    clean_wholesale_price: null,
    actual_cash_value: null,
    sale_date: null,
    sale_date_updated_at: null,
    bid: null,
    bid_updated_at: null,
    buy_now: askingPrice(facts, state.touches),
    buy_now_updated_at: state.touchedAt === null ? null : micros(state.touchedAt),
    final_bid: null,
    final_bid_updated_at: null,
    status: statuses.sale,
    seller: null,
    seller_type: null,
    title: null,
    detailed_title: null,
    note: null,
    damage: { main: null, second: null },
    keys_available: facts.keys,
    airbags: null,
    condition: { name: 'run_and_drives', id: 0 },
    grade_iaai: null,
    images: listingImages(rng, { id: lotId(life) + 3_000_000, lot: number, car, at: life.start }),
    location: locationOf(facts.place, { state: true, yard: true }),
    tags: null,
    line: null,
    selling_branch: null,
    created_at: micros(life.start),
    updated_at: micros(state.updatedAt),
    details: listingDetails(rng, car, facts, life.start),
    is_timed_auction: false,
    seller_reserve: null,
    auction_type: null,
    ...archiveMembers(life, state, facts.archivedForm),
  };
  return withPrices ? { ...lot, prices: [] } : lot;
}
