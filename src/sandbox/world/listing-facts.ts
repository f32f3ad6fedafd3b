import { expectedPrice, market, type PriceFacts } from '../data/market.js';
import { places } from '../data/places.js';
import wording from '../data/wording.json' with { type: 'json' };
import type { Car } from './car.js';
import type { LotLife } from './lot-life.js';
import { type Past, pastOf } from './past.js';
import type { Population } from './population.js';
import { chance, hash, normal, pick, Salt, stream, unit } from './random.js';

/** What is true of a listing of source 12 all its life. */
export type ListingFacts = Readonly<ReturnType<typeof listingFacts>>;

/** Won a US dollar, for texts in the currency of the source. */
export const WON_A_DOLLAR = 1_400;

/** Draws the facts of a listing. */
export function listingFacts(world: Population, car: Car, lot: LotLife, listedAt: number) {
  const rng = stream(world.seed, lot.index, Salt.lot + lot.place);
  const past = pastOf(world, car, listedAt);
  const price: PriceFacts = {
    newPrice: car.model.newPrice,
    year: car.year,
    km: car.km,
    domain: lot.domain,
    damage: null,
    title: null,
    claims: past.claims.length,
    accident: past.accident,
  };
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
    keys: chance(rng, 0.98),
    // Whether there is an inspection report from the start; a second one comes at `secondReportAt` of the lot.
    inspected: draw < 0.8,
    histories: draw < 0.12 ? 2 : draw < 0.85 ? 1 : 0,
    certified: chance(rng, 0.1),
    archivedForm: unit(rng),
  };
}

/** What is true of the reports of a lot all its life. Only published ones are served (reports.md, common rule 2). */
export type ReportFacts = Readonly<NonNullable<ReturnType<typeof reportFacts>>>;

/** One lot of sources 1 and 3 in this many has reports. */
const REPORTED = 20;

/**
 * Draws the facts of a lot's reports; undefined for a lot without reports, as most lots of sources 1 and 3. An inspection
 * report is there from the start where `inspected`, and is archived when a second one comes where `superseded`;
 * `histories` are the places of the published history reports among those that the source made.
 */
export function reportFacts(world: Population, car: Car, lot: LotLife, listedAt: number) {
  const hidden = hash(world.seed, lot.index, Salt.published + lot.place);
  const published = (places: number): number[] =>
    [0, 1].slice(0, places).filter((place) => (hidden >>> (8 * place)) % 12 !== 0);
  const superseded = hidden % 2 === 0;
  if (lot.domain === 12) {
    const { past, inspected, histories, certified } = listingFacts(world, car, lot, listedAt);
    const isShown = inspected && (hidden >>> 16) % 15 !== 0;
    return { past, inspected: isShown, superseded, histories: published(histories), certified };
  }
  const draw = hash(world.seed, lot.index, Salt.reported + lot.place);
  if (draw % REPORTED !== 0) return undefined;
  // The prices of sources 1 and 3 do not depend on claims.
  const past: Past = { ...pastOf(world, car, listedAt), claims: [], accident: false };
  return { past, inspected: (draw >>> 8) % 2 === 0, superseded, histories: published(1), certified: false };
}

/** The asking price after a number of cuts, USD. */
export const askingPrice = (facts: ListingFacts, cuts: number): number =>
  Math.round(facts.asked * market.askingCut ** cuts);
