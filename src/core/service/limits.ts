/** Plans of a key (service.md#access); they decide how many records a page may hold. */
export type Plan = 'demo' | 'small' | 'unlimited';

/** How many records a page of a list may hold. */
export interface PageSizes {
  /** What the service takes when it is left out. */
  readonly fallback: number;
  /** Largest page of the endpoint, on any plan. */
  readonly most: number;
  /** Plans that have less. */
  readonly plans: Readonly<Partial<Record<Plan, number>>>;
}

/** Page sizes of the lists that take one (service.md#limits). */
export const pageSizes = {
  cars: { fallback: 50, most: 1000, plans: { demo: 50, small: 50 } },
  archivedLots: { fallback: 100, most: 1000, plans: { demo: 100, small: 100 } },
  statistics: { fallback: 100, most: 500, plans: { demo: 10 } },
  duplicates: { fallback: 1000, most: 5000, plans: {} },
  scroll: { fallback: 1000, most: 2000, plans: { demo: 50, small: 50 } },
} as const satisfies Record<string, PageSizes>;

/** Longest window of a `minutes` parameter (service.md#limits). */
export const MOST_MINUTES = 4320;

/** Longest time that a scroll waits for its next request, and the default, in minutes (service.md#scroll). */
export const SCROLL_MINUTES = { most: 15, fallback: 10 } as const;

/** Results that `/search` can page through (service.md#limits). */
export const SEARCH_WINDOW = 10_000;

/** Requests a day of a plan; null for no limit. A demo key has 100 to 150 (service.md#access). */
export const requestsPerDay: Readonly<Record<Plan, number | null>> = {
  demo: 120,
  small: null,
  unlimited: null,
};
