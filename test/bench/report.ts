import Table from 'cli-table3';

/** The bound of a figure, in the unit of the figure. */
export type Target = { readonly most: number } | { readonly least: number };

/** Collects figures for a table with their targets, and prints each at once. */
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

  /** A measurement without a target. */
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
