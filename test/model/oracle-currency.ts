/** The facts of a lot that determine the currency of its amounts. */
interface Placed {
  readonly domain: number;
  /** Code of the country of the lot, as the lot gives it. */
  readonly country: string | null;
}

/**
 * Currency of the amounts of a lot, as far as it is known: US dollars at source 12 in all countries, and at sources 1
 * and 3 in the United States.
 */
export function currencyOf({ domain, country }: Placed): 'USD' | null {
  if (domain === 12) return 'USD';
  return [1, 3].includes(domain) && country?.trim().toUpperCase() === 'US' ? 'USD' : null;
}

/** Fewest values for a statistic of amounts. If their currency is unknown, no number is enough. */
export const leastAmounts = (least: number, currency: string | null): number =>
  currency === null ? Number.POSITIVE_INFINITY : least;
