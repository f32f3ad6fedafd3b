import { market } from '../data/market.js';
import { idAndName, named } from '../data/wording.js';
import { type Car, carOf } from '../world/car.js';
import {
  type AuctionFacts,
  auctionFacts,
  KM_A_MILE,
  type ListingFacts,
  listingFacts,
  type Place,
} from '../world/facts.js';
import { dateOf, micros, plain } from '../world/instants.js';
import type { Life } from '../world/life.js';
import { type LotLife, type LotState, stateOf } from '../world/lot-life.js';
import { externalId, idOf, lotId, lotNumber, type Population } from '../world/population.js';
import { below, between, chance, hex, type Rng } from '../world/random.js';
import { listingDetails } from './details.js';
import { moneyOf, noAuction, type Offer, pricesOf, SALE } from './money.js';
import templates from './templates.json' with { type: 'json' };

/** A lot of source 1 or 3, in full or abridged. */
export function auctionLot(rng: Rng, offer: Offer<AuctionFacts>, withPrices: boolean): object {
  const { car, life, state, facts } = offer;
  const { unknown, place, title, damage, secondDamage, form, reserve } = facts;
  const { odometer, seller, note, keys_available, airbags, condition, grade_iaai, line, auction_type } =
    facts;
  const images = auctionImages(rng, car, life);
  const record = {
    ...templates.lot,
    id: lotId(life),
    lot: lotNumber(life),
    domain: named('domain', life.domain),
    external_id: life.domain === 1 ? externalId(life) : null,
    odometer,
    seller,
    note,
    keys_available,
    airbags,
    condition,
    grade_iaai,
    line,
    auction_type,
    ...facts.estimates,
    ...moneyOf(offer, form.stamp < 0.6 ? plain : micros),
    seller_type: sellerTypeOf(facts),
    title: title && { id: title.id, code: title.code, name: title.name },
    detailed_title: unknown.detailed || title === null ? null : title.detailed,
    damage: { main: damage && idAndName(damage), second: secondDamage && idAndName(secondDamage) },
    images,
    location: locationOf(place, unknown),
    tags: form.tags < 0.3 ? null : form.tags < 0.4 ? (facts.tags[0] ?? null) : facts.tags,
    selling_branch: branchOf(life, facts),
    created_at: micros(life.start),
    updated_at: form.stamp > 0.97 ? plain(state.updatedAt) : micros(state.updatedAt),
    is_timed_auction: facts.timed,
    seller_reserve: reserve && { price: reserve, updated_at: reserve % 2 ? null : micros(life.start) },
  };
  const prices = withPrices ? { prices: pricesOf(offer) } : {};
  if (car.shape === 'abridged') {
    const { country, state: region, city } = place;
    // The other members are missing, not null (service.md#vehicles).
    const kept = Object.entries(record).filter(([name]) => templates.abridged.includes(name));
    return {
      ...Object.fromEntries(kept),
      title: title && idAndName(title),
      images: { downloaded: images.downloaded },
      location: { country, state: region, city },
      updated_at: micros(state.updatedAt),
      ...prices,
    };
  }
  const start = facts.timed ? 100 + (life.index % 20) * 50 : null;
  const timed = car.shape === 'observed' ? { timed_start_bid: start } : {};
  return { ...record, ...timed, ...archiveMembers(life, state, form.archived), ...prices };
}

function sellerTypeOf({ form, sellerType }: AuctionFacts) {
  if (form.type < 0.45) return null;
  const type = named('seller_type', sellerType);
  return form.type < 0.6 ? type.name : type;
}

function branchOf(life: LotLife, { unknown, place, branchNumber }: AuctionFacts) {
  if (unknown.branch) return null;
  const name = `${place.state?.code ?? ''} - ${place.city.name}`;
  return { name, link: null, number: branchNumber, id: 540_000 + place.id, domain_id: life.domain };
}

/** A lot of source 12: an asking price instead of auctions, and large details. */
export function listingLot(rng: Rng, offer: Offer<ListingFacts>, withPrices: boolean): object {
  const { car, life, state, facts } = offer;
  const status = named('odometer_status', 1);
  return {
    ...templates.lot,
    id: lotId(life),
    lot: lotNumber(life),
    domain: named('domain', life.domain),
    odometer: { km: car.km, mi: Math.round(car.km / KM_A_MILE), status },
    ...listingMoney(state, facts),
    keys_available: facts.keys_available,
    condition: named('condition', 0),
    images: listingImages(rng, car, life),
    location: locationOf(facts.place, { state: true, yard: true }),
    created_at: micros(life.start),
    updated_at: micros(state.updatedAt),
    details: listingDetails(rng, car, facts, life.start),
    ...archiveMembers(life, state, facts.archivedForm),
    ...(withPrices ? { prices: [] } : {}),
  };
}

/** Status and amounts of a lot of source 12. Its asking price may be cut once. */
const listingMoney = ({ touchedAt }: LotState, { asked }: ListingFacts) => ({
  ...noAuction,
  status: SALE,
  buy_now: touchedAt === null ? asked : Math.round(asked * market.askingCut),
  buy_now_updated_at: touchedAt === null ? null : micros(touchedAt),
});

/** The location of a lot. State and yard may be unknown. */
function locationOf(place: Place, unknown: { readonly state: boolean; readonly yard: boolean }) {
  const label = place.state && `${place.state.code} - ${place.city.name}`;
  return {
    country: place.country,
    state: unknown.state ? null : place.state,
    city: place.city,
    location: unknown.yard || label === null ? null : { id: place.id, name: label },
    latitude: place.latitude,
    longitude: place.longitude,
    postal_code: place.postalCode,
    is_offsite: null,
    raw: label,
    offsite: null,
  };
}

/**
 * The archive members of a lot. They are set once it is archived. Before that they are false, null or missing
 * (service.md#lots); `form` (0 to 1) decides which.
 */
function archiveMembers(life: LotLife, state: LotState, form: number): object {
  if (state.archived) return { archived: true, archived_at: micros(life.end) };
  if (form < 0.5) return {};
  return { archived: form < 0.6 ? null : false, archived_at: null };
}

/**
 * A record of the archive feed: flat, with dated amounts, or in the older form with plain ones (service.md#archive).
 */
export function archivedLotRecord(world: Population, life: Life, lot: LotLife): object {
  const car = carOf(world, life);
  const state = stateOf(lot, lot.end);
  const money =
    lot.domain === 12
      ? listingMoney(state, listingFacts(world, car, lot, life.birth))
      : moneyOf({ car, life: lot, state, facts: auctionFacts(world, car, lot) });
  const { status, bid, buy_now, sale_date, final_bid, final_bid_updated_at } = money;
  const head = {
    archived_at: micros(lot.end),
    lot_id: lotId(lot),
    car_id: idOf(world, life.index),
    vin: car.vin?.toLowerCase() ?? null,
    lot: lotNumber(lot),
    domain: named('domain', lot.domain),
    status,
  };
  if (lot.index % 5 === 0) return { ...head, bid, buy_now, sale_date, final_bid, final_bid_updated_at };
  const dated = (['bid', 'buy_now', 'sale_date', 'final_bid'] as const).map((name) => [
    name,
    { value: money[name], updated_at: money[`${name}_updated_at`] },
  ]);
  return { ...head, ...Object.fromEntries(dated) };
}

const STORE = 'https://photos.auction.example/v1/AUTH_svc.pdoc00001/ids-c-prod-lpp';
const COPIES = 'https://i.service.example';
const LISTINGS = 'https://photos.listing.example/carpicture/carpicture';
const MARK = 'wtmk=http://photos.listing.example/wt_mark/w_mark_04.png&wtmkg=SouthEast&wtmkw=1&wtmkh=1';

const idOfImages = (life: LotLife): number => lotId(life) + 3_000_000;

const copies = (count: number, { model, year, vin }: Car, life: LotLife): string[] => {
  const source = named('domain', life.domain).name.replace('_com', '');
  const path = [COPIES, source, slug(model.manufacturer.name), slug(model.name), year, lotNumber(life)].join(
    '/',
  );
  return Array.from({ length: count }, (_, place) => `${path}/${vin ?? 'novin'}-${place + 1}.webp`);
};

const slug = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-');

/** Images of sources 1 and 3: three sizes of each photograph. Some lots have frames of an outside view, too. */
function auctionImages(rng: Rng, car: Car, life: LotLife) {
  const date = dateOf(life.start);
  const folder = `${STORE}/${date.slice(5, 7)}${date.slice(2, 4)}/`;
  const photos = Array.from({ length: between(rng, 5, 12) }, () => folder + hex(rng, 4));
  const large = photos.map((photo) => `${photo}_hrs.jpg`);
  const frames = chance(rng, 0.08) ? folder + hex(rng, 4) : null;
  const inside = chance(rng, 0.1) ? `${folder}${hex(rng, 4)}_O.jpeg` : null;
  const video = chance(rng, 0.3) ? `${folder}${hex(rng, 4)}_O.mp4` : null;
  const youtube = chance(rng, 0.02) ? hex(rng, 2).slice(0, 11) : null;
  return {
    id: idOfImages(life),
    small: chance(rng, 0.05) ? null : photos.map((photo) => `${photo}_thb.jpg`),
    normal: large,
    big: large,
    exterior: frames === null ? null : Array.from({ length: 48 }, (_, n) => `${frames}_frames_${n}.jpg`),
    interior: inside,
    video,
    video_youtube_id: youtube,
    external_panorama_url: chance(rng, 0.02) ? `https://pano.auction.example/${lotNumber(life)}` : null,
    downloaded: copies(chance(rng, 0.1) ? 0 : photos.length, car, life),
  };
}

/** Images of source 12: two sizes with long addresses, no small ones. */
function listingImages(rng: Rng, car: Car, life: LotLife) {
  const lot = lotNumber(life);
  const path = `${LISTINGS}${below(rng, 10)}/pic${lot.slice(0, 4)}/${lot}_`;
  const stamp = dateOf(life.start).replaceAll('-', '');
  const photos = Array.from(
    { length: between(rng, 15, 21) },
    (_, place) => path + String(place + 1).padStart(3, '0'),
  );
  const size = (rh: number, cw: number) =>
    photos.map(
      (photo) => `${photo}.jpg?impolicy=heightRate&rh=${rh}&cw=${cw}&ch=${rh}&cg=Center&${MARK}&t=${stamp}`,
    );
  return {
    ...templates.images,
    id: idOfImages(life),
    normal: size(600, 800),
    big: size(1200, 2000),
    downloaded: copies(between(rng, 0, 4), car, life),
  };
}
