/** Plans of a key; they decide how many records a page may hold. */
export type Plan = 'demo' | 'small' | 'unlimited';

/** Page sizes of a list (service.md, limits). */
export interface PageSizes {
  readonly fallback: number;
  readonly highest: Readonly<Record<Plan, number>>;
}

const everyPlan = (size: number) => ({ demo: size, small: size, unlimited: size }) as const;
const fixed = (size: number) => ({ fallback: size, highest: everyPlan(size) }) as const;

/** Page sizes of the lists; where a list has no `per_page`, its only one. */
export const pageSizes = {
  cars: { fallback: 50, highest: { demo: 50, small: 50, unlimited: 1000 } },
  scroll: { fallback: 1000, highest: { demo: 50, small: 50, unlimited: 2000 } },
  archivedLots: { fallback: 100, highest: { demo: 100, small: 100, unlimited: 1000 } },
  statistics: { fallback: 100, highest: { demo: 10, small: 500, unlimited: 500 } },
  duplicates: { fallback: 1000, highest: everyPlan(5000) },
  manufacturers: fixed(1000),
  models: fixed(500),
  generations: fixed(500),
  reference: fixed(1000),
} as const satisfies Record<string, PageSizes>;

/** Requests a day of a plan; null for no limit. A demo key has 100 to 150 (field-notes.md). */
export const requestsPerDay: Readonly<Record<Plan, number | null>> = {
  demo: 120,
  small: null,
  unlimited: null,
};

/** Results that `/search` can page through (service.md, limits). */
export const SEARCH_WINDOW = 10_000;
/** Continuation requests of one scroll: enough for a full pass at the smallest usual page. */
export const SCROLL_REQUESTS = 5_000;
