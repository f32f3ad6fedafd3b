import type { LotOfNight, MartRow, WorldNight } from '../night.js';
import { median, percentile } from '../statistics.js';
import {
  createdAt,
  daysBetween,
  groupsOf,
  type Life,
  leavings,
  salesOf,
  spanOf,
  watched,
  waysSince,
} from './lot_days.js';
import { names } from './sales.js';
import { agesOf, type Incidence, incidence } from './sold_by_day.js';

const Z = 1.959963984540054;

/** The share of lots that are unsold after an age if none left, with its interval. */
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

/** What is known of sold, open and left lots, watched or not. */
function known(night: WorldNight, leftAt: ReadonlyMap<number, number | null>) {
  const { minimumGroup: least, now } = night;
  const sale = salesOf(night);
  const waySince = waysSince(night);
  return (group: readonly LotOfNight[]): MartRow => {
    const sold = group.flatMap((served) => {
      const attempt = sale.get(served.lot.id);
      return attempt === undefined ? [] : [{ served, attempt }];
    });
    const days = sold.flatMap(({ served, attempt }) => daysBetween(createdAt(served), attempt.saleDate));
    const left = group.filter(({ lot }) => lot.archived);
    const open = group.filter(({ lot }) => !lot.archived && !sale.has(lot.id));
    const wayDays = sold.flatMap(({ attempt }) => daysBetween(waySince(attempt), attempt.saleDate));
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
  const { minimumGroup: least } = night;
  const knownOf = known(night, await leavings(night));
  const watch = await watched(night);
  return (await groupsOf(night)).map(({ key, lots }): MartRow => {
    const span = spanOf(night, key.domain_id);
    const lives = lots.flatMap((lot) => watch(lot) ?? []);
    const count = (end: Life['end']): number => lives.filter((life) => life.end === end).length;
    const isEnough = count('sold') >= least;
    const points = isEnough ? [...curve(lives, least)] : [];
    const unsold = (share: number, of: 'unsold' | 'low' | 'high'): number | null =>
      points.find((point) => point[of] <= share + 1e-9)?.age ?? null;
    const ages = isEnough ? agesOf(lives) : [];
    const shares = ages.flatMap((_, age) => incidence(ages, age, least) ?? []);
    const sold = (share: number, of: keyof Incidence['sold']): number | null => {
      const age = shares.findIndex(
        ({ sold }) => (sold[of] ?? (of === 'high' ? sold.share : -1)) >= share - 1e-9,
      );
      return age < 0 ? null : age;
    };
    return {
      ...key,
      domain_name: domain.get(key.domain_id) ?? null,
      manufacturer_name:
        key.manufacturer_id === null ? null : (manufacturer.get(key.manufacturer_id) ?? null),
      model_name: key.model_id === null ? null : (model.get(key.model_id) ?? null),
      observed_from: span?.from ?? null,
      observed_to: span?.to ?? null,
      lots: span === undefined ? null : lives.length,
      sold: span === undefined ? null : count('sold'),
      left_lots: span === undefined ? null : count('left'),
      quarter_sold_by: sold(0.25, 'share'),
      quarter_sold_by_low: sold(0.25, 'high'),
      quarter_sold_by_high: sold(0.25, 'low'),
      half_sold_by: sold(0.5, 'share'),
      half_sold_by_low: sold(0.5, 'high'),
      half_sold_by_high: sold(0.5, 'low'),
      three_quarters_sold_by: sold(0.75, 'share'),
      three_quarters_sold_by_low: sold(0.75, 'high'),
      three_quarters_sold_by_high: sold(0.75, 'low'),
      days_p25: unsold(0.75, 'unsold'),
      days_p25_low: unsold(0.75, 'low'),
      days_p25_high: unsold(0.75, 'high'),
      days_median: unsold(0.5, 'unsold'),
      days_median_low: unsold(0.5, 'low'),
      days_median_high: unsold(0.5, 'high'),
      days_p75: unsold(0.25, 'unsold'),
      days_p75_low: unsold(0.25, 'low'),
      days_p75_high: unsold(0.25, 'high'),
      ...knownOf(lots),
    };
  });
}
