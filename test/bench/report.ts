import Table from 'cli-table3';

/** What a figure has to be: a bound from above or from below, in the unit of the figure. */
export type Target = { readonly most: number } | { readonly least: number };

/** Gathers figures for a table of them beside their targets, and prints each as it comes. */
export class BenchReport {
  readonly #grid = new Table({
    head: ['what', 'measured', 'figure', 'target', ''],
    style: { head: [], border: [] },
  });

  /** A figure with a target. */
  figure(what: string, measured: string, value: number, target: Target): void {
    const isMet = 'most' in target ? value <= target.most : value >= target.least;
    const bound = 'most' in target ? `≤ ${target.most}` : `≥ ${target.least}`;
    this.#add(what, measured, value.toFixed(2), bound, isMet ? 'met' : 'MISSED');
  }

  /** Something measured that no target is set for. */
  note(what: string, measured: string, value?: number): void {
    this.#add(what, measured, value?.toFixed(2) ?? '', '', '');
  }

  #add(...cells: string[]): void {
    console.error(cells.filter((cell) => cell !== '').join('  '));
    this.#grid.push(cells);
  }

  toString(): string {
    return this.#grid.toString();
  }
}
