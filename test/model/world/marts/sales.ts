import type { Named } from '../../../served.js';
import { attemptsOf, type OracleAttempt } from '../../oracle-attempts.js';
import { currencyOf } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { namesOf } from '../statistics.js';

/** The attempts of a night, computed once for all oracles that need them. */
export function attempts(night: WorldNight): readonly OracleAttempt[] {
  const known = computed.get(night);
  if (known !== undefined) return known;
  const found = attemptsOf(night.world);
  computed.set(night, found);
  return found;
}

const computed = new WeakMap<WorldNight, readonly OracleAttempt[]>();

/** Names of sources, manufacturers and models by id. */
export function names(night: WorldNight) {
  const lots = [...night.lots.values()];
  return {
    domain: namesOf(lots, ({ raw }) => raw.domain),
    manufacturer: namesOf(night.cars, (car) => car.manufacturer),
    model: namesOf(night.cars, (car) => car.model),
  };
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const nameIn = (known: ReadonlyMap<number, string>, named: Named | undefined): string | null =>
  (named && known.get(named.id)) ?? null;

export function rows(night: WorldNight): MartRow[] {
  const { domain, manufacturer, model } = names(night);
  const word = new Map(night.world.archivings.map((record) => [record.lot, record]));
  return attempts(night).map((attempt): MartRow => {
    const { lot } = attempt;
    const vehicle = night.vehicles.get(lot.vehicle);
    const previous =
      attempt.change === null || attempt.amount === null ? null : attempt.amount - attempt.change;
    return {
      lot_id: lot.id,
      attempt: attempt.attempt,
      vehicle_id: lot.vehicle,
      vehicle_round: attempt.round,
      vehicle_attempt: attempt.vehicleAttempt,
      domain_id: lot.domain,
      domain_name: domain.get(lot.domain) ?? null,
      manufacturer_id: vehicle?.manufacturer?.id ?? null,
      manufacturer_name: nameIn(manufacturer, vehicle?.manufacturer),
      model_id: vehicle?.model?.id ?? null,
      model_name: nameIn(model, vehicle?.model),
      generation_id: vehicle?.generation?.id ?? null,
      year: vehicle?.year ?? null,
      price_id: attempt.priceId === null ? null : String(attempt.priceId),
      evidence: evidenceOf(attempt),
      status_id: attempt.status,
      sale_date: attempt.saleDate,
      sale_month: `${dayOf(attempt.saleDate).slice(0, 7)}-01`,
      outcome: attempt.outcome,
      is_observed: attempt.isObserved,
      currency: currencyOf(lot),
      amount: attempt.amount,
      price: attempt.price,
      is_trusted: attempt.isTrusted,
      trust_reason: attempt.reason,
      is_outlier: attempt.outlier !== null,
      outlier_reason: attempt.outlier,
      trust_basis: attempt.basis,
      days_since_previous: attempt.daysSince,
      amount_change: attempt.change,
      amount_change_share:
        previous === null || attempt.amount === null ? null : attempt.amount / previous - 1,
    };
  });

  function evidenceOf({ lot, priceId }: OracleAttempt): string {
    if (lot.isArchiveOnly) return 'archive_only';
    if (priceId !== null) return 'history';
    return isArchives(lot, word.get(lot.id)) ? 'archive' : 'lot';
  }

  function isArchives(lot: OracleAttempt['lot'], record: { readonly at: number } | undefined): boolean {
    const seen = lot.archived ? lot.lastSeen : Math.min(night.now, night.pass);
    return record !== undefined && (seen === null || record.at > seen);
  }
}
