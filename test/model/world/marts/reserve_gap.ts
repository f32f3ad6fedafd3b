import type { OracleAttempt } from '../../oracle-attempts.js';
import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { cents, groupBy, median, percentile } from '../statistics.js';
import { attempts, names } from './sales.js';

interface Gap {
  readonly domain: number;
  readonly outcome: string;
  readonly currency: string | null;
  readonly amount: number;
  readonly reserve: number;
}

const isPossible = (amount: unknown): amount is number =>
  typeof amount === 'number' && amount >= 1 && amount <= 5_000_000;

export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const last = new Map<number, OracleAttempt>();
  for (const attempt of attempts(night))
    if (['sold', 'not_sold', 'on_approval'].includes(attempt.outcome)) last.set(attempt.lot.id, attempt);
  const observed = [...last.values()].filter(({ isObserved }) => isObserved);
  const gaps = observed.flatMap(({ lot, outcome, amount, outlier }): Gap[] => {
    const reserve = night.lots.get(lot.id)?.raw.seller_reserve?.price;
    return isPossible(reserve) && isPossible(amount) && outlier === null
      ? [{ domain: lot.domain, currency: currencyOf(lot), outcome, amount, reserve }]
      : [];
  });
  return [...groupBy(gaps, (gap) => `${gap.domain} ${gap.outcome} ${gap.currency}`).values()].flatMap(
    (lots): MartRow[] => {
      const [first] = lots;
      if (first === undefined) return [];
      const least = leastAmounts(night.minimumGroup, first.currency);
      const met = lots.filter(({ amount, reserve }) => amount >= reserve).length;
      const shares = lots.map(({ amount, reserve }) => amount / reserve - 1);
      const middle = (read: (gap: Gap) => number): number | null => cents(median(lots.map(read), least));
      return [
        {
          domain_id: first.domain,
          domain_name: domain.get(first.domain) ?? null,
          observed_since: night.world.spans.find((span) => span.domain === first.domain)?.from ?? null,
          outcome: first.outcome,
          lots: lots.length,
          met_lots: met,
          met_share: lots.length < least ? null : met / lots.length,
          currency: first.currency,
          reserve_median: middle(({ reserve }) => reserve),
          amount_median: middle(({ amount }) => amount),
          gap_median: middle(({ amount, reserve }) => amount - reserve),
          gap_share_median: median(shares, least),
          gap_share_p25: percentile(shares, 0.25, least),
          gap_share_p75: percentile(shares, 0.75, least),
        },
      ];
    },
  );
}
