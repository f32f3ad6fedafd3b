import { instantOf, type MartRow, type WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { attempts, names } from './sales.js';

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** One night is the first day of each source. All served lots are there, and none has come or left since. */
export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const day = dayOf(night.pass);
  const leftSince = new Set(
    night.archivedLots
      .filter(({ archived_at }) => (instantOf(archived_at) ?? 0) > night.pass)
      .map(({ lot_id }) => lot_id),
  );
  const held = attempts(night).filter(
    ({ attempt, outcome, saleDate }) =>
      attempt > 1 && ['sold', 'not_sold', 'on_approval'].includes(outcome) && dayOf(saleDate) === day,
  );
  return [...groupBy(night.lots.values(), ({ raw }) => String(raw.domain.id))].map(([id, lots]): MartRow => {
    const active = lots.filter(({ raw }) => raw.archived !== true && !leftSince.has(raw.id));
    return {
      day,
      domain_id: Number(id),
      domain_name: domain.get(Number(id)) ?? null,
      active_lots: active.length,
      new_lots: null,
      archived_lots: 0,
      relisted_lots: held.filter(({ lot }) => lot.domain === Number(id)).length,
      returned_lots: 0,
      first_day: true,
    };
  });
}
