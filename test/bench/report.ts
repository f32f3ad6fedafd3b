import Table from 'cli-table3';

/** What a figure has to be: a bound from above or from below, in the unit of the figure. */
export type Target = { readonly most: number } | { readonly least: number };

/** Gathers figures and prints them beside their targets. */
export class BenchReport {
  readonly #grid = new Table({
    head: ['what', 'measured', 'figure', 'target', ''],
    style: { head: [], border: [] },
  });

  /** A figure with a target. */
  figure(what: string, measured: string, value: number, target: Target): void {
    const isMet = 'most' in target ? value <= target.most : value >= target.least;
    const bound = 'most' in target ? `≤ ${target.most}` : `≥ ${target.least}`;
    this.#grid.push([what, measured, value.toFixed(2), bound, isMet ? 'met' : 'MISSED']);
  }

  /** Something measured that no target is set for. */
  note(what: string, measured: string, value?: number): void {
    this.#grid.push([what, measured, value?.toFixed(2) ?? '', '', '']);
  }

  toString(): string {
    return this.#grid.toString();
  }
}
