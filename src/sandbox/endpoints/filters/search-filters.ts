import { integer, single } from '../parameter.js';
import { type Filter, vehicleFilter } from './condition.js';

const answers: ReadonlyMap<string, boolean> = new Map([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
]);

const yesNo = (what: string) => single('0, 1, false or true', what, (text) => answers.get(text) ?? null);

/** Filters that only `/search` and `/search/count` have (service.md, reports.md). */
export const searchFilters = {
  seats: vehicleFilter(integer('exactly this many seats'), (row, seats) => row.seats === seats),
  has_inspections: vehicleFilter(
    yesNo('whether an active listing has an inspection report'),
    (row, wanted) => row.inspected === wanted,
  ),
  has_history_reports: vehicleFilter(
    yesNo('whether an active listing has a history report'),
    (row, wanted) => row.reported === wanted,
  ),
  'listings[].has_history_reports': vehicleFilter(
    yesNo('whether there is a listing with, or without, a history report'),
    (row, wanted) => row.listings.some((listing) => listing.reported === wanted),
  ),
  'listings[].is_manufacturer_certified': vehicleFilter(
    yesNo('whether there is a listing that is, or is not, certified by the maker'),
    (row, wanted) => row.listings.some((listing) => listing.certified === wanted),
  ),
} as const satisfies Record<string, Filter>;
