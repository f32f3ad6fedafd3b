import {
  damageDraw,
  expectedPrice,
  market,
  type PriceFacts,
  RESTORED,
  titleDraw,
  titles,
} from '../data/market.js';
import { places } from '../data/places.js';
import { conditions } from '../data/wording.js';
import wording from '../data/wording.json' with { type: 'json' };
import type { Car } from './car.js';
import type { LotLife } from './lot-life.js';
import type { Population } from './population.js';
import { below, between, chance, normal, pick, type Rng, Salt, stream, unit } from './random.js';

/** What is true of a lot of source 1 or 3 all its life. */
export type AuctionFacts = Readonly<ReturnType<typeof auctionFacts>>;

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
  // Abridged records have no detailed title, so there a title that reads clean is clean.
  const title = drawn?.id === RESTORED && car.shape === 'abridged' ? CLEAN : drawn;
  const price: PriceFacts = {
    newPrice: car.model.newPrice,
    year: car.year,
    km: car.km,
    domain: lot.domain,
    damage: damage?.id ?? null,
    title: title?.id ?? null,
    claims: 0,
    accident: false,
  };
  const value = expectedPrice(price, lot.start);
  const bids = lot.attempts.map((attempt) => {
    const hammer = expectedPrice(price, attempt.saleAt) * Math.exp(market.noise * normal(rng));
    const offered = 0.4 + 0.5 * unit(rng);
    return { bid: step(attempt.sold ? hammer : hammer * offered), prebid: step(hammer * offered * 0.3) };
  });
  const facts = {
    price,
    odometer,
    damage,
    title,
    secondDamage: chance(rng, 0.45) ? pick(rng, damageDraw) : null,
    place: pick(rng, canadian ? places.canadian : places.american),
    condition: pick(rng, conditions),
    seller: sellerOf(rng, car),
    sellerType: chance(rng, 0.75) ? 1 : 2,
    // Decides the form of each member that has several forms, 0 to 1.
    form: { type: unit(rng), tags: unit(rng), archived: unit(rng), stamp: unit(rng) },
    airbags: chance(rng, 0.5) ? null : between(rng, 1, 4),
    grade: gradeOf(rng, car, lot),
    note: noteOf(rng, car),
    tags: Array.from({ length: below(rng, 4) }, () => pick(rng, wording.tags)),
    buyNow: chance(rng, 0.1) ? null : chance(rng, 0.75) ? 0 : step(value * market.buyNowMarkup),
    // Whether the lot is sold without the service learning the price.
    unpriced: chance(rng, 0.16),
    timed: chance(rng, 0.03),
    reserve: chance(rng, 0.08) ? step(value * 0.95) : null,
    auctionType: chance(rng, 0.08) ? null : lot.domain === 1 ? pick(rng, [4, 4, 1]) : pick(rng, [2, 2, 1]),
    estimates: estimatesOf(rng, car, value),
    lane: chance(rng, 0.3)
      ? null
      : chance(rng, 0.4)
        ? '- / -'
        : `${between(rng, 1, 90)}${pick(rng, ['A', 'B'])}`,
    branchNumber: lot.domain === 1 ? between(rng, 100, 900) : null,
    keys: chance(rng, 0.85),
    // Members that are null in the record of this lot.
    unknown: {
      state: chance(rng, 0.03),
      yard: chance(rng, 0.08),
      branch: chance(rng, 0.06),
      detailed: chance(rng, 0.1) && title?.id !== RESTORED,
    },
  };
  const takesBuyNow = chance(stream(world.seed, lot.index, Salt.purchase + lot.place), market.buyNowShare);
  // A bid is the hammer price or Buy Now price of a sold auction; else the highest bid, below the value.
  const attempts = bids.map((attempt, place) => {
    const isBoughtNow = takesBuyNow && lot.attempts[place]?.sold === true && (facts.buyNow ?? 0) > 0;
    return { ...attempt, bid: isBoughtNow ? (facts.buyNow ?? 0) : attempt.bid, isBoughtNow };
  });
  return { ...facts, attempts };
}

function odometerOf(rng: Rng, car: Car) {
  const status = chance(rng, 0.85) ? 1 : between(rng, 2, 5);
  if (car.quirk === 'huge odometer') return { km: 4_109_575_321, mi: 2_553_571_660, status: 4 };
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
