/** The facts of a lot that determine the currency of its amounts. */
interface Placed {
  readonly domain: number;
  /** Code of the country where the lot stands, as the lot gives it. */
  readonly country: string | null;
}

/**
 * Currency of the amounts of a lot, as far as it is known: US dollars for source 12 wherever the lot
 * stands, and for sources 1 and 3 in the United States.
 */
export function currencyOf({ domain, country }: Placed): 'USD' | null {
  if (domain === 12) return 'USD';
  return [1, 3].includes(domain) && country?.trim().toUpperCase() === 'US' ? 'USD' : null;
}

/** Fewest values of a statistic of amounts: no number of them is enough where their currency is unknown. */
export const leastAmounts = (least: number, currency: string | null): number =>
  currency === null ? Number.POSITIVE_INFINITY : least;
