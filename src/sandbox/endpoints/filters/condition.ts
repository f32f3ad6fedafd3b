import type { LotRow } from '../../lookup/lot-row.js';
import type { VehicleRow } from '../../lookup/row.js';
import type { Instant } from '../../world/instants.js';
import type { Parameter } from '../parameter.js';
import { mapped } from '../parameter.js';

/** What a filter asks of a vehicle, or of one of its lots at a clock. */
export type Condition =
  | { readonly vehicle: (row: VehicleRow) => boolean }
  | { readonly lot: (lot: LotRow, clock: Instant, row: VehicleRow) => boolean };

/** A parameter whose value is a condition. */
export type Filter = Parameter<Condition | undefined>;

type Optional<T> = Parameter<T | undefined>;

/** A filter that looks at the vehicle. */
export const vehicleFilter = <T>(
  parameter: Optional<T>,
  keep: (row: VehicleRow, wanted: T) => boolean,
): Filter => mapped(parameter, (wanted): Condition => ({ vehicle: (row) => keep(row, wanted) }));

/** A filter that looks at a lot. */
export const lotFilter = <T>(
  parameter: Optional<T>,
  keep: (lot: LotRow, wanted: T, clock: Instant, row: VehicleRow) => boolean,
): Filter =>
  mapped(parameter, (wanted): Condition => ({ lot: (lot, clock, row) => keep(lot, wanted, clock, row) }));

/** A filter that is on with 1 and off with 0. */
export const lotSwitch = (
  parameter: Optional<boolean>,
  keep: (lot: LotRow, clock: Instant) => boolean,
): Filter => lotFilter(parameter, (lot, on, clock) => !on || keep(lot, clock));

/** Whether a text holds another, in any case. */
export const holds = (text: string | null, part: string): boolean =>
  text?.toLowerCase().includes(part.toLowerCase()) ?? false;

/**
 * Whether a vehicle meets all conditions: those of the vehicle, and those of lots together on one lot that is not
 * archived and stands on one of the given sources.
 */
export function meets(
  row: VehicleRow,
  conditions: readonly Condition[],
  domains: readonly number[],
  clock: Instant,
): boolean {
  if (!conditions.every((condition) => !('vehicle' in condition) || condition.vehicle(row))) return false;
  return row.lots.some(
    (lot) =>
      domains.includes(lot.domain) &&
      conditions.every((condition) => !('lot' in condition) || condition.lot(lot, clock, row)),
  );
}
