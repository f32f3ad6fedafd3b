import { enumerations } from '../../service/contract/enumerations.js';
import { named } from '../data/wording.js';
import type { AuctionFacts } from '../world/auction-facts.js';
import type { Car } from '../world/car.js';
import { type Instant, micros, plain } from '../world/instants.js';
import { externalId, lotId, lotNumber } from '../world/keys.js';
import type { LotLife, LotState } from '../world/lot-life.js';
import type { Population } from '../world/population.js';
import { Salt, stream } from '../world/random.js';
import { archiveMembers } from './archive-members.js';
import { auctionImages, type Images } from './images.js';
import { locationOf } from './location.js';
import { type Money, moneyOf } from './money.js';
import { pricesOf } from './prices.js';

const sources: ReadonlyMap<number, string> = new Map([
  [1, 'iaai'],
  [3, 'copart'],
]);

/** What a record of a lot is made of. */
export interface LotParts {
  readonly world: Population;
  readonly car: Car;
  readonly life: LotLife;
  readonly state: LotState;
  readonly facts: AuctionFacts;
  readonly withPrices: boolean;
}

const stamp = (at: Instant | null): string | null => (at === null ? null : micros(at));

/** A lot of source 1 or 3, in full or abridged. */
export function auctionLot(parts: LotParts): object {
  const { world, car, life, state, facts } = parts;
  const money = moneyOf(parts);
  const images = auctionImages(
    stream(world.seed, life.index, Salt.images + life.place),
    sources.get(life.domain) ?? 'other',
    {
      id: lotId(life) + 3_000_000,
      lot: lotNumber(life),
      car,
      at: life.start,
    },
  );
  const lot = car.shape === 'abridged' ? abridged(parts, money, images) : full(parts, money, images);
  if (car.shape === 'observed') Object.assign(lot, { timed_start_bid: money.timedStart });
  if (car.shape !== 'abridged') Object.assign(lot, archiveMembers(life, state, facts.form.archived));
  return parts.withPrices ? Object.assign(lot, { prices: pricesOf(parts) }) : lot;
}

const domainOf = ({ domain }: LotLife) => named(enumerations.domain, domain);

const odometerOf = ({ odometer: { km, mi, status } }: AuctionFacts) => ({
  km,
  mi,
  status: named(enumerations.odometer_status, status),
});

/** The members of an abridged record; the others are missing, not null (field-notes.md). */
function abridged({ life, state, facts }: LotParts, money: Money, images: Images) {
  return {
    id: lotId(life),
    lot: lotNumber(life),
    domain: domainOf(life),
    external_id: life.domain === 1 ? externalId(life) : null,
    odometer: odometerOf(facts),
    estimate_repair_price: facts.estimates[0],
    actual_cash_value: facts.estimates[3],
    sale_date: stamp(money.saleAt),
    bid: money.bid,
    buy_now: money.buyNow,
    final_bid: money.finalBid,
    status: money.status,
    seller: facts.seller,
    title: facts.title && { id: facts.title.id, name: facts.title.name },
    damage: { main: idAndName(facts.damage), second: idAndName(facts.secondDamage) },
    condition: facts.condition,
    images: { downloaded: images.downloaded },
    location: { country: facts.place.country, state: facts.place.state, city: facts.place.city },
    created_at: micros(life.start),
    updated_at: micros(state.updatedAt),
  };
}

const idAndName = (row: { readonly id: number; readonly name: string } | null) =>
  row === null ? null : { id: row.id, name: row.name };

function full(parts: LotParts, money: Money, images: Images) {
  const { life, state, facts } = parts;
  const { unknown, place, title, form } = facts;
  return {
    id: lotId(life),
    lot: lotNumber(life),
    domain: domainOf(life),
    external_id: life.domain === 1 ? externalId(life) : null,
    odometer: odometerOf(facts),
    estimate_repair_price: facts.estimates[0],
    pre_accident_price: facts.estimates[1],
    clean_wholesale_price: facts.estimates[2],
    actual_cash_value: facts.estimates[3],
    sale_date: stamp(money.saleAt),
    sale_date_updated_at: stamp(money.saleKnownAt),
    bid: money.bid,
    bid_updated_at: money.bidAt === null ? null : form.stamp < 0.6 ? plain(money.bidAt) : micros(money.bidAt),
    buy_now: money.buyNow,
    buy_now_updated_at: stamp(money.buyNowAt),
    final_bid: money.finalBid,
    final_bid_updated_at: stamp(money.finalBidAt),
    status: money.status,
    seller: facts.seller,
    seller_type: sellerTypeOf(facts),
    title: title && { id: title.id, code: title.code, name: title.name },
    detailed_title: unknown.detailed || title === null ? null : title.detailed,
    note: facts.note,
    damage: { main: idAndName(facts.damage), second: idAndName(facts.secondDamage) },
    keys_available: facts.keys,
    airbags: facts.airbags === null ? null : named(enumerations.airbags, facts.airbags),
    condition: facts.condition,
    grade_iaai: facts.grade,
    images,
    location: locationOf(place, { state: unknown.state, yard: unknown.yard }),
    tags: form.tags < 0.3 ? null : form.tags < 0.4 ? (facts.tags[0] ?? null) : facts.tags,
    line: facts.lane,
    selling_branch: branchOf(parts),
    created_at: micros(life.start),
    updated_at: form.stamp > 0.97 ? plain(state.updatedAt) : micros(state.updatedAt),
    details: null,
    is_timed_auction: facts.timed,
    seller_reserve:
      facts.reserve === null
        ? null
        : { price: facts.reserve, updated_at: facts.reserve % 2 ? null : micros(life.start) },
    auction_type: facts.auctionType === null ? null : named(enumerations.auction_type, facts.auctionType),
  };
}

function sellerTypeOf({ form, sellerType }: AuctionFacts) {
  if (form.type < 0.45) return null;
  const type = named(enumerations.seller_type, sellerType);
  return form.type < 0.6 ? type.name : type;
}

function branchOf({ life, facts: { unknown, place, branchNumber } }: LotParts) {
  if (unknown.branch) return null;
  const name = `${place.state?.code ?? ''} - ${place.city.name}`;
  return { name, link: null, number: branchNumber, id: 540_000 + place.id, domain_id: life.domain };
}
