import type { OracleAttempt } from '../../oracle-attempts.js';
import { observedOf } from '../../oracle-marts.js';
import type { MartRow, WorldNight } from '../night.js';
import { isHeld, ratiosTo } from '../ratios.js';
import { groupBy, median } from '../statistics.js';
import { attempts, names } from './sales.js';

/** Months since the year 0. */
function monthOf({ saleDate }: OracleAttempt): number {
  const at = new Date(saleDate);
  return at.getUTCFullYear() * 12 + at.getUTCMonth();
}

const nulls = (...columns: readonly string[]): MartRow =>
  Object.fromEntries(columns.map((name) => [name, null]));

/** Columns that only rows of attempts fill. */
const OF_ATTEMPT = nulls(
  'attempt',
  'offered_again_lots',
  'days_since_previous_median',
  'changed_lots',
  'amount_change_share_median',
  'compared_lots',
  'price_ratio_to_first_median',
);

/** Columns that only rows of months fill. */
const OF_MONTH = nulls(
  'sale_month',
  'observed',
  'lots_unresolved',
  'first_offered',
  'first_sold',
  'first_sell_through',
  'later_offered',
  'later_sold',
  'later_sell_through',
  'sell_through_3m',
);

const sinceOf = ({ world }: WorldNight, domainId: number): MartRow[string] =>
  world.spans.find((span) => span.domain === domainId)?.from ?? null;

export const rows = (night: WorldNight): MartRow[] => [...monthRows(night), ...attemptRows(night)];

function attemptRows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const { minimumGroup: least } = night;
  const held = attempts(night).filter((attempt) => attempt.isObserved && isHeld(attempt));
  const ratiosOf = ratiosTo(
    night,
    held.filter(({ attempt }) => attempt === 1),
  );
  const groups = groupBy(held, ({ lot, attempt }) => `${lot.domain} ${Math.min(attempt, 10)}`);
  return [...groups].map(([key, group]): MartRow => {
    const [domainId = 0, attempt = 0] = key.split(' ').map(Number);
    const sold = group.filter(({ outcome }) => outcome === 'sold').length;
    const days = group.flatMap(({ daysSince }) => daysSince ?? []);
    const changes = group.flatMap(({ amount, change }) =>
      amount === null || change === null ? [] : [amount / (amount - change) - 1],
    );
    const ratios = ratiosOf(group);
    return {
      ...OF_MONTH,
      level: 'attempt',
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      observed_since: sinceOf(night, domainId),
      attempt,
      lots_offered: group.length,
      lots_sold: sold,
      lots_not_sold: group.filter(({ outcome }) => outcome === 'not_sold').length,
      lots_on_approval: group.filter(({ outcome }) => outcome === 'on_approval').length,
      offered_again_lots: group.filter(({ reason }) => reason === 'offered_again').length,
      sell_through: group.length < least ? null : sold / group.length,
      days_since_previous_median: median(days, least),
      changed_lots: changes.length,
      amount_change_share_median: median(changes, least),
      compared_lots: ratios.length,
      price_ratio_to_first_median: median(ratios, least),
    };
  });
}

function monthRows(night: WorldNight): MartRow[] {
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
      ...OF_ATTEMPT,
      level: 'month',
      sale_month: new Date(Date.UTC(Math.floor(month / 12), month % 12)).toISOString().slice(0, 10),
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      observed_since: sinceOf(night, domainId),
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
