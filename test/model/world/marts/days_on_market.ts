import { instantOf, type LotOfNight, type MartRow, type WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
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

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer } = names(night);
  const leftAt = new Map((await night.rows('lots')).map((row) => [Number(row.lot_id), row.archived_at]));
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

  function lifeOf({ lot, raw }: LotOfNight, from: number, to: number): Life | undefined {
    const created = instantOf(raw.created_at);
    if (created === null) return undefined;
    const left = lot.archived ? leftAt.get(lot.id) : null;
    const sold = soldAt.get(lot.id);
    const wholeDays = { first: day(from) + 1, last: day(to) - 1 };
    const [ended, end] =
      sold === undefined ? ([left as number | null, 'left'] as const) : ([sold, 'sold'] as const);
    const isSeen = ended !== null && day(ended) <= wholeDays.last;
    const first = Math.max(0, wholeDays.first - day(created));
    const last = (isSeen ? day(ended) : wholeDays.last) - day(created);
    return last < first ? undefined : { first, last, end: isSeen ? end : 'open' };
  }

  return night.world.spans.flatMap(({ domain: source, from, to }) => {
    const lots = [...night.lots.values()]
      .filter(({ lot }) => lot.domain === source && source !== 12)
      .flatMap((each) => {
        const life = lifeOf(each, from, to);
        return life === undefined ? [] : [{ ...each, life }];
      });
    const levels = [
      ['source', groupBy(lots, () => '')],
      ['make', groupBy(lots, ({ vehicle }) => String(vehicle.manufacturer?.id ?? ''))],
      ['title', groupBy(lots, ({ raw }) => brandOf(raw))],
      ['estimate', groupBy(lots, ({ lot }) => bands.get(lot.id) ?? 'unknown')],
    ] as const;
    return levels.flatMap(([level, groups]) =>
      [...groups].map(([name, group]): MartRow => {
        const lives = group.map(({ life }) => life);
        const count = (end: Life['end']): number => lives.filter((life) => life.end === end).length;
        const points = count('sold') < night.minimumGroup ? [] : [...curve(lives, night.minimumGroup)];
        const reach = (share: number, of: 'unsold' | 'low' | 'high'): number | null =>
          points.find((point) => point[of] <= share + 1e-9)?.age ?? null;
        const make = level === 'make' && name !== '' ? Number(name) : null;
        return {
          level,
          domain_id: source,
          domain_name: domain.get(source) ?? null,
          manufacturer_id: make,
          manufacturer_name: make === null ? null : (manufacturer.get(make) ?? null),
          title_brand: level === 'title' ? name : null,
          estimate_band: level === 'estimate' ? name : null,
          observed_from: from,
          observed_to: to,
          lots: lives.length,
          sold: count('sold'),
          left_lots: count('left'),
          days_p25: reach(0.75, 'unsold'),
          days_p25_low: reach(0.75, 'low'),
          days_p25_high: reach(0.75, 'high'),
          days_median: reach(0.5, 'unsold'),
          days_median_low: reach(0.5, 'low'),
          days_median_high: reach(0.5, 'high'),
          days_p75: reach(0.25, 'unsold'),
          days_p75_low: reach(0.25, 'low'),
          days_p75_high: reach(0.25, 'high'),
        };
      }),
    );
  });
}
