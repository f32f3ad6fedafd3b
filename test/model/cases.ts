import { checkDigit } from '../../src/sandbox/world/vin.js';
import type { Given } from './support.js';

// Small lakes with a Ford F-150 at one source in the United States, for hand-written cases.

export const NOW = '2026-09-10T02:00:00Z';
export const SOLD = 6;
export const NOT_SOLD = 8;
export const lot = (rest: Given = {}): Given => ({
  lot_id: 1,
  vehicle_id: 10,
  domain_id: 3,
  domain_name: 'copart_com',
  location_country_iso: 'us',
  archived: false,
  first_seen_at: '2025-01-01T02:00:00Z',
  ...rest,
});
/** Complete full passes over all sources, two days apart, between two instants, the second one included. */
export function nights(from: string, to: string): Given[] {
  const given: Given[] = [];
  for (let at = Date.parse(to); at >= Date.parse(from); at -= 2 * 86_400_000)
    given.push({
      ...{ pass_id: `p${given.length}`, stream: 'cars', kind: 'full', state: 'sealed', complete: true },
      started_at: new Date(at).toISOString(),
    });
  return given;
}
let nextPrice = 1;
export const entry = (sale_date: string, status_id: number, bid: number | null, rest: Given = {}): Given => ({
  price_id: nextPrice++,
  lot_id: 1,
  domain_id: 3,
  sale_date,
  status_id,
  bid,
  ...rest,
});
export const base = {
  runs: [
    { run_id: 'r0', started_at: '2026-09-09T02:00:00Z', minimum_group: 3, relisting_days: 9 },
    { run_id: 'r', started_at: NOW, minimum_group: 5, relisting_days: 30 },
  ],
  /** The source has been observed since long before the first sale. */
  passes: nights('2025-01-01T02:00:00Z', '2026-09-10T02:00:01Z'),
  vehicles: [
    { vehicle_id: 10, manufacturer_id: 5, manufacturer_name: ' Ford ', model_id: 50, model_name: 'F-150 ' },
  ],
};

/** A VIN with its check digit; its tenth character is the code of a model year. */
export function vinOf(start: string, code: string, serial = 1): string {
  const text = (digit: string): string =>
    `${start.padEnd(8, 'A')}${digit}${code}U${String(serial).padStart(6, '0')}`;
  return text(checkDigit(text('0')));
}

/** The vehicle of `base` with a model year, because prices are compared by year. */
export const ofYear = [{ ...base.vehicles[0], year: 2020 }];
/** A lot of such a vehicle, sold at its first attempt. */
export const soldFor = (final_bid: number, rest: Given = {}): Given =>
  lot({ lot_id: final_bid, sale_date: '2026-08-01T15:00:00Z', status_id: SOLD, final_bid, ...rest });
/** Lots with one auction each, numbered from `from`. */
export const auctioned = (
  count: number,
  from: number,
  day: string,
  status_id: number,
  rest: Given = {},
): Given[] =>
  Array.from({ length: count }, (_, place) =>
    lot({ lot_id: from + place, sale_date: `${day}T15:00:00Z`, status_id, final_bid: 1000, ...rest }),
  );

/** The same rows, but each lot has its own vehicle, as most lots do: a copy of the vehicle that it names. */
export function apart(given: Readonly<Record<string, readonly Given[]>>): Record<string, readonly Given[]> {
  const lots = (given.lots ?? []).map((row) => ({ row, vehicle_id: `${row.vehicle_id}000${row.lot_id}` }));
  const vehicles = lots.flatMap(({ row, vehicle_id }) =>
    (given.vehicles ?? []).filter((v) => v.vehicle_id === row.vehicle_id).map((v) => ({ ...v, vehicle_id })),
  );
  return {
    ...given,
    lots: lots.map(({ row, vehicle_id }) => ({ ...row, vehicle_id })),
    vehicles: [...new Map(vehicles.map((v) => [v.vehicle_id, v])).values()],
  };
}
