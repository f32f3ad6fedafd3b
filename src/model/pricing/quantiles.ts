const BINS_A_UNIT = 50;
const FARTHEST = 8;
const BINS = 2 * FARTHEST * BINS_A_UNIT;
/** Values of a class from which it has quantiles of its own. */
const ENOUGH = 200;
const SHARES = [0.1, 0.25, 0.75, 0.9];

/** How values are distributed, by class, in constant memory. */
export class Quantiles {
  readonly #counts: readonly Float64Array[];
  /** The last class is all together. */
  readonly #totals: Float64Array;

  constructor(classes: number) {
    this.#counts = Array.from({ length: classes + 1 }, () => new Float64Array(BINS));
    this.#totals = new Float64Array(classes + 1);
  }

  add(member: number, value: number): void {
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor((value + FARTHEST) * BINS_A_UNIT)));
    for (const at of [member, this.#totals.length - 1]) {
      const counts = this.#counts[at];
      if (counts !== undefined) counts[bin] = (counts[bin] ?? 0) + 1;
      this.#totals[at] = (this.#totals[at] ?? 0) + 1;
    }
  }

  /** Whether there are enough values for quantiles. */
  get isEnough(): boolean {
    return (this.#totals.at(-1) ?? 0) >= ENOUGH;
  }

  /** The quantiles at 0.1, 0.25, 0.75 and 0.9 of a class, or of all values where it has few. */
  of(member: number): readonly number[] {
    const at = (this.#totals[member] ?? 0) >= ENOUGH ? member : this.#totals.length - 1;
    const counts = this.#counts[at] ?? new Float64Array();
    const total = this.#totals[at] ?? 0;
    return SHARES.map((share) => quantile(counts, share * total));
  }
}

function quantile(counts: Float64Array, rank: number): number {
  let sum = 0;
  for (const [bin, count] of counts.entries()) {
    if (count > 0 && sum + count >= rank) return (bin + (rank - sum) / count) / BINS_A_UNIT - FARTHEST;
    sum += count;
  }
  return 0;
}
