import type { OracleAttempt } from '../../oracle-attempts.js';
import { observedOf } from '../../oracle-marts.js';
import type { MartRow, WorldNight } from '../night.js';
import { isHeld } from '../ratios.js';
import { groupBy } from '../statistics.js';
import { attempts, names } from './sales.js';

/** Months since the year 0. */
function monthOf({ saleDate }: OracleAttempt): number {
  const at = new Date(saleDate);
  return at.getUTCFullYear() * 12 + at.getUTCMonth();
}

export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const past = attempts(night).filter(({ outcome }) => outcome !== 'upcoming');
  const groups = groupBy(past, (attempt) => `${attempt.lot.domain} ${monthOf(attempt)}`);
  return [...groups].map(([key, group]): MartRow => {
    const [domainId = 0, month = 0] = key.split(' ').map(Number);
    const observed = observedOf(night.world, domainId, month);
    const counts = group.filter(({ isObserved }) => isObserved);
    const pooled = [0, 1, 2]
      .flatMap((back) => groups.get(`${domainId} ${month - back}`) ?? [])
      .filter(({ isObserved }) => isObserved);
    const all = tally(counts, night.minimumGroup);
    const first = tally(
      counts.filter(({ attempt }) => attempt === 1),
      night.minimumGroup,
    );
    const later = tally(
      counts.filter(({ attempt }) => attempt > 1),
      night.minimumGroup,
    );
    const figures = {
      lots_offered: all.offered,
      lots_unresolved: counts.length - all.offered,
      lots_sold: all.sold,
      lots_not_sold: counts.filter(({ outcome }) => outcome === 'not_sold').length,
      lots_on_approval: counts.filter(({ outcome }) => outcome === 'on_approval').length,
      sell_through: all.rate,
      first_offered: first.offered,
      first_sold: first.sold,
      first_sell_through: first.rate,
      later_offered: later.offered,
      later_sold: later.sold,
      later_sell_through: later.rate,
      sell_through_3m: tally(pooled, night.minimumGroup).rate,
    };
    // For months that were not observed, unsold lots are known but sold lots are not, so all figures are null.
    const none = Object.fromEntries(Object.keys(figures).map((name) => [name, null]));
    return {
      month: new Date(Date.UTC(Math.floor(month / 12), month % 12)).toISOString().slice(0, 10),
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      observed,
      ...(observed === 'none' ? none : figures),
    };
  });
}

function tally(group: readonly OracleAttempt[], least: number) {
  const offered = group.filter(isHeld).length;
  const sold = group.filter(({ outcome }) => outcome === 'sold').length;
  return { offered, sold, rate: offered < least || offered === 0 ? null : sold / offered };
}
