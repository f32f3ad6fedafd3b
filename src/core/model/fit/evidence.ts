/** A squared effect, its remaining variance, and how many effects it counts as; 1 if missing. */
export type Square = readonly [effect: number, left: number, count?: number];

/** A spread that is assumed before effects are known, and the number of effects that it counts as. */
export interface Assumed {
  readonly usual: number;
  readonly prior: number;
}

/**
 * MacKay's step: an effect that the prices determine counts fully, one that is only shrunk does not count. The assumed
 * spread counts as some effects more, so that the spread of a few effects neither vanishes nor grows at once.
 */
export function evidence(
  variance: number,
  squares: readonly Square[],
  { usual, prior }: Assumed,
): { variance: number; freedom: number } {
  const sum = squares.reduce((total, [effect, , count = 1]) => total + count * effect, 0);
  const freedom = squares.reduce(
    (total, [, left, count = 1]) => total + count * Math.max(0, 1 - left / variance),
    0,
  );
  return { variance: (sum + prior * usual) / (freedom + prior), freedom };
}
