import {
  ageAt,
  damageDraw,
  expectedPrice,
  market,
  type PriceFacts,
  RESTORED,
  titleDraw,
  titleFactorOf,
  titles,
} from '../data/market.js';
import places from '../data/places.json' with { type: 'json' };
import { noiseWidth } from '../data/rich-law.js';
import { buyNowChance, buyNowRatio, levelAt, noiseAt, oddsOf } from '../data/uneven.js';
import { conditions, named } from '../data/wording.js';
import wording from '../data/wording.json' with { type: 'json' };
import type { Car } from './car.js';
import type { LotLife } from './lot-life.js';
import { type Past, pastOf } from './past.js';
import type { Population } from './population.js';
import { below, between, chance, hash, normal, pick, type Rng, Salt, stream, unit } from './random.js';

/** Everything about a lot of source 1 or 3 that does not change. */
export type AuctionFacts = Readonly<ReturnType<typeof auctionFacts>>;

/** Yards in the United States and in Canada, and cities of source 12, which have no state and no coordinates. */
export type Place = (typeof places)['american' | 'canadian' | 'korean'][number];

export const KM_A_MILE = 1.609344;
const CANADIAN = 0.06;
const CLEAN = titles.find(({ code }) => code === 'CT') ?? null;
const step = (amount: number): number => Math.max(25, Math.round(amount / 25) * 25);

/** Draws the facts of a lot; the order of the draws is part of the world. */
export function auctionFacts(world: Population, car: Car, lot: LotLife) {
  const rng = stream(world.seed, lot.index, Salt.lot + lot.place);
  const canadian = chance(rng, CANADIAN) || car.quirk === 'kilometres as miles';
  const odometer = odometerOf(rng, car);
  const damage = chance(rng, 0.02) ? null : pick(rng, damageDraw);
  const drawn = chance(rng, 0.04) ? null : pick(rng, titleDraw);
  // Abridged records have no detailed title. There, a title that reads clean is clean.
  const title = drawn?.id === RESTORED && car.shape === 'abridged' ? CLEAN : drawn;
  const draws = lot.attempts.map(() => ({ noise: normal(rng), offered: 0.4 + 0.5 * unit(rng) }));
  const auctionTypes = lot.domain === 1 ? [4, 4, 1] : [2, 2, 1];
  const secondDamage = chance(rng, 0.45) ? pick(rng, damageDraw) : null;
  const place = pick(rng, canadian ? places.canadian : places.american);
  const rich = world.law === 'rich' ? { rich: richFacts(car, place) } : {};
  const price = {
    ...soundPrice(world, car, lot),
    damage: damage?.id ?? null,
    title: title?.id ?? null,
    ...rich,
  };
  const value = expectedPrice(price, lot.start);
  const facts = {
    price,
    odometer,
    damage,
    title,
    secondDamage,
    place,
    condition: pick(rng, conditions),
    seller: sellerOf(rng, car),
    sellerType: chance(rng, 0.75) ? 1 : 2,
    // Numbers from 0 to 1 that choose the form of each member with several forms.
    form: { type: unit(rng), tags: unit(rng), archived: unit(rng), stamp: unit(rng) },
    airbags: chance(rng, 0.5) ? null : named('airbags', between(rng, 1, 4)),
    grade_iaai: gradeOf(rng, car, lot),
    note: noteOf(rng, car),
    tags: Array.from({ length: below(rng, 4) }, () => pick(rng, wording.tags)),
    buyNow: chance(rng, 0.1) ? null : chance(rng, 0.75) ? 0 : step(value * buyNowMarkup(world, lot)),
    // Whether the lot is sold without the service learning the price.
    unpriced: chance(rng, 0.16),
    timed: chance(rng, 0.03),
    reserve: chance(rng, 0.08) ? step(value * 0.95) : null,
    auction_type: chance(rng, 0.08) ? null : named('auction_type', pick(rng, auctionTypes)),
    estimates: estimatesOf(rng, car, value),
    line: chance(rng, 0.3)
      ? null
      : chance(rng, 0.4)
        ? '- / -'
        : `${between(rng, 1, 90)}${pick(rng, ['A', 'B'])}`,
    branchNumber: lot.domain === 1 ? between(rng, 100, 900) : null,
    keys_available: chance(rng, 0.85),
    // Members that are null in the record of this lot.
    unknown: {
      state: chance(rng, 0.03),
      yard: chance(rng, 0.08),
      branch: chance(rng, 0.06),
      detailed: chance(rng, 0.1) && title?.id !== RESTORED,
    },
  };
  return {
    ...facts,
    attempts: lot.attempts.map((_, at) => attemptOf(world, car, lot, { facts, draws, at })),
  };
}

/** What the draws of a lot decide about one of its auctions. */
interface Drawn {
  readonly facts: {
    readonly price: PriceFacts;
    readonly buyNow: number | null;
    readonly reserve: number | null;
  };
  readonly draws: readonly { readonly noise: number; readonly offered: number }[];
  /** Place of the auction. */
  readonly at: number;
}

/** The bid of a sold auction is its hammer price or Buy Now price, otherwise the highest bid, below the value. */
function attemptOf(world: Population, car: Car, lot: LotLife, { facts, draws, at }: Drawn) {
  const { price, buyNow } = facts;
  const { saleAt = 0, luck = 1, odds = 0 } = lot.attempts[at] ?? {};
  const { noise = 0, offered = 0 } = draws[at] ?? {};
  const width = world.law === 'rich' ? noiseWidth(world.seed, lot.index, at) : 1;
  const expected = expectedPrice(price, saleAt);
  const spread = noiseAt(world.uneven, market.noise, expected, ageAt(price.year, saleAt));
  const hammer = expected * Math.exp(spread * width * noise);
  const isWanted = luck < chanceToSell(world, car, odds, facts);
  const isBoughtNow = isWanted && (buyNow ?? 0) > 0 && takesBuyNow(world, lot);
  const isSold = isBoughtNow || (isWanted && hammer >= expected * accepted(world, lot));
  const highest = isWanted ? hammer : hammer * offered;
  const bid = isBoughtNow ? (buyNow ?? 0) : step(highest);
  return { bid, prebid: step(hammer * offered * 0.3), isSold, isBoughtNow };
}

/** A number from 0 to 1 for a use of a lot. */
const drawnFor = ({ seed }: Population, { index, place }: LotLife, salt: number): number =>
  hash(seed, index * 16 + place, salt) / 0x1_0000_0000;

/** The multiple of its value at which a lot can be bought. */
function buyNowMarkup(world: Population, lot: LotLife): number {
  const { buyNow } = world.uneven;
  return buyNow === undefined ? market.buyNowMarkup : buyNowRatio(buyNow, drawnFor(world, lot, Salt.ratio));
}

function takesBuyNow(world: Population, lot: LotLife): boolean {
  const share =
    world.uneven.buyNow === undefined ? market.buyNowShare : buyNowChance(buyNowMarkup(world, lot));
  return chance(stream(world.seed, lot.index, Salt.purchase + lot.place), share);
}

/** The part of the expected price that the seller of a lot accepts at auction; 0 for any. */
export function accepted(world: Population, lot: LotLife): number {
  const { reserve } = world.uneven;
  if (reserve === undefined) return 0;
  const [least, most] = reserve;
  return least + (most - least) * drawnFor(world, lot, Salt.accepts);
}

/** The chance that a buyer wants a lot at an auction. @param odds that by the plain law */
function chanceToSell(world: Population, car: Car, odds: number, facts: Drawn['facts']): number {
  const { odds: most } = world.uneven;
  if (most === undefined) return odds;
  const { title } = facts.price;
  const logit =
    Math.log(odds / (1 - odds)) +
    oddsOf(most, 1, Math.round(100 * titleFactorOf(title))) +
    oddsOf(most, 2, car.model.manufacturer.id) +
    oddsOf(most, 3, facts.reserve === null ? 0 : 1);
  return 1 / (1 + Math.exp(-logit));
}

const richFacts = ({ model, engine, wheels }: Car, { id }: Place) => ({
  make: model.manufacturer.id,
  model: model.id,
  engine: model.engines.length > 1 ? engine.id : null,
  wheels,
  place: id,
});

/** What the price of a lot depends on if the car has no damage and no past. */
function soundPrice(
  { seed, uneven }: Population,
  { model: { newPrice }, year, km }: Car,
  { domain }: LotLife,
): PriceFacts {
  const plain = { newPrice, year, km, domain, damage: null, title: null, claims: 0, accident: false };
  const moves = uneven.break !== undefined || uneven.walk !== undefined;
  return moves ? { ...plain, level: (at) => levelAt(uneven, seed, at) } : plain;
}

function odometerOf(rng: Rng, car: Car) {
  const status = named('odometer_status', chance(rng, 0.85) ? 1 : between(rng, 2, 5));
  if (car.quirk === 'huge odometer')
    return { km: 4_109_575_321, mi: 2_553_571_660, status: named('odometer_status', 4) };
  const mi = Math.round(car.km / KM_A_MILE);
  // Kilometres were taken for miles and converted again.
  if (car.quirk === 'kilometres as miles') return { km: Math.round(car.km * KM_A_MILE), mi: car.km, status };
  return { km: Math.round(mi * KM_A_MILE), mi, status };
}

function sellerOf(rng: Rng, car: Car) {
  const draw = unit(rng);
  const row = pick(rng, wording.sellers);
  const formula = pick(rng, wording.formulaNames);
  if (car.quirk === 'formula seller') return formula;
  return draw < 0.45 ? null : draw < 0.6 ? row.name : row;
}

function gradeOf(rng: Rng, car: Car, lot: LotLife): number | string | null {
  const score = between(rng, 1, 50);
  const draw = unit(rng);
  if (car.quirk === 'zero grade') return 0;
  if (lot.domain !== 1 || draw < 0.55) return null;
  if (draw < 0.58) return 0;
  return draw < 0.65 ? `${(score / 10).toFixed(1)}` : score;
}

function noteOf(rng: Rng, car: Car): string | null {
  const note = pick(rng, wording.notes);
  const has = chance(rng, 0.06);
  if (car.quirk === 'script note') return wording.scriptNote;
  return has ? note : null;
}

function estimatesOf(rng: Rng, { quirk }: Car, value: number) {
  const estimates = {
    estimate_repair_price: chance(rng, 0.5) ? Math.round(value * (0.3 + unit(rng))) : null,
    pre_accident_price: chance(rng, 0.4) ? Math.round(value * (1.4 + unit(rng))) : null,
    clean_wholesale_price: chance(rng, 0.3) ? Math.round(value * (1.2 + unit(rng)) * 2) / 2 : null,
    actual_cash_value: chance(rng, 0.5) ? Math.round(value * (1.3 + unit(rng))) : null,
  };
  if (quirk === 'negative money') return { ...estimates, estimate_repair_price: -1, actual_cash_value: -250 };
  if (quirk === 'absurd money') return { ...estimates, pre_accident_price: 99_999_999_999 };
  if (quirk !== 'fractional money') return estimates;
  return { ...estimates, pre_accident_price: 51_928.1213, actual_cash_value: 15_530.14 };
}

/** Everything about a listing of source 12 that does not change. */
export type ListingFacts = Readonly<ReturnType<typeof listingFacts>>;

/** Won for a US dollar, for amounts in the currency of the source. */
export const WON_A_DOLLAR = 1_400;

/** Draws the facts of a listing. */
export function listingFacts(world: Population, car: Car, lot: LotLife, listedAt: number) {
  const rng = stream(world.seed, lot.index, Salt.lot + lot.place);
  const past = pastOf(world, car, listedAt);
  const price = { ...soundPrice(world, car, lot), claims: past.claims.length, accident: past.accident };
  const noise = Math.exp(market.noise * normal(rng));
  const asked = Math.max(300, Math.round(expectedPrice(price, lot.start) * market.askingMarkup * noise));
  const draw = unit(rng);
  return {
    price,
    // The first asking price, USD.
    asked,
    past,
    place: pick(rng, places.korean),
    badge: pick(rng, wording.korean.badges),
    keys_available: chance(rng, 0.98),
    // Whether there is an inspection report from the start; a second one comes at `secondReportAt` of the lot.
    inspected: draw < 0.8,
    histories: draw < 0.12 ? 2 : draw < 0.85 ? 1 : 0,
    certified: chance(rng, 0.1),
    archivedForm: unit(rng),
  };
}

/** One lot of sources 1 and 3 in this many has reports. */
const REPORTED = 20;

/**
 * Draws everything about a lot's reports that does not change. Only published ones are served (service.md#reports).
 * `inspected`: there is an inspection report from the start. `superseded`: it is archived when a second one comes.
 * `histories`: places of the published history reports among those that the source made.
 */
export function reportFacts(world: Population, car: Car, lot: LotLife, listedAt: number) {
  const hidden = hash(world.seed, lot.index, Salt.published + lot.place);
  const published = (places: number): number[] =>
    [0, 1].slice(0, places).filter((place) => (hidden >>> (8 * place)) % 12 !== 0);
  const superseded = hidden % 2 === 0;
  if (lot.domain === 12) {
    const { inspected, histories, certified } = listingFacts(world, car, lot, listedAt);
    const isShown = inspected && (hidden >>> 16) % 15 !== 0;
    return { inspected: isShown, superseded, histories: published(histories), certified };
  }
  const draw = hash(world.seed, lot.index, Salt.reported + lot.place);
  const isReported = draw % REPORTED === 0;
  const inspected = isReported && (draw >>> 8) % 2 === 0;
  return { inspected, superseded, histories: published(isReported ? 1 : 0), certified: false };
}

/** The past of a car as the reports of a lot have it. The prices of sources 1 and 3 do not depend on claims. */
export function reportedPast(world: Population, car: Car, lot: LotLife, listedAt: number): Past {
  const past = pastOf(world, car, listedAt);
  return lot.domain === 12 ? past : { ...past, claims: [], accident: false };
}
