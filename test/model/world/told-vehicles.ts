import type { ArchivedLotRecord, Named, VehicleRecord } from '../../served.js';
import { groupBy } from './statistics.js';

/** What is known of a vehicle. */
export interface VehicleFacts {
  readonly manufacturer?: Named | undefined;
  readonly model?: Named | undefined;
  readonly generation?: Named | null | undefined;
  readonly year?: number | undefined;
  /** Where the believed year comes from. */
  readonly origin?: string;
  readonly engine?: Named | null | undefined;
  readonly vehicle_type?: Named | undefined;
}

/** The first eight characters of a VIN and the tenth; empty for an impossible VIN. */
function headOf(vin: string | null | undefined): string {
  const code = vin?.trim().toUpperCase() ?? '';
  return /^[0-9A-Z]{17}$/.test(code) && !/[IOQ]/.test(code) ? code.slice(0, 8) + code[9] : '';
}

/** The common value of all that have one; undefined if they differ. */
function commonOf(values: readonly (number | undefined)[]): number | undefined {
  const [first, ...others] = new Set(values.flatMap((value) => value ?? []));
  return others.length === 0 ? first : undefined;
}

/**
 * The vehicles of lots that only the archive feed reported, by id, with the facts that all vehicles with the same
 * beginning of the VIN share.
 */
export function toldVehicles(
  cars: readonly (VehicleFacts & Pick<VehicleRecord, 'id' | 'vin'>)[],
  archivedLots: readonly ArchivedLotRecord[],
): [number, VehicleFacts][] {
  const known = new Set(cars.map(({ id }) => id));
  const heads = groupBy(cars, ({ vin }) => headOf(vin));
  return archivedLots.flatMap(({ car_id, vin }): [number, VehicleFacts][] => {
    const head = headOf(vin);
    const alike = known.has(car_id) || head === '' ? [] : (heads.get(head) ?? []);
    const named = (member: 'manufacturer' | 'model' | 'generation'): Named | undefined => {
      const id = commonOf(alike.map((car) => car[member]?.id));
      return id === undefined ? undefined : { id };
    };
    const facts = {
      manufacturer: named('manufacturer'),
      model: named('model'),
      generation: named('generation'),
    };
    return alike.length === 0 ? [] : [[car_id, { ...facts, year: commonOf(alike.map(({ year }) => year)) }]];
  });
}
