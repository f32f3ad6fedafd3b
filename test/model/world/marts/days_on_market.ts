import type { OracleAttempt } from '../../oracle-attempts.js';
import { instantOf, type LotOfNight, type MartRow, type WorldNight } from '../night.js';
import { groupBy, median, percentile } from '../statistics.js';
import { brandOf } from './lot_breakdown.js';
import { attempts, names } from './sales.js';

const DAY = 86_400_000;
const Z = 1.959963984540054;

/** The ages, in days, at which a lot was watched, and whether it was sold or left at the last of them. */
interface Life {
  readonly first: number;
  readonly last: number;
  readonly end: 'sold' | 'left' | 'open';
}

/** The share of lots that are unsold after an age, with its interval. */
interface Point {
  readonly age: number;
  readonly unsold: number;
  readonly low: number;
  readonly high: number;
}

/** A point for each age with a sale, as long as enough lots are watched. */
function* curve(lives: readonly Life[], least: number): Generator<Point> {
  const oldest = Math.max(...lives.map(({ last }) => last));
  let unsold = 1;
  let variance = 0;
  for (let age = 0; age <= oldest; age++) {
    const watched = lives.filter(({ first, last }) => first <= age && age <= last).length;
    const sold = lives.filter(({ last, end }) => end === 'sold' && last === age).length;
    if (sold === 0) continue;
    if (watched < least) return;
    unsold *= 1 - sold / watched;
    variance += sold / (watched * (watched - sold));
    if (watched === sold) return yield { age, unsold: 0, low: 0, high: 1 };
    const error = (Z * Math.sqrt(variance)) / Math.abs(Math.log(unsold));
    yield { age, unsold, low: unsold ** Math.exp(error), high: unsold ** Math.exp(-error) };
  }
}

/** Whole days (UTC) between two instants; empty if one is unknown or they are in the wrong order. */
function daysBetween(from: number | null, to: number | null): number[] {
  if (from === null || to === null) return [];
  const days = Math.floor(to / DAY) - Math.floor(from / DAY);
  return days < 0 ? [] : [days];
}

const createdAt = ({ raw }: LotOfNight): number | null => instantOf(raw.created_at);

/** What is known of sold, open and left lots, watched or not. */
function known(night: WorldNight, leftAt: ReadonlyMap<number, number | null>) {
  const { minimumGroup: least, now } = night;
  const sale = new Map(
    attempts(night)
      .filter(({ outcome }) => outcome === 'sold')
      .map((attempt) => [attempt.lot.id, attempt]),
  );
  // The vehicle's way to a sale begins when the first of its lots on that way is put up.
  const wayOf = ({ lot, round }: OracleAttempt): string => `${lot.vehicle} ${round}`;
  const firstLots = new Map<string, number>();
  for (const attempt of attempts(night)) {
    const served = night.lots.get(attempt.lot.id);
    const at = served === undefined ? null : createdAt(served);
    const way = wayOf(attempt);
    if (at !== null) firstLots.set(way, Math.min(at, firstLots.get(way) ?? at));
  }
  return (group: readonly LotOfNight[]): MartRow => {
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
      known_sold: sold.length,
      timed_lots: days.length,
      sold_days_median: median(days, least),
      sold_days_p25: percentile(days, 0.25, least),
      sold_days_p75: percentile(days, 0.75, least),
      sold_days_p90: percentile(days, 0.9, least),
      attempts_mean: sold.length < least ? null : tries / sold.length,
      timed_vehicles: wayDays.length,
      vehicle_days_median: median(wayDays, least),
      vehicle_attempts_mean: sold.length < least ? null : wayTries / sold.length,
      open_lots: open.length,
      open_days_median: median(
        open.flatMap((served) => daysBetween(createdAt(served), now)),
        least,
      ),
      known_left: left.length,
      left_days_median: median(
        left.flatMap((served) => daysBetween(createdAt(served), leftAt.get(served.lot.id) ?? null)),
        least,
      ),
    };
  };
}

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer, model } = names(night);
  // The lake knows when a lot left, for some lots from the feed and for others from the archive feed.
  const leftAt = new Map(
    (await night.rows('lots')).map((row) => [Number(row.lot_id), row.archived_at as number | null]),
  );
  const knownOf = known(night, leftAt);
  const bands = new Map(
    (await night.rows('price_estimates')).map((row) => [
      Number(row.lot_id),
      row.estimate_band as string | null,
    ]),
  );
  const soldAt = new Map(
    attempts(night)
      .filter(({ outcome }) => outcome === 'sold')
      .map(({ lot, saleDate }) => [lot.id, saleDate]),
  );
  const day = (instant: number): number => Math.floor(instant / DAY);

  function lifeOf(served: LotOfNight, from: number, to: number): Life | undefined {
    const { lot } = served;
    const created = createdAt(served);
    if (created === null) return undefined;
    const left = lot.archived ? (leftAt.get(lot.id) ?? null) : null;
    const sold = soldAt.get(lot.id);
    const wholeDays = { first: day(from) + 1, last: day(to) - 1 };
    const [ended, end] = sold === undefined ? ([left, 'left'] as const) : ([sold, 'sold'] as const);
    const isSeen = ended !== null && day(ended) <= wholeDays.last;
    const first = Math.max(0, wholeDays.first - day(created));
    const last = (isSeen ? day(ended) : wholeDays.last) - day(created);
    return last < first ? undefined : { first, last, end: isSeen ? end : 'open' };
  }

  const spans = new Map(
    night.world.spans.filter(({ domain }) => domain !== 12).map((span) => [span.domain, span]),
  );
  return [...groupBy(night.lots.values(), ({ lot }) => String(lot.domain))].flatMap(([key, lots]) => {
    const source = Number(key);
    const span = spans.get(source);
    const makeOf = ({ vehicle }: LotOfNight): number | null => vehicle.manufacturer?.id ?? null;
    const levels = [
      ['source', groupBy(lots, () => '')],
      ['make', groupBy(lots, (lot) => JSON.stringify([makeOf(lot)]))],
      ['model', groupBy(lots, (lot) => JSON.stringify([makeOf(lot), lot.vehicle.model?.id ?? null]))],
      ['title', groupBy(lots, ({ raw }) => brandOf(raw))],
      ['estimate', groupBy(lots, ({ lot }) => bands.get(lot.id) ?? 'unknown')],
    ] as const;
    return levels.flatMap(([level, groups]) =>
      [...groups].map(([name, group]): MartRow => {
        const lives = group.flatMap((lot) =>
          span === undefined ? [] : (lifeOf(lot, span.from, span.to) ?? []),
        );
        const count = (end: Life['end']): number => lives.filter((life) => life.end === end).length;
        const points = count('sold') < night.minimumGroup ? [] : [...curve(lives, night.minimumGroup)];
        const reach = (share: number, of: 'unsold' | 'low' | 'high'): number | null =>
          points.find((point) => point[of] <= share + 1e-9)?.age ?? null;
        const [make = null, modelId = null]: (number | null)[] =
          level === 'make' || level === 'model' ? JSON.parse(name) : [];
        return {
          level,
          domain_id: source,
          domain_name: domain.get(source) ?? null,
          manufacturer_id: make,
          manufacturer_name: make === null ? null : (manufacturer.get(make) ?? null),
          model_id: modelId,
          model_name: modelId === null ? null : (model.get(modelId) ?? null),
          title_brand: level === 'title' ? name : null,
          estimate_band: level === 'estimate' ? name : null,
          observed_from: span?.from ?? null,
          observed_to: span?.to ?? null,
          lots: span === undefined ? null : lives.length,
          sold: span === undefined ? null : count('sold'),
          left_lots: span === undefined ? null : count('left'),
          days_p25: reach(0.75, 'unsold'),
          days_p25_low: reach(0.75, 'low'),
          days_p25_high: reach(0.75, 'high'),
          days_median: reach(0.5, 'unsold'),
          days_median_low: reach(0.5, 'low'),
          days_median_high: reach(0.5, 'high'),
          days_p75: reach(0.25, 'unsold'),
          days_p75_low: reach(0.25, 'low'),
          days_p75_high: reach(0.25, 'high'),
          ...knownOf(group),
        };
      }),
    );
  });
}
