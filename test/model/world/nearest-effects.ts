/** What price_levels says of the groups of other marts, for their oracles. */
import type { MartRow, WorldNight } from './night.js';

const LEVELS = ['all', 'source', 'manufacturer', 'model', 'generation'];

/** The effect of a group with the level that has it; logarithms. */
interface NearestEffect {
  readonly effect: number;
  readonly variance: number;
  /** Place of the level: 0 is all, 4 a generation. */
  readonly depth: number;
  readonly ownWeight: number;
}

/** The effect of a value in the group of such ids; undefined if no price has the value. */
export type EffectOf = (ids: readonly (number | null)[], value: string) => NearestEffect | undefined;

/** Variance of a logarithm from the ends of its 95 % interval. */
export const varianceOf = (low: unknown, high: unknown): number =>
  (Math.log(Number(high) / Number(low)) / 3.92) ** 2;

/**
 * The effects of a subject in the auction market. A group without a price of the value has the effect of the nearest
 * level above that has one, and a variance that is larger by the spreads of the levels between.
 */
export async function nearestEffects(night: WorldNight, subject: string): Promise<EffectOf> {
  const rows = (await night.rows('price_levels')).filter(
    (row) => row.market === 'auction' && row.subject === subject,
  );
  const byPlace = new Map(rows.map((row): [string, MartRow] => [`${row.place} ${row.value}`, row]));
  const spreads = LEVELS.map(
    (level) => Number(rows.find((row) => row.level === level)?.level_deviation ?? 0) ** 2,
  );
  return (ids, value) => {
    for (let depth = ids.length; depth >= 0; depth -= 1) {
      const place = ids.slice(0, depth).map((id) => `/${id ?? -1}`);
      const row = byPlace.get(`${place.join('')} ${value}`);
      if (row === undefined) continue;
      const unseen = spreads.slice(depth + 1, ids.length + 1).reduce((sum, spread) => sum + spread, 0);
      return {
        effect: Math.log(Number(row.effect)),
        variance: varianceOf(row.effect_low, row.effect_high) + unseen,
        depth,
        ownWeight: depth === ids.length ? Number(row.own_weight) : 0,
      };
    }
    return undefined;
  };
}
