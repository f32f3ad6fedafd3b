/** What tells in which currency the amounts of a lot are. */
interface Placed {
  readonly domain: number;
  /** Code of the country where the lot stands, as the lot gives it. */
  readonly country: string | null;
}

/**
 * In which currency the amounts of a lot are, as far as anybody says: those of source 12 in US dollars wherever the lot
 * stands, those of sources 1 and 3 in US dollars in the United States.
 */
export function currencyOf({ domain, country }: Placed): 'USD' | null {
  if (domain === 12) return 'USD';
  return [1, 3].includes(domain) && country?.trim().toUpperCase() === 'US' ? 'USD' : null;
}

/** Fewest values of a statistic of amounts: no number of them is enough where nobody says in which currency they are. */
export const leastAmounts = (least: number, currency: string | null): number =>
  currency === null ? Number.POSITIVE_INFINITY : least;
