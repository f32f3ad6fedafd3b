import type { Given } from './support.js';

// Small lakes of a Ford F-150 at one source, for cases that are written by hand.

export const NOW = '2026-09-10T02:00:00Z';
export const SOLD = 6;
export const lot = (rest: Given = {}): Given => ({
  lot_id: 1,
  vehicle_id: 10,
  domain_id: 3,
  domain_name: 'copart_com',
  archived: false,
  ...rest,
});
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
    { run_id: 'r0', started_at: '2026-09-09T02:00:00Z', minimum_group: 3 },
    { run_id: 'r', started_at: NOW, minimum_group: 5 },
  ],
  passes: [{ pass_id: 'p', stream: 'cars', state: 'sealed', started_at: '2026-09-10T02:00:01Z' }],
  vehicles: [
    { vehicle_id: 10, manufacturer_id: 5, manufacturer_name: ' Ford ', model_id: 50, model_name: 'F-150 ' },
  ],
};
