import type { LotRecord, Named } from '../../../served.js';
import { instantOf, type MartRow, type WorldNight } from '../night.js';
import { groupBy, median } from '../statistics.js';
import { attempts, names } from './sales.js';

/** The seller or branch of a lot: its key and its name. */
interface Party {
  readonly level: string;
  readonly party: string;
  readonly name: string | null;
}

const DAY = 86_400_000;
const Z = 1.959963984540054;

function partiesOf(raw: LotRecord): Party[] {
  const seller = raw.seller as Named | string | null | undefined;
  const branch = raw.selling_branch;
  const name = (typeof seller === 'string' ? seller : seller?.name)?.trim() || null;
  const branchName = branch?.name?.trim() || null;
  const key = branch?.id == null ? branchName?.toLowerCase() : String(branch.id);
  return [
    ...(name === null ? [] : [{ level: 'seller', party: name.toLowerCase(), name }]),
    ...(key === undefined ? [] : [{ level: 'branch', party: key, name: branchName }]),
  ];
}

/** How often something happened (`k`) in how many trials (`n`). */
export interface Trial {
  readonly n: number;
  readonly k: number;
}

/**
 * Shrinks the rate of each group towards the mean of all by empirical Bayes. The interval is Wilson's, for the trials
 * of the group plus the weight of the mean, but at most for all trials. Undefined if a group has no trials, or all
 * groups together have too few.
 */
export function shrink(groups: readonly Trial[], least: number) {
  const tried = groups.filter(({ n }) => n > 0);
  const total = tried.reduce((sum, { n }) => sum + n, 0);
  const mean = tried.reduce((sum, { k }) => sum + k, 0) / total;
  const spread = tried.reduce((sum, { n, k }) => sum + n * (k / n - mean) ** 2, 0);
  const degrees = tried.length - 1;
  const room = total - tried.reduce((sum, { n }) => sum + n * n, 0) / total - degrees;
  const variance = mean * (1 - mean);
  const correlation = variance === 0 || room === 0 ? 0 : (spread / variance - degrees) / room;
  const weight = 1 / Math.min(0.5, Math.max(0.001, correlation)) - 1;
  return groups.map(({ n, k }) => {
    if (n === 0 || total < least) return undefined;
    const rate = (k + weight * mean) / (n + weight);
    const size = Math.min(n + weight, total);
    const scale = 1 + (Z * Z) / size;
    const middle = (rate + (Z * Z) / 2 / size) / scale;
    const half = (Z / scale) * Math.sqrt((rate * (1 - rate)) / size + (Z * Z) / 4 / size ** 2);
    return { rate, low: middle - half, high: middle + half };
  });
}

/** A price over its estimate, as a logarithm, with its weight (1 / variance). */
interface Ratio {
  readonly log: number;
  readonly weight: number;
}

/** The estimate knows what the place and the seller do to prices: a profile shows this part as well. */
function ratiosTo(row: MartRow | undefined, level: string): Ratio[] {
  if (row === undefined || row.price === null || row.estimate === null || row.is_left_out === true) return [];
  const own = Number(level === 'branch' ? row.place_factor : row.seller_factor);
  return [
    {
      log: Math.log((own * Number(row.price)) / Number(row.estimate)),
      weight: Number(row.log_deviation) ** -2,
    },
  ];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Shrinks the mean of each group towards the mean of all; undefined for a group without a ratio. */
function shrinkRatios(groups: readonly (readonly Ratio[])[]) {
  const means = groups.map((ratios) => {
    const weight = sum(ratios.map((ratio) => ratio.weight));
    return { weight, log: weight === 0 ? 0 : sum(ratios.map(({ log, weight: w }) => w * log)) / weight };
  });
  const known = means.filter(({ weight }) => weight > 0);
  const total = sum(known.map(({ weight }) => weight));
  const mean = sum(known.map(({ log, weight }) => weight * log)) / total;
  const between = sum(known.map(({ log, weight }) => weight * (log - mean) ** 2)) - (known.length - 1);
  const room = total - sum(known.map(({ weight }) => weight ** 2)) / total;
  const spread = room === 0 ? 0 : Math.max(0, between / room);
  return means.map(({ weight, log }) => {
    if (weight === 0) return undefined;
    const own = spread === 0 ? 0 : spread / (spread + 1 / weight);
    return {
      ...{ own: log, log: own * log + (1 - own) * mean },
      deviation: Math.sqrt(own / weight + (1 - own) ** 2 / total),
    };
  });
}

function pricesOf(found: ReturnType<typeof shrinkRatios>[number], prices: number, least: number): MartRow {
  const at = (ends: number): number | null =>
    found === undefined ? null : Math.exp(found.log + ends * Z * found.deviation);
  return {
    price_to_estimate: found === undefined || prices < least ? null : Math.exp(found.own),
    price_to_estimate_shrunk: at(0),
    price_to_estimate_low: at(-1),
    price_to_estimate_high: at(1),
  };
}

const isPossible = (amount: unknown): amount is number =>
  typeof amount === 'number' && amount >= 1 && amount <= 5_000_000;

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const estimates = new Map((await night.rows('price_estimates')).map((row) => [row.lot_id, row]));
  const { domain } = names(night);
  const least = night.minimumGroup;
  const held = attempts(night).filter(({ outcome }) => ['sold', 'not_sold', 'on_approval'].includes(outcome));
  const heldOf = groupBy(held, ({ lot }) => String(lot.id));
  const lots = [...night.lots.values()].flatMap(({ raw, lot }) => {
    if (lot.domain === 12) return [];
    const own = heldOf.get(String(lot.id)) ?? [];
    const last = own.at(-1);
    const reserve = raw.seller_reserve?.price;
    const hasReserve = isPossible(reserve) && last?.isObserved === true;
    const sold = own.find(({ outcome }) => outcome === 'sold');
    const days =
      sold === undefined
        ? []
        : [Math.floor(sold.saleDate / DAY) - Math.floor((instantOf(raw.created_at) ?? 0) / DAY)];
    const facts = {
      domain: lot.domain,
      observed: own.filter(({ isObserved }) => isObserved),
      reserved: Number(hasReserve),
      gaps: hasReserve && isPossible(last.amount) && last.outlier === null ? [last.amount / reserve - 1] : [],
      days: days.filter((count) => count >= 0),
    };
    const estimate = last === undefined ? undefined : estimates.get(lot.id);
    return partiesOf(raw).map((party) => ({ ...party, ...facts, ratios: ratiosTo(estimate, party.level) }));
  });
  const sources = groupBy(lots, (lot) => `${lot.level} ${lot.domain}`).values();
  return [...sources].flatMap((ofSource) => {
    const parties = [...groupBy(ofSource, ({ party }) => party).values()].map((own) => ({
      own,
      observed: own.flatMap(({ observed }) => observed),
      gaps: own.flatMap(({ gaps }) => gaps),
      days: own.flatMap(({ days }) => days),
      ratios: own.flatMap(({ ratios }) => ratios),
    }));
    const ratios = shrinkRatios(parties.map((party) => party.ratios));
    const offered = (isOne: (attempt: (typeof held)[number]) => boolean): Trial[] =>
      parties.map(({ observed }) => ({ n: observed.length, k: observed.filter(isOne).length }));
    const rates = {
      sell_through: offered(({ outcome }) => outcome === 'sold'),
      approval_rate: offered(({ outcome }) => outcome === 'on_approval'),
      relisting_rate: offered(({ vehicleAttempt }) => vehicleAttempt > 1),
      reserve_met_rate: parties.map(({ gaps }) => ({
        n: gaps.length,
        k: gaps.filter((gap) => gap >= 0).length,
      })),
    };
    const shrunk = Object.entries(rates).map(([name, trials]) => ({
      ...{ name, trials, found: shrink(trials, least) },
    }));
    return parties.map(({ own, gaps, days }, place): MartRow => {
      const figures = shrunk.flatMap(({ name, trials, found }): [string, number | null][] => {
        const { n = 0, k = 0 } = trials[place] ?? {};
        return [
          [name, n < least ? null : k / n],
          [`${name}_shrunk`, found[place]?.rate ?? null],
          [`${name}_low`, found[place]?.low ?? null],
          [`${name}_high`, found[place]?.high ?? null],
        ];
      });
      const [first] = own;
      const source = first?.domain ?? 0;
      return {
        level: first?.level ?? null,
        domain_id: source,
        domain_name: domain.get(source) ?? null,
        party: first?.party ?? null,
        party_name:
          own
            .flatMap(({ name }) => name ?? [])
            .sort()
            .at(-1) ?? null,
        observed_since: night.world.spans.find((span) => span.domain === source)?.from ?? null,
        is_pooled: (rates.sell_through[place]?.n ?? 0) < least,
        offered: rates.sell_through[place]?.n ?? 0,
        sold: rates.sell_through[place]?.k ?? 0,
        on_approval: rates.approval_rate[place]?.k ?? 0,
        relisted: rates.relisting_rate[place]?.k ?? 0,
        reserved_lots: own.reduce((sum, { reserved }) => sum + reserved, 0),
        compared_reserves: gaps.length,
        met_reserves: rates.reserve_met_rate[place]?.k ?? 0,
        ...Object.fromEntries(figures),
        reserve_gap_share_median: median(gaps, least),
        estimated_prices: parties[place]?.ratios.length ?? 0,
        ...pricesOf(ratios[place], parties[place]?.ratios.length ?? 0, least),
        timed_lots: days.length,
        days_median: median(days, least),
      };
    });
  });
}

/** The profiles of one level. Two of their columns are named after it. */
