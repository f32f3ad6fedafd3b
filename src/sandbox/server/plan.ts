/** Plans of a key; they decide how many records a page may hold. */
export type Plan = 'demo' | 'small' | 'unlimited';

/** Page sizes of a list (service.md, limits). */
export interface PageSizes {
  readonly fallback: number;
  readonly highest: Readonly<Record<Plan, number>>;
}

/** Page sizes of the lists that have them. */
export const pageSizes = {
  cars: { fallback: 50, highest: { demo: 50, small: 50, unlimited: 1000 } },
  archivedLots: { fallback: 100, highest: { demo: 100, small: 100, unlimited: 1000 } },
  statistics: { fallback: 100, highest: { demo: 10, small: 500, unlimited: 500 } },
} as const satisfies Record<string, PageSizes>;
