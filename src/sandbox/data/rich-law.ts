import { hash, type Rng, Salt, stream, unit } from '../world/random.js';

/**
 * What the rich law adds to the plain one (docs/change/sandbox.md): how a make ages and wears, what an engine and driven wheels
 * are worth within a model, that damage costs old cars less, that some branches sell below the others, and that a few
 * prices lie far off.
 */
export const richLaw = {
  /** Most that the loss a year and the loss by distance of a make differ from those of all, as a share of them. */
  ageSlope: 0.35,
  mileageSlope: 0.5,
  /** Most that an engine, and driven wheels, differ from the middle of their model, as logarithms. */
  engine: 0.22,
  wheels: 0.12,
  /** What the logarithm of the damage's factor is multiplied by, up to an age in years. */
  damageByAge: [
    [4, 1.4],
    [8, 1],
    [13, 0.75],
    [Number.POSITIVE_INFINITY, 0.5],
  ],
  /** Factors of branches, by the id of their place: one is alone in its state, one is not. */
  branches: new Map([
    [57, 0.8],
    [61, 0.8],
  ]),
  /** Share of prices whose noise is wider, and by how much. */
  tail: { share: 0.05, width: 3.5 },
} as const;

/** What the rich law needs of a car and its lot beside the facts of the plain one. */
export interface RichFacts {
  readonly make: number;
  readonly model: number;
  /** Id of the engine; null for a model with one engine. */
  readonly engine: number | null;
  /** Id of the driven wheels. */
  readonly wheels: number;
  /** Id of the place. */
  readonly place: number;
}

/** A number from -1 to 1 for two ids, always the same one. */
const drawn = (one: number, other: number): number => hash(one, other, Salt.law) / 0x8000_0000 - 1;

/**
 * The factor on the price beside the plain law.
 * @param age in years
 * @param beyond kilometres above the usual ones at this age
 * @param damage factor of the damage by the plain law
 */
export function richFactor(
  { make, model, engine, wheels, place }: RichFacts,
  { age, beyond, damage }: { readonly age: number; readonly beyond: number; readonly damage: number },
  plain: { readonly lossPerYear: number; readonly lossPer10000Km: number },
): number {
  const distance = Math.max(-100_000, Math.min(100_000, beyond));
  const [, byAge = 1] = richLaw.damageByAge.find(([below]) => age < below) ?? [];
  const log =
    -plain.lossPerYear * richLaw.ageSlope * drawn(make, 1) * (age - 6) -
    plain.lossPer10000Km * richLaw.mileageSlope * drawn(make, 2) * (distance / 10_000) +
    (engine === null ? 0 : richLaw.engine * drawn(model, engine)) +
    richLaw.wheels * drawn(model, -wheels) +
    (byAge - 1) * Math.log(damage);
  return Math.exp(log) * (richLaw.branches.get(place) ?? 1);
}

/** How many times as wide the noise of an attempt of a lot is. */
export function noiseWidth(seed: number, index: number, attempt: number): number {
  const rng: Rng = stream(seed, index, Salt.tail + attempt);
  return unit(rng) < richLaw.tail.share ? richLaw.tail.width : 1;
}
