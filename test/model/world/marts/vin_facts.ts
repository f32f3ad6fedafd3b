import type { VehicleRecord } from '../../../served.js';
import type { MartRow, WorldNight } from '../night.js';

const DIGITS = '0123456789';
/** Letters by their value in the check digit, from 1. */
const LETTERS = ['AJ', 'BKS', 'CLT', 'DMU', 'ENV', 'FW', 'GPX', 'HY', 'RZ'];

/** Remainder of the weighted sum of a VIN. The ninth character has no weight; its neighbours have 10 and 9. */
function remainderOf(vin: string): number {
  const values = [...vin].map((character) =>
    DIGITS.includes(character)
      ? Number(character)
      : 1 + LETTERS.findIndex((letters) => letters.includes(character)),
  );
  const weightOf = (place: number): number =>
    place < 7 ? 8 - place : place === 7 ? 10 : place === 8 ? 0 : 18 - place;
  return values.reduce((sum, value, place) => sum + value * weightOf(place), 0) % 11;
}

/** Years with this code. The year of cars with a digit in the seventh place comes first. */
function yearsOf(code: string): readonly number[] {
  if (/[1-9]/.test(code)) return [2000 + Number(code), 2030 + Number(code)];
  const place = 'ABCDEFGHJKLMNPRSTVWXY'.indexOf(code);
  return place < 0 ? [] : [1980 + place, 2010 + place];
}

function modelYear(vin: string, { year, vehicle_type }: VehicleRecord, inAmerica: boolean): number | null {
  const [early, late] = yearsOf(vin[9] ?? '');
  if (early === undefined || late === undefined) return null;
  if (inAmerica && (vehicle_type?.id ?? 1) === 1) return DIGITS.includes(vin[6] ?? '') ? early : late;
  return Math.abs(late - year) < Math.abs(year - early) ? late : early;
}

const plain = (make: unknown): string => String(make).toLowerCase().replaceAll(/[\s-]/g, '');

export async function rows(night: WorldNight): Promise<MartRow[]> {
  // The makers come from the seed file.
  return vinFacts(night.cars, await night.rows('manufacturer_codes'));
}

/** The rows of vin_facts for some cars. */
export function vinFacts(cars: readonly VehicleRecord[], codes: readonly MartRow[]): MartRow[] {
  const makers = new Map(codes.map((row) => [String(row.wmi), row]));
  const makes = new Map<string, Set<string>>();
  for (const { make, wmi } of codes)
    makes.set(plain(make), (makes.get(plain(make)) ?? new Set()).add(String(wmi)));
  return cars.flatMap((car): MartRow[] => {
    const vin = car.vin?.trim().toUpperCase() ?? '';
    if (vin === '') return [];
    const row = { vehicle_id: car.id, vin, is_valid: vin.length === 17 && !/[^A-Z0-9]|[IOQ]/.test(vin) };
    if (!row.is_valid) return [{ ...row, ...NOTHING, reason: vin.length === 17 ? 'characters' : 'length' }];
    const wmi = vin.slice(0, 3);
    const inAmerica = /^[12345]/.test(vin) || (vin[0] === '7' && !/^7[A-E]/.test(vin));
    const isRight = 'X' === vin[8] ? remainderOf(vin) === 10 : remainderOf(vin) === Number(vin[8]);
    const year = modelYear(vin, car, inAmerica);
    const known = makers.get(wmi);
    const own = makes.get(plain(car.manufacturer?.name));
    const sameMake = known === undefined || own === undefined ? null : own.has(wmi);
    const isJudged = inAmerica || isRight || ['K', 'L'].includes(wmi[0] ?? '');
    const sameYear = isJudged && year !== null ? year === car.year : null;
    const faults: readonly (readonly [string, boolean])[] = [
      ['placeholder', new Set(vin).size === 1],
      ['check_digit', inAmerica && !isRight],
      ['make', sameMake === false],
      ['year', sameYear === false],
    ];
    return [
      {
        ...row,
        check_digit_ok: isRight,
        wmi,
        manufacturer: known?.manufacturer ?? null,
        country_code: known?.country_code ?? null,
        model_year: year,
        tells_year: isJudged,
        tells_cycle: inAmerica && (car.vehicle_type?.id ?? 1) === 1,
        plant_code: vin[10] ?? null,
        serial: vin.slice(11),
        agrees_with_make: sameMake,
        agrees_with_year: sameYear,
        reason: faults.find(([, isFault]) => isFault)?.[0] ?? null,
      },
    ];
  });
}

const NOTHING: MartRow = {
  check_digit_ok: null,
  wmi: null,
  manufacturer: null,
  country_code: null,
  model_year: null,
  tells_year: null,
  tells_cycle: null,
  plant_code: null,
  serial: null,
  agrees_with_make: null,
  agrees_with_year: null,
};
