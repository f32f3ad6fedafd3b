import type { ReportRecord, VehicleRecord } from '../../served.js';
import type { LotOfNight, WorldNight } from './night.js';

/** A report of a night, with its listing and the vehicle whose record it came in. */
export interface ReportOfNight {
  readonly domainId: number;
  readonly listingId: string;
  readonly reportId: string;
  readonly vehicleId: number;
  readonly raw: ReportRecord;
}

/** All inspection reports of a night. */
export const inspectionsOf = (night: WorldNight): ReportOfNight[] =>
  night.cars.flatMap((car) => (car.inspections ?? []).map((raw) => placed(car, raw)));

/** All history reports of a night. */
export const historiesOf = (night: WorldNight): ReportOfNight[] =>
  night.cars.flatMap((car) => (car.vehicle_history_reports ?? []).map((raw) => placed(car, raw)));

const placed = (car: VehicleRecord, raw: ReportRecord): ReportOfNight => ({
  domainId: raw.vehicle_ref.domain_id,
  listingId: raw.vehicle_ref.listing_id,
  reportId: raw.report_id,
  vehicleId: car.id,
  raw,
});

/** A key of the service without outer spaces, or `none` if it is empty. */
export const keyOr = (key: string | null | undefined, none: string): string => key?.trim() || none;

/** The asking price of a lot of source 12; null if its value cannot be a price. */
export function asked(served: LotOfNight | undefined): number | null {
  const asking = served?.raw.buy_now ?? null;
  return asking !== null && asking >= 1 && asking <= 5_000_000 ? asking : null;
}
