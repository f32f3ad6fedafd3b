import { sumOf } from '../../base/config/printable.js';
import wording from '../data/wording.json' with { type: 'json' };
import type { Car } from './car.js';
import { DAY, type Instant, wholeSecond } from './instants.js';
import type { Population } from './population.js';
import { between, chance, hash, pick, type Rng, Salt, stream, unit } from './random.js';

/** An insurance claim; amounts in KRW. */
export type Claim = Readonly<ReturnType<typeof claim>>;

/** A visit to a workshop or to the statutory inspection. */
export type Visit = Past['visits'][number];

/** What happened to a source 12 vehicle before it was listed. */
export type Past = Readonly<ReturnType<typeof pastOf>>;

/** The odometer of one car in this many was wound back before the car was listed. */
const ROLLED_BACK = 12;

/** Such a car was driven this many times as far as its lots say. */
const ROLLED_BACK_BY = 3;

export const isRolledBack = (world: Population, index: number): boolean =>
  hash(world.seed, index, Salt.rolledBack) % ROLLED_BACK === 0;

/** The past of a car, oldest first, all before `listedAt`. */
export function pastOf(world: Population, car: Car, listedAt: Instant) {
  const rng = stream(world.seed, car.index, Salt.past);
  const first = Math.min(Date.UTC(car.year, between(rng, 0, 11), between(rng, 1, 28)), listedAt - 40 * DAY);
  const span = listedAt - 10 * DAY - first;
  const years = span / (365.25 * DAY);
  const dates = (count: number): Instant[] =>
    Array.from({ length: count }, () => wholeSecond(first + unit(rng) * span)).sort((a, b) => a - b);
  const owners = dates(Math.floor(unit(rng) * (1 + years / 2.5)));
  const claims = dates(claimCount(rng, years)).map((at) => claim(rng, at));
  const wound = isRolledBack(world, car.index) ? ROLLED_BACK_BY : 1;
  const uninsured = chance(rng, 0.15) ? first + 0.5 * span : null;
  const rare = stream(world.seed, car.index, Salt.later);
  const once = (share: number): Instant | null => {
    const at = wholeSecond(first + unit(rare) * span);
    return chance(rare, share) ? at : null;
  };
  return {
    insuredAt: once(0.3),
    recalledAt: once(0.15),
    // When a workshop made an offer for a repair that was not done.
    quotedAt: once(0.12),
    totalLostAt: once(0.03),
    // When the vehicle changed between private and business use.
    usageChangedAt: once(0.08),
    registeredAt: wholeSecond(first),
    claims,
    owners,
    plates: owners.filter(() => chance(rng, 0.4)),
    visits: dates(between(rng, 1, Math.min(7, 1 + Math.ceil(years)))).map((at) => ({
      at,
      km: Math.round((wound * car.km * (at - first)) / (span + 10 * DAY)),
      place: pick(rng, wording.korean.workshops),
      statutory: chance(rng, 0.4),
    })),
    // Whether the frame was repaired: such a vehicle counts as an accident car.
    accident: claims.some((entry) => entry.own) && chance(rng, 0.3),
    flooded: chance(rng, 0.03),
    stolen: chance(rng, 0.02),
    rental: chance(rng, 0.12),
    uninsured:
      uninsured === null ? null : ([wholeSecond(uninsured), wholeSecond(uninsured + 90 * DAY)] as const),
  };
}

/** Claims for damage to the car itself and to other cars: their number, and the amount that the insurance paid, KRW. */
export function claimTotals({ claims }: Pick<Past, 'claims'>) {
  const [own, other] = [claims.filter((claim) => claim.own), claims.filter((claim) => !claim.own)];
  const cost = (list: readonly Claim[]): number => sumOf(list, (claim) => claim.benefit);
  return { own: own.length, ownCost: cost(own), other: other.length, otherCost: cost(other) };
}

const claimCount = (rng: Rng, years: number): number =>
  chance(rng, 0.4) ? 0 : Math.min(7, Math.floor(-Math.log(1 - unit(rng)) * (0.6 + years / 4)));

function claim(rng: Rng, at: Instant) {
  const parts = between(rng, 0, 40) * 55_500;
  const labor = between(rng, 5, 60) * 14_850;
  const painting = between(rng, 5, 80) * 8_640;
  return {
    at,
    // Whether this vehicle was damaged (else it damaged another).
    own: chance(rng, 0.65),
    parts,
    labor,
    painting,
    benefit: Math.round((parts + labor + painting) * 0.95),
  };
}
