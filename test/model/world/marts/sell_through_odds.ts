import { need } from '../../../served.js';
import type { OracleAttempt } from '../../oracle-attempts.js';
import type { LotOfNight, MartRow, WorldNight } from '../night.js';
import { isHeld } from '../ratios.js';
import { groupBy } from '../statistics.js';
import { brandOf, groupOf } from './lot_breakdown.js';
import { attempts, names } from './sales.js';

const Z = 1.959963984540054;
const TRAITS = 5;

/** Attempts of a group, and how many of them ended in a sale. */
interface Tally {
  readonly offered: number;
  readonly sold: number;
}

/** The traits that group a lot and its attempt. Each level adds one trait to the source. */
function traitsOf({ raw, vehicle }: LotOfNight, attempt: number): string[] {
  const reserve = raw.seller_reserve?.price ?? 0;
  return [
    String(raw.domain.id),
    attempt === 1 ? 'first' : 'later',
    groupOf(raw),
    brandOf(raw),
    String(reserve >= 1 && reserve <= 5_000_000),
    String(vehicle.manufacturer?.id ?? 'unknown'),
  ];
}

const nameAt = (traits: readonly string[], level: number): string => traits.slice(0, level + 1).join('|');

const tallyOf = (group: readonly OracleAttempt[]): Tally => ({
  offered: group.length,
  sold: group.filter(({ outcome }) => outcome === 'sold').length,
});

/** The correlation of two attempts within one group of a level, from the differences that chance does not explain. */
function correlationAt(level: number, held: readonly (readonly [string[], OracleAttempt])[]) {
  const groups = groupBy(held, ([traits]) => nameAt(traits, level));
  const above = groupBy(held, ([traits]) => nameAt(traits, level - 1));
  let excess = 0;
  let information = 0;
  let [count, parents] = [0, 0];
  for (const group of groups.values()) {
    const { offered, sold } = tallyOf(group.map(([, attempt]) => attempt));
    const parent = above.get(nameAt(group[0]?.[0] ?? [], level - 1)) ?? [];
    const all = tallyOf(parent.map(([, attempt]) => attempt));
    const share = all.sold / all.offered;
    // If chance alone picks the attempts of a group from the group above, its sales are hypergeometric.
    const chance = (offered * share * (1 - share) * (all.offered - offered)) / (all.offered - 1);
    if (offered < 2 || chance === 0) continue;
    excess += (offered - 1) * ((sold - offered * share) ** 2 / chance - 1);
    information += (offered - 1) ** 2;
    count += 1;
    parents += offered / all.offered;
  }
  if (information === 0) return { correlation: 0, wide: 0 };
  // A squared difference by chance has a variance of 2, and more if few groups share one above: two differ alike. A trait
  // counts beyond two standard errors; for the interval it may do one more, and another trait as much as it seems to do.
  const found = excess / information;
  const error = Math.sqrt((2 * Math.min(2, count / (count - parents))) / information);
  const bounded = (value: number): number => Math.min(0.99, Math.max(0, value));
  if (found > 2 * error) return { correlation: bounded(found), wide: bounded(found + error) };
  return { correlation: 0, wide: bounded(found) };
}

export function rows(night: WorldNight): MartRow[] {
  const { domain, manufacturer } = names(night);
  const all = groupBy(attempts(night), ({ lot }) => String(lot.id));
  const held = attempts(night)
    .filter((attempt) => attempt.isObserved && isHeld(attempt) && night.lots.has(attempt.lot.id))
    .map(
      (attempt) =>
        [traitsOf(need(night.lots.get(attempt.lot.id), 'a lot'), attempt.attempt), attempt] as const,
    )
    .map(([traits, attempt]): [string[], OracleAttempt] => [traits, attempt]);
  const levels = Array.from({ length: TRAITS + 1 }, (_, level) => ({
    ...(level === 0 ? { correlation: 0, wide: 0 } : correlationAt(level, held)),
    groups: groupBy(held, ([traits]) => nameAt(traits, level)),
  }));

  /** The tally of a group, and an estimate for its last level from the levels above. */
  function estimate(traits: readonly string[]) {
    const tallies = levels.map(({ groups }, level) =>
      tallyOf((groups.get(nameAt(traits, level)) ?? []).map(([, attempt]) => attempt)),
    );
    let share = 0;
    let spread = 0;
    let own = 1;
    for (const [level, { offered, sold }] of tallies.entries()) {
      const { correlation, wide } = need(levels[level], 'a level');
      if (level === 0) {
        share = (sold + 0.5) / (offered + 1);
        spread = 1 / (offered + 2);
      } else if (correlation > 0) {
        // A beta prior around the rate of the level above, which counts as so many attempts.
        const prior = 1 / correlation - 1;
        own = offered / (offered + prior);
        share = (sold + prior * share) / (offered + prior);
        spread = wide / (1 + offered * wide) + (1 - own) ** 2 * spread;
      } else {
        own = 0;
        spread += wide;
      }
    }
    return {
      share,
      spread,
      own,
      source: need(tallies[0], 'a source'),
      like: need(tallies[TRAITS], 'a group'),
    };
  }

  const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
  return [...night.lots.values()].flatMap((served): MartRow[] => {
    const { vehicle, lot } = served;
    const own = all.get(String(lot.id)) ?? [];
    const last = own.at(-1);
    const isOver = last?.outcome === 'sold' || last?.reason === 'offered_again';
    if (lot.domain === 12 || lot.archived || isOver) return [];
    const coming = own.find(({ outcome }) => outcome === 'upcoming');
    const attempt = coming?.attempt ?? own.length + 1;
    const traits = traitsOf(served, attempt);
    const { share, spread, own: weight, source, like } = estimate(traits);
    const logit = Math.log(share / (1 - share));
    const reach = Z * Math.sqrt(spread / (share * (1 - share)));
    const at = (value: number): number => rounded(1 / (1 + Math.exp(-value)));
    const isWaiting =
      coming === undefined && /^(on_approval|too_recent|not_seen_after_sale)$/.test(last?.reason ?? '');
    const reason = isWaiting
      ? 'awaits_result'
      : source.offered === 0
        ? 'not_observed'
        : source.offered < night.minimumGroup
          ? 'too_few_attempts'
          : null;
    return [
      {
        lot_id: lot.id,
        vehicle_id: lot.vehicle,
        domain_id: lot.domain,
        domain_name: domain.get(lot.domain) ?? null,
        manufacturer_id: vehicle.manufacturer?.id ?? null,
        manufacturer_name: manufacturer.get(vehicle.manufacturer?.id ?? 0) ?? null,
        attempt,
        sale_date: coming?.saleDate ?? null,
        seller_group: traits[2] ?? null,
        title_brand: traits[3] ?? null,
        has_reserve: traits[4] === 'true',
        source_attempts: source.offered,
        like_attempts: like.offered,
        like_sold: like.sold,
        sell_probability: reason === null ? at(logit) : null,
        sell_probability_low: reason === null ? at(logit - reach) : null,
        sell_probability_high: reason === null ? at(logit + reach) : null,
        pooled_share: reason === null ? rounded(1 - weight) : null,
        reason,
      },
    ];
  });
}
