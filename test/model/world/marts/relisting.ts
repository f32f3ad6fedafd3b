import type { MartRow, WorldNight } from '../night.js';
import { isHeld, ratiosTo } from '../ratios.js';
import { groupBy, median } from '../statistics.js';
import { attempts, names } from './sales.js';

export function rows(night: WorldNight): MartRow[] {
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
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      observed_since: night.world.spans.find((span) => span.domain === domainId)?.from ?? null,
      attempt,
      lots_reached: group.length,
      lots_sold: sold,
      offered_again_lots: group.filter(({ reason }) => reason === 'offered_again').length,
      sold_share: group.length < least ? null : sold / group.length,
      days_since_previous_median: median(days, least),
      changed_lots: changes.length,
      amount_change_share_median: median(changes, least),
      compared_lots: ratios.length,
      price_ratio_to_first_median: median(ratios, least),
    };
  });
}
