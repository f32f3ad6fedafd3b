import { attemptsOf, type OracleAttempt, type OracleLot, type OracleWorld } from './oracle-attempts.js';
import { currencyOf, leastAmounts } from './oracle-currency.js';

/** The levels of the marts, each with the ids of a group that has none below it. */
const LEVELS = ['all', 'source', 'make', 'model', 'generation'];

/** The groups of a lot, one a level: the level, as many of the ids as it has, null for those below it, and the currency. */
const groupsOf = (ids: readonly (number | null)[], currency: string | null): string[] =>
  LEVELS.slice(0, ids.length + 1).map((level, depth) =>
    JSON.stringify([level, ...ids.map((id, place) => (place < depth ? id : null)), currency]),
  );

/** Rows of price_trends, without names and what is read from other marts, by key. */
export function trendsOf(world: OracleWorld): Map<string, Record<string, number | string | null>> {
  const vehicles = new Map(world.vehicles.map((vehicle) => [vehicle.id, vehicle]));
  const groups = new Map<string, Map<number, OracleAttempt[]>>();
  const sources = new Map<number, Set<number>>();
  for (const attempt of attemptsOf(world)) {
    if (attempt.outcome === 'upcoming') continue;
    const vehicle = vehicles.get(attempt.lot.vehicle);
    const ids = [
      attempt.lot.domain,
      vehicle?.manufacturer ?? null,
      vehicle?.model ?? null,
      vehicle?.generation ?? null,
    ];
    const at = new Date(attempt.saleDate);
    const month = at.getUTCFullYear() * 12 + at.getUTCMonth();
    sources.set(month, (sources.get(month) ?? new Set()).add(attempt.lot.domain));
    for (const group of groupsOf(ids, currencyOf(attempt.lot))) {
      const months = groups.get(group) ?? new Map<number, OracleAttempt[]>();
      const known = months.get(month);
      if (known === undefined) months.set(month, [attempt]);
      else known.push(attempt);
      groups.set(group, months);
    }
  }
  const result = new Map<string, Record<string, number | string | null>>();
  for (const [group, months] of groups) {
    const [level, domain, ...rest] = JSON.parse(group);
    const least = leastAmounts(world.least, rest.at(-1));
    for (const [month, attempts] of months) {
      const domains = level === 'all' ? [...(sources.get(month) ?? [])] : [Number(domain)];
      const observed = together(domains.map((each) => observedOf(world, each, month)));
      result.set(`${monthName(month)} ${group}`, trendRow(months, month, attempts, observed, least));
    }
  }
  return result;
}

/** How much of a month (counted from year 0) a source was observed. */
export function observedOf(world: OracleWorld, domain: number, month: number): 'whole' | 'part' | 'none' {
  const start = (of: number): number => Date.UTC(Math.floor(of / 12), of % 12);
  const spans = world.spans.filter((span) => span.domain === domain);
  if (spans.some(({ from, to }) => from <= start(month) && to >= start(month + 1))) return 'whole';
  const isPart = spans.some(({ from, to }) => Math.max(from, start(month)) < Math.min(to, start(month + 1)));
  return isPart ? 'part' : 'none';
}

/** How much of a month several sources were observed. */
function together(observed: readonly string[]): string {
  const [first = 'none'] = observed;
  return observed.every((each) => each === first) ? first : 'part';
}

function trendRow(
  months: Map<number, OracleAttempt[]>,
  month: number,
  attempts: readonly OracleAttempt[],
  observed: string,
  least: number,
) {
  const pricesOf = (m: number): number[] =>
    (months.get(m) ?? []).flatMap(({ price }) => (price === null ? [] : [price]));
  const count = (...outcomes: string[]): number =>
    attempts.filter(({ outcome, isObserved }) => isObserved && outcomes.includes(outcome)).length;
  /** If a month was not observed, only its unsold lots are known, so its figures are null. */
  const orNull = (n: number): number | null => (observed === 'none' ? null : n);
  const prices = pricesOf(month);
  const pooled = [0, 1, 2].flatMap((back) => pricesOf(month - back));
  const offered = count('sold', 'not_sold', 'on_approval');
  const median = enough(prices, 0.5, least);
  const before = enough(pricesOf(month - 1), 0.5, least);
  return {
    observed,
    lots_offered: orNull(offered),
    lots_unresolved: orNull(count('unresolved')),
    lots_sold: orNull(count('sold')),
    sell_through: offered === 0 ? null : count('sold') / offered,
    priced_lots: prices.length,
    price_mean: prices.length < least ? null : prices.reduce((sum, price) => sum + price, 0) / prices.length,
    price_median: median,
    price_p10: enough(prices, 0.1, least),
    price_p25: enough(prices, 0.25, least),
    price_p75: enough(prices, 0.75, least),
    price_p90: enough(prices, 0.9, least),
    price_median_change: median === null || before === null ? null : median / before - 1,
    priced_lots_3m: pooled.length,
    price_median_3m: enough(pooled, 0.5, least),
  };
}

const monthName = (month: number): string =>
  `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}-01`;

/** A percentile by linear interpolation; null for fewer values than `least`. */
function enough(values: readonly number[], share: number, least: number): number | null {
  if (values.length < least) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? 0;
  return low + (high - low) * (place - Math.floor(place));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const damageName = (name: string | null): string => name?.trim() || 'unknown';
const isSoundName = (name: string): boolean => /^(none|normal wear|minor dent.*)$/i.test(name);
/** Without a main damage, a lot may have any damage. Without a second damage, it may have no other. */
const isSound = ({ main, second }: OracleLot): boolean =>
  isSoundName(damageName(main)) && (isSoundName(damageName(second)) || /^unknown$/i.test(damageName(second)));

/** Rows of damage_breakdown, without names and what is read from other marts, by key. */
export function damagesOf(world: OracleWorld): Map<string, Record<string, number | string | null>> {
  const { least } = world;
  const vehicles = new Map(world.vehicles.map((vehicle) => [vehicle.id, vehicle]));
  const sold = attemptsOf(world).filter(({ outcome }) => outcome === 'sold');
  const sales = new Map(sold.map((attempt) => [attempt.lot.id, attempt]));
  const groups = new Map<string, OracleLot[]>();
  for (const lot of world.lots) {
    const vehicle = vehicles.get(lot.vehicle);
    const ids = [lot.domain, vehicle?.manufacturer ?? null, vehicle?.model ?? null];
    for (const group of groupsOf(ids, currencyOf(lot))) {
      const known = groups.get(group);
      if (known === undefined) groups.set(group, [lot]);
      else known.push(lot);
    }
  }
  const pricesOf = (lots: readonly OracleLot[]): number[] =>
    lots.flatMap((lot) => sales.get(lot.id)?.price ?? []);
  const result = new Map<string, Record<string, number | string | null>>();
  for (const [group, all] of groups) {
    const leastPrices = leastAmounts(least, JSON.parse(group).at(-1));
    const sound = all.filter(isSound);
    const soundMedian = enough(pricesOf(sound), 0.5, leastPrices);
    const kinds = groupBy(all, (lot) => `${damageName(lot.main)} + ${damageName(lot.second)}`);
    for (const [kind, lots] of kinds) {
      const median = enough(pricesOf(lots), 0.5, leastPrices);
      const odometers = lots.flatMap(({ km }) => (km !== null && km > 0 ? [km] : []));
      const repairs = lots.flatMap(({ repair, before }) =>
        repair === null ||
        before === null ||
        repair < 0 ||
        repair > 5_000_000 ||
        before < 1 ||
        before > 5_000_000
          ? []
          : [repair / before],
      );
      result.set(`${kind} ${group}`, {
        lots: lots.length,
        share: lots.length / all.length,
        sold: lots.filter((lot) => sales.has(lot.id)).length,
        priced_lots: pricesOf(lots).length,
        price_median: median,
        price_ratio_to_sound: median === null || soundMedian === null ? null : median / soundMedian,
        odometer_lots: odometers.length,
        odometer_km_median: enough(odometers, 0.5, least),
        repair_lots: repairs.length,
        repair_share: enough(repairs, 0.5, leastPrices),
      });
    }
  }
  return result;
}
