/** Comparisons of attempts that several oracles need. */
import type { OracleAttempt } from '../oracle-attempts.js';
import { currencyOf } from '../oracle-currency.js';
import type { WorldNight } from './night.js';
import { groupBy, median } from './statistics.js';

/** Whether an attempt counts as offered (docs/ask/marts.md). */
export const isHeld = ({ outcome }: OracleAttempt): boolean =>
  ['sold', 'not_sold', 'on_approval'].includes(outcome);

/** The prices of the attempts that have one. */
export const pricesOf = (attempts: readonly OracleAttempt[]): number[] =>
  attempts.flatMap(({ price }) => price ?? []);

/** Returns the ratios of the attempts that have a price and enough prices to compare it with. */
type Compare = (attempts: readonly OracleAttempt[]) => number[];

/** Compares prices with the median price of `reference` for the same source, manufacturer, model, year and currency. */
export function ratiosTo(night: WorldNight, reference: readonly OracleAttempt[]): Compare {
  const groups = modelYears(night, reference);
  return ratios((attempt) => groups.get(modelYear(night, attempt)) ?? [], night.minimumGroup);
}

const UNKNOWN = 'unknown';

/** Source, manufacturer, model, year and currency, if all are known. */
function modelYear(night: WorldNight, { lot }: OracleAttempt): string {
  const { manufacturer, model, year } = night.vehicles.get(lot.vehicle) ?? {};
  const parts = [lot.domain, manufacturer?.id, model?.id, year];
  const currency = currencyOf(lot);
  return currency !== null && parts.every((part) => typeof part === 'number')
    ? [...parts, currency].join(' ')
    : UNKNOWN;
}

function modelYears(night: WorldNight, attempts: readonly OracleAttempt[]): Map<string, OracleAttempt[]> {
  const groups = groupBy(attempts, (attempt) => modelYear(night, attempt));
  groups.delete(UNKNOWN);
  return groups;
}

function ratios(referenceOf: (attempt: OracleAttempt) => readonly OracleAttempt[], least: number): Compare {
  return (attempts) =>
    attempts.flatMap((attempt) => {
      if (attempt.price === null) return [];
      const middle = median(pricesOf(referenceOf(attempt)), least);
      return middle === null ? [] : [attempt.price / middle];
    });
}
