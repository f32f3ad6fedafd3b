import { DAY, type Instant } from '../world/instants.js';
import { byWeight } from '../world/random.js';

/** A damage as the service lists it, with its planted factor on the price and how often it is drawn. */
const damage = (id: number, name: string, factor: number, weight: number) => ({ id, name, factor, weight });

/**
 * Damages with the share of the undamaged price that is left. Near-duplicates ("Rear", "Rear End", "Re") keep
 * their own ids and share one factor, as they mean the same (field-notes.md).
 */
export const damages = [
  damage(1, 'Minor Dent/Scratches', 1, 90),
  damage(2, 'Normal Wear', 1, 110),
  damage(3, 'Front End', 0.62, 190),
  damage(85, 'Front', 0.62, 50),
  damage(100, 'Fe', 0.62, 6),
  damage(35, 'Rear End', 0.7, 110),
  damage(45, 'Rear', 0.7, 50),
  damage(131, 'Re', 0.7, 8),
  damage(37, 'Side', 0.68, 80),
  damage(39, 'Right Side', 0.68, 35),
  damage(51, 'Left Side', 0.68, 35),
  damage(4, 'Hail', 0.85, 30),
  damage(22, 'Hail Damage', 0.85, 6),
  damage(36, 'Undercarriage', 0.66, 30),
  damage(42, 'Mechanical', 0.55, 60),
  damage(41, 'Engine Damage', 0.5, 25),
  damage(5, 'Water/Flood Damage', 0.42, 25),
  damage(48, 'Flood', 0.42, 12),
  damage(71, 'Vandalism', 0.78, 20),
  damage(59, 'Theft', 0.8, 15),
  damage(33, 'All Over', 0.4, 35),
  damage(66, 'Rollover', 0.36, 20),
  damage(12, 'Burn Damage', 0.2, 12),
  damage(83, 'Burn-Engine', 0.2, 5),
  damage(54, 'Strip', 0.3, 8),
  damage(50, 'Frame', 0.5, 8),
];

/** Damages in the shares in which they are drawn. */
export const damageDraw = byWeight(damages, ({ weight }) => weight);

/** Factor of the main damage on the price; a lot without one counts as undamaged. */
export const damageFactors: ReadonlyMap<number, number> = new Map(damages.map((d) => [d.id, d.factor]));

/** A title document with its planted factor on the price. */
const title = (
  id: number,
  name: string,
  factor: number,
  weight: number,
  detailed: string,
  code: string | null = null,
) => ({ id, code, name, detailed: { id: id + 1000, code, name: detailed }, factor, weight });

/** Titles with the share of the clean-title price that is left. */
export const titles = [
  title(4240, 'Rs - Clean Title', 1, 180, 'Az - Cert Of Title-Restored Salvage'),
  title(4241, 'Ct - Clean Title', 1, 160, 'Tx - Certificate Of Title', 'CT'),
  title(4245, 'St - Salvage Title', 0.6, 330, 'In - Cert Of Title-Salvage Title'),
  title(4242, 'Sc - Salvage Title', 0.6, 220, 'Id - Salvage Certificate Of Title', 'SC'),
  title(55, 'Rebuilt', 0.72, 60, 'Oh - Rebuilt Salvage'),
  title(51, 'Non-Repairable', 0.32, 50, 'Ga - Certificate Of Destruction', 'nr'),
  title(61, ' Parts Only', 0.25, 15, ' parts only bill of sale'),
  title(72, 'Permit', 0.5, 10, 'On - Vehicle Permit'),
];

/** Titles in the shares in which they are drawn. */
export const titleDraw = byWeight(titles, ({ weight }) => weight);

/** Factor of the title on the price; a lot without a title counts as clean. */
const titleFactors: ReadonlyMap<number, number> = new Map(titles.map((t) => [t.id, t.factor]));

/**
 * The planted market: the only place where prices come from. A sold attempt's price is
 *
 *     new price × age × mileage × damage × title × accidents × level × trend × season × noise
 *
 * with the factors below; everything but the noise is `expectedPrice`.
 */
export const market = {
  /** Continuous loss a year of age: value × exp(-loss × age). */
  lossPerYear: 0.12,
  /** Kilometres a year that the loss by age already holds. */
  kmPerYear: 19_000,
  /** Loss for each 10,000 km above that (gain below). */
  lossPer10000Km: 0.03,
  /** The mileage factor stays within these bounds. */
  mileageBounds: [0.55, 1.35],
  /** Share left by each insurance claim of a source 12 vehicle. */
  claimFactor: 0.96,
  /** Share left when a source 12 vehicle counts as an accident car. */
  accidentFactor: 0.88,
  /** Level of each source against a retail price. */
  levels: new Map([
    [1, 0.8],
    [3, 0.84],
    [12, 1],
  ]) as ReadonlyMap<number, number>,
  /** Change of all prices a month, compounded. */
  trendPerMonth: -0.008,
  /** Where the trend is 1. */
  trendOrigin: Date.UTC(2026, 0, 1),
  /** Factor of the calendar month, January first; spring is high, late autumn low. */
  season: [0.97, 1.01, 1.05, 1.06, 1.04, 1.02, 1.0, 0.99, 0.98, 0.97, 0.95, 0.96],
  /** Standard deviation of the logarithm of the noise; its median is 1. */
  noise: 0.14,
  /** Buy Now prices of sources 1 and 3 stand this much above the value when the lot appears. */
  buyNowMarkup: 1.15,
  /** Share of the lots with a Buy Now price that, when they sell, sell at it. */
  buyNowShare: 0.4,
  /** Asking prices of source 12 stand this much above the expected price before any cut. */
  askingMarkup: 1.06,
  /** Each cut of an asking price leaves this share. */
  askingCut: 0.96,
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
}

/** Loss by age and mileage, 0 to about 1.3; `at` gives the age. */
export function wearFactor(year: number, km: number, at: Instant): number {
  const age = Math.max(0, (at - Date.UTC(year, 0, 1)) / (365.25 * DAY));
  const mileage = Math.exp((-market.lossPer10000Km * (km - age * market.kmPerYear)) / 10_000);
  const [low, high] = market.mileageBounds;
  return Math.exp(-market.lossPerYear * age) * Math.min(high, Math.max(low, mileage));
}

/** Trend and season of the market at an instant. */
export function marketFactor(at: Instant): number {
  const months = (at - market.trendOrigin) / (30.4375 * DAY);
  const month = new Date(at).getUTCMonth();
  return (1 + market.trendPerMonth) ** months * (market.season[month] ?? 1);
}

/** Discount of a lot by damage, title, claims and accident, 0 to 1. */
function discountFactor(facts: PriceFacts): number {
  const damage = facts.damage === null ? 1 : (damageFactors.get(facts.damage) ?? 1);
  const title = facts.title === null ? 1 : (titleFactors.get(facts.title) ?? 1);
  const accident = facts.accident ? market.accidentFactor : 1;
  return damage * title * market.claimFactor ** facts.claims * accident;
}

/** The median price of a lot that is sold at an instant, USD. */
export const expectedPrice = (facts: PriceFacts, at: Instant): number =>
  facts.newPrice *
  wearFactor(facts.year, facts.km, at) *
  discountFactor(facts) *
  (market.levels.get(facts.domain) ?? 1) *
  marketFactor(at);
