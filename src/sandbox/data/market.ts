import { DAY, type Instant, MONTH } from '../world/instants.js';
import { byWeight } from '../world/random.js';
import document from './market.json' with { type: 'json' };
import { type RichFacts, richFactor } from './rich-law.js';

/**
 * Damages with their factor on the price and their weight among the draws. Near-duplicates ("Rear", "Rear End", "Re")
 * keep their own ids, as in the feed (service.md#values). Damages of one group of the seed damage_groups share one
 * factor.
 */
export const damages = document.damages;

/** Damages for `pick`, repeated by weight. */
export const damageDraw = byWeight(damages, ({ weight }) => weight);

/** Factor of the main damage on the price; a lot without one counts as undamaged. */
export const damageFactors: ReadonlyMap<number, number> = new Map(damages.map((d) => [d.id, d.factor]));

/**
 * Titles with their factor on the price and their weight. Those of one brand of the seed title_brands share a factor.
 */
export const titles = document.titles;

/** The title that reads clean. Only its detailed title says that it is restored salvage. */
export const RESTORED = 4240;

/** Titles for `pick`, repeated by weight. */
export const titleDraw = byWeight(titles, ({ weight }) => weight);

/** Factor of the title on the price; a lot without a title counts as clean. */
const titleFactors: ReadonlyMap<number, number> = new Map(titles.map((t) => [t.id, t.factor]));

/** The factor of a title on the price. */
export const titleFactorOf = (title: number | null): number => titleFactors.get(title ?? 0) ?? 1;

/**
 * The planted market: the only place where prices come from. A sold attempt's price is
 *
 *     new price × age × mileage × damage × title × accidents × level × trend × season × noise
 *
 * with the factors of `market.json`, which docs/change/sandbox.md explains. `expectedPrice` is the price without the noise.
 * `levels` are by source, `season` by month from January. The trend is 1 at `trendOrigin`. `noise` is the standard
 * deviation of the logarithm. A Buy Now price and the first asking price are above the value by their markups.
 */
export const market = {
  ...document.market,
  levels: new Map(Object.entries(document.market.levels).map(([id, level]) => [Number(id), level])),
  trendOrigin: Date.parse(document.market.trendOrigin),
  season: [0.97, 1.01, 1.05, 1.06, 1.04, 1.02, 1.0, 0.99, 0.98, 0.97, 0.95, 0.96],
} as const;

/** What the planted price of a lot depends on. */
export interface PriceFacts {
  /** Price of the model when new, USD. */
  readonly newPrice: number;
  readonly year: number;
  readonly km: number;
  readonly domain: number;
  readonly damage: number | null;
  readonly title: number | null;
  readonly claims: number;
  readonly accident: boolean;
  /** What the rich law asks beside; missing in a world of the plain law. */
  readonly rich?: RichFacts;
  /** Missing in a world whose level moves by trend and season alone. */
  readonly level?: (at: Instant) => number;
}

/** Years since the first of January of the model year, at least 0. */
export const ageAt = (year: number, at: Instant): number =>
  Math.max(0, (at - Date.UTC(year, 0, 1)) / (365.25 * DAY));

/** Factor of age and mileage at an instant, 0 to about 1.3. */
export function wearFactor(year: number, km: number, at: Instant): number {
  const age = ageAt(year, at);
  const mileage = Math.exp((-market.lossPer10000Km * (km - age * market.kmPerYear)) / 10_000);
  const [low = 0, high = Number.POSITIVE_INFINITY] = market.mileageBounds;
  return Math.exp(-market.lossPerYear * age) * Math.min(high, Math.max(low, mileage));
}

/** Trend and season of the market at an instant. */
export function marketFactor(at: Instant): number {
  const months = (at - market.trendOrigin) / MONTH;
  const month = new Date(at).getUTCMonth();
  return (1 + market.trendPerMonth) ** months * (market.season[month] ?? 1);
}

/** Factor of damage, title, claims and accident, 0 to 1. */
function discountFactor(facts: PriceFacts): number {
  const damage = facts.damage === null ? 1 : (damageFactors.get(facts.damage) ?? 1);
  const accident = facts.accident ? market.accidentFactor : 1;
  return damage * titleFactorOf(facts.title) * market.claimFactor ** facts.claims * accident;
}

/** The median price of a lot that is sold at an instant, USD. */
export const expectedPrice = (facts: PriceFacts, at: Instant): number =>
  facts.newPrice *
  wearFactor(facts.year, facts.km, at) *
  discountFactor(facts) *
  (market.levels.get(facts.domain) ?? 1) *
  marketFactor(at) *
  (facts.level?.(at) ?? 1) *
  (facts.rich === undefined ? 1 : richFactor(facts.rich, stateAt(facts, at), market));

/** What the rich law knows of a lot at an instant. */
function stateAt({ year, km, damage }: PriceFacts, at: Instant) {
  const age = ageAt(year, at);
  return { age, beyond: km - age * market.kmPerYear, damage: damageFactors.get(damage ?? 0) ?? 1 };
}
