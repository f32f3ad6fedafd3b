import { enumerations } from '../../../service/contract/enumerations.js';
import type { VehicleRow } from '../../lookup/row.js';
import { enumerated, idList, integer, text } from '../parameter.js';
import { type Filter, holds, vehicleFilter } from './condition.js';

const byId = (what: string, idOf: (row: VehicleRow) => number | null): Filter =>
  vehicleFilter(integer(`only ${what}`), (row, id) => idOf(row) === id);

const byKind = (
  what: string,
  values: Readonly<Record<number, string>>,
  idOf: (row: VehicleRow) => number | null,
): Filter => vehicleFilter(enumerated(`only this ${what}`, values), (row, id) => idOf(row) === id);

/** `_` at the end asks for a beginning, at the start for an end, at both for a part. */
function vinMatches(vin: string | null, wanted: string): boolean {
  if (vin === null) return false;
  const [seen, part] = [vin.toUpperCase(), wanted.replaceAll(/^_|_$/g, '').toUpperCase()];
  const [open, close] = [wanted.startsWith('_'), wanted.endsWith('_')];
  if (open && close) return seen.includes(part);
  if (open) return seen.endsWith(part);
  return close ? seen.startsWith(part) : seen === part;
}

/** Filters on the vehicle itself (service.md, `/cars`). */
export const vehicleFilters = {
  manufacturer_id: vehicleFilter(idList('only these manufacturers'), (row, ids) =>
    ids.includes(row.manufacturer),
  ),
  model_id: byId('this model', (row) => row.model),
  generation_id: byId('this generation', (row) => row.generation),
  from_year: vehicleFilter(integer('first model year'), (row, year) => row.year >= year),
  to_year: vehicleFilter(integer('last model year'), (row, year) => row.year <= year),
  year: byId('this model year', (row) => row.year),
  vehicle_type: byKind('vehicle type', enumerations.vehicle_type, (row) => row.vehicleType),
  vin: vehicleFilter(
    text('VIN, in any case; `_` at its end asks for a prefix, at its start for a suffix'),
    (row, vin) => vinMatches(row.vin, vin),
  ),
  name: vehicleFilter(text('part of the title, in any case'), (row, part) => holds(row.title, part)),
  cylinders: byId('engines with this many cylinders', (row) => row.cylinders),
  engine_name: vehicleFilter(text("part of the engine's name, in any case"), (row, part) =>
    holds(row.engine, part),
  ),
  body_type: byKind('body type', enumerations.body_type, (row) => row.body),
  color: byKind('colour', enumerations.color, (row) => row.color),
  transmission: byKind('transmission', enumerations.transmission, (row) => row.transmission),
  drive_wheel: byKind('drive', enumerations.drive_wheel, (row) => row.wheels),
  fuel_type: byKind('fuel', enumerations.fuel, (row) => row.fuel),
} as const satisfies Record<string, Filter>;
