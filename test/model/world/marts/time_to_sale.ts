import type { OracleAttempt } from '../../oracle-attempts.js';
import { instantOf, type LotOfNight, type MartRow, type WorldNight } from '../night.js';
import { groupBy, median, percentile } from '../statistics.js';
import { attempts, names } from './sales.js';

const DAY = 86_400_000;

/** Whole days (UTC) between two instants; empty if one is unknown or they are in the wrong order. */
function daysBetween(from: number | null, to: number | null): number[] {
  if (from === null || to === null) return [];
  const days = Math.floor(to / DAY) - Math.floor(from / DAY);
  return days < 0 ? [] : [days];
}

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer, model } = names(night);
  const { minimumGroup: least, now } = night;
  // The lake knows when a lot left, for some lots from the feed and for others from the archive feed.
  const leftAt = new Map((await night.rows('lots')).map((row) => [Number(row.lot_id), row.archived_at]));
  const sale = new Map(
    attempts(night)
      .filter(({ outcome }) => outcome === 'sold')
      .map((attempt) => [attempt.lot.id, attempt]),
  );
  const createdAt = ({ raw }: LotOfNight): number | null => instantOf(raw.created_at);
  // The vehicle's way to a sale begins when the first of its lots on that way is put up.
  const wayOf = ({ lot, round }: OracleAttempt): string => `${lot.vehicle} ${round}`;
  const firstLots = new Map<string, number>();
  for (const attempt of attempts(night)) {
    const served = night.lots.get(attempt.lot.id);
    const at = served === undefined ? null : createdAt(served);
    const way = wayOf(attempt);
    if (at !== null) firstLots.set(way, Math.min(at, firstLots.get(way) ?? at));
  }
  const groups = groupBy(night.lots.values(), ({ lot, vehicle }) =>
    JSON.stringify([lot.domain, vehicle.manufacturer?.id ?? null, vehicle.model?.id ?? null]),
  );
  return [...groups].map(([key, group]): MartRow => {
    const [domainId, manufacturerId, modelId] = JSON.parse(key);
    const sold = group.flatMap((served) => {
      const attempt = sale.get(served.lot.id);
      return attempt === undefined ? [] : [{ served, attempt }];
    });
    const days = sold.flatMap(({ served, attempt }) => daysBetween(createdAt(served), attempt.saleDate));
    const left = group.filter(({ lot }) => lot.archived);
    const open = group.filter(({ lot }) => !lot.archived && !sale.has(lot.id));
    const wayDays = sold.flatMap(({ attempt }) =>
      daysBetween(firstLots.get(wayOf(attempt)) ?? null, attempt.saleDate),
    );
    const wayTries = sold.reduce((sum, { attempt }) => sum + attempt.vehicleAttempt, 0);
    const tries = sold.reduce((sum, { attempt }) => sum + attempt.attempt, 0);
    return {
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      manufacturer_id: manufacturerId,
      manufacturer_name: manufacturer.get(manufacturerId) ?? null,
      model_id: modelId,
      model_name: model.get(modelId) ?? null,
      lots_sold: sold.length,
      timed_lots: days.length,
      days_median: median(days, least),
      days_p25: percentile(days, 0.25, least),
      days_p75: percentile(days, 0.75, least),
      days_p90: percentile(days, 0.9, least),
      attempts_mean: sold.length < least ? null : tries / sold.length,
      timed_vehicles: wayDays.length,
      vehicle_days_median: median(wayDays, least),
      vehicle_attempts_mean: sold.length < least ? null : wayTries / sold.length,
      open_lots: open.length,
      open_days_median: median(
        open.flatMap((served) => daysBetween(createdAt(served), now)),
        least,
      ),
      left_lots: left.length,
      left_days_median: median(
        left.flatMap((served) =>
          daysBetween(createdAt(served), (leftAt.get(served.lot.id) as number | null) ?? null),
        ),
        least,
      ),
    };
  });
}
