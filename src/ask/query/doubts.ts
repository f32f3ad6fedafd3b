import { count, printable, words } from '../../base/config/printable.js';
import type { Value } from './valuation.js';

/** Why a reading does not count whose status says nothing against it. */
const UNUSED: Readonly<Record<string, string>> = {
  'actual unusable': 'it is missing, out of range, or its unit is not certain',
  'unknown unusable': 'it is missing, out of range, or its unit is not certain',
  implausible: 'it is too low for the age of the car',
};

/** What a reader must know of a car before he believes its estimate: what its VIN contradicts, and what its odometer read. */
export function doubtsOf({ vin, year_origin, odometer, rollbacks }: Value): string[] {
  const says: Readonly<Record<string, string | false>> = {
    // The note tells of a year that is not the feed's.
    year:
      year_origin === 'feed' &&
      `the VIN says model year ${printable(vin?.vin_year)}, the feed ${printable(vin?.feed_year)}`,
    make: `the VIN is one of ${printable(vin?.vin_manufacturer)}, not of ${printable(vin?.feed_manufacturer)}`,
    check_digit: 'the VIN has a wrong check digit',
  };
  const reason = printable(vin?.reason);
  const isUnused = odometer !== null && odometer !== 'usable' && odometer !== 'year unknown';
  const said = [
    reason !== '' && (says[reason] ?? `the VIN cannot be read: ${words(reason)}`),
    isUnused &&
      `the odometer does not count: ${UNUSED[odometer] ?? `its status in the feed is “${words(odometer.replace(/ unusable$/, ''))}”`}`,
    ...rollbacks.map(
      ({ read_on, km, highest_km }) =>
        `odometer rolled back: ${count(km)} km on ${printable(read_on)}, after ${count(highest_km)} km`,
    ),
  ];
  return said.filter((text) => text !== false);
}
