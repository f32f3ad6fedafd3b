import type { Named, VehicleRecord } from '../../served.js';
import { vinFacts } from './marts/vin_facts.js';
import type { MartRow } from './night.js';
import { groupBy } from './statistics.js';
import type { VehicleFacts } from './told-vehicles.js';

/** A car with what the models believe of it. */
export type BelievedCar = VehicleFacts &
  Pick<
    VehicleRecord,
    | 'id'
    | 'vin'
    | 'body_type'
    | 'engine'
    | 'fuel'
    | 'drive_wheel'
    | 'listings'
    | 'inspections'
    | 'vehicle_history_reports'
  >;

/** What the models believe of the cars, by id: their years, and manufacturers and models with one id for one name. */
export function believedVehicles(
  cars: readonly VehicleRecord[],
  codes: readonly MartRow[],
  now: number,
): Map<number, BelievedCar> {
  const facts = new Map(vinFacts(cars, codes).map((row) => [row.vehicle_id, row]));
  const typeOf = (car: VehicleRecord): number => car.vehicle_type?.id ?? 1;
  const makes = joinedIds(cars, ({ manufacturer }) => manufacturer, typeOf);
  const models = joinedIds(
    cars,
    ({ model }) => model,
    (car) => `${typeOf(car)} ${makes(car.manufacturer)?.id}`,
  );
  const last = new Date(now).getUTCFullYear() + 1;
  const canBe = (year: unknown): boolean => Number(year) > 1900 && Number(year) <= last;
  const vins = groupBy(cars, ({ vin }) => vin?.trim().toUpperCase() ?? '');
  const isShared = (vin: unknown): boolean =>
    new Set((vins.get(String(vin)) ?? []).flatMap(({ model }) => models(model)?.id ?? [])).size > 1;

  /** The year and its origin. */
  function yearOf({ id, year }: VehicleRecord): Pick<VehicleFacts, 'year' | 'origin'> {
    const vin: MartRow = facts.get(id) ?? {};
    const isOfCar = vin.agrees_with_make !== false && vin.reason !== 'placeholder';
    const told = isOfCar && vin.tells_year && canBe(vin.model_year) ? Number(vin.model_year) : undefined;
    if (canBe(year)) {
      if (told === undefined || [-31, -30, -29, -1, 0, 1, 29, 30, 31].includes(year - told))
        return { year, origin: 'feed' };
      const isSure = vin.reason === 'year' && vin.check_digit_ok && vin.agrees_with_make && vin.tells_cycle;
      return isSure && !isShared(vin.vin) ? { year: told, origin: 'vin' } : { origin: 'doubted' };
    }
    if (told !== undefined && vin.reason !== 'check_digit' && !isShared(vin.vin))
      return { year: told, origin: 'vin' };
    return { origin: year == null ? 'unknown' : 'doubted' };
  }
  return new Map(
    cars.map((car) => [
      car.id,
      {
        ...car,
        year: undefined,
        ...yearOf(car),
        manufacturer: makes(car.manufacturer),
        model: models(car.model),
      },
    ]),
  );
}

/** Gives the smallest id of a name in a group, where an id belongs to the group of most of its cars. */
function joinedIds(
  cars: readonly VehicleRecord[],
  memberOf: (car: VehicleRecord) => Named | undefined,
  groupOf: (car: VehicleRecord) => string | number,
): (named: Named | undefined) => Named | undefined {
  const byId = groupBy(
    cars.filter((car) => memberOf(car) !== undefined),
    (car) => String(memberOf(car)?.id),
  );
  const spelled = groupBy([...byId], ([, own]) => {
    const groups = [...groupBy(own, (car) => String(groupOf(car)))];
    const [most] = groups.sort(([, a], [, b]) => b.length - a.length);
    const name =
      own
        .map((car) => memberOf(car)?.name?.trim() ?? '')
        .sort()
        .at(-1) ?? '';
    return `${most?.[0]} ${name.toLowerCase().replaceAll(/[ -]/g, '')}`;
  });
  const smallest = new Map(
    [...spelled.values()].flatMap((ids) => {
      const kept = Math.min(...ids.map(([id]) => Number(id)));
      return ids.map(([id]): [number, number] => [Number(id), kept]);
    }),
  );
  return (named) => named && { ...named, id: smallest.get(named.id) ?? named.id };
}
