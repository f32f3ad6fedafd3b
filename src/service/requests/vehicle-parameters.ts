import { enumerations } from '../contract/enumerations.js';
import { enumerated, flag, idList, integer, text } from './kinds.js';
import { optional } from './parameter.js';

/** Filters on the vehicle itself (service.md, `/cars`). */
export const vehicleParameters = {
  manufacturer_id: optional(idList, 'Only these manufacturers: one id or a list of ids.'),
  model_id: optional(integer(), 'Only this model, an id of /models.'),
  generation_id: optional(integer(), 'Only this generation, an id of /generations.'),
  from_year: optional(integer(), 'First model year.'),
  to_year: optional(integer(), 'Last model year.'),
  year: optional(integer(), 'Only this model year.'),
  vehicle_type: optional(enumerated(enumerations.vehicle_type), 'Only this type of vehicle.'),
  vin: optional(text, 'VIN; with _ at its end a prefix, with _ at its start a suffix.'),
  name: optional(text, "Part of the lot's name."),
  cylinders: optional(integer(), 'Only engines with this many cylinders.'),
  engine_name: optional(text, "Part of the engine's name."),
  body_type: optional(enumerated(enumerations.body_type), 'Only this body type.'),
  color: optional(enumerated(enumerations.color), 'Only this colour.'),
  transmission: optional(enumerated(enumerations.transmission), 'Only this transmission.'),
  drive_wheel: optional(enumerated(enumerations.drive_wheel), 'Only this drive.'),
  fuel_type: optional(enumerated(enumerations.fuel), 'Only this fuel.'),
} as const;

/** Filters that only `/search` and `/search/count` have (service.md; reports.md, rule 2). */
export const searchOnlyParameters = {
  seats: optional(integer(), 'Exactly this many seats.'),
  has_inspections: optional(flag, 'Whether an active listing has an inspection report.'),
  has_history_reports: optional(flag, 'Whether an active listing has a history report.'),
  'listings[].has_history_reports': optional(flag, 'Whether there is a listing with a history report.'),
  'listings[].is_manufacturer_certified': optional(
    flag,
    'Whether there is a listing that is certified by the maker or an official dealer programme.',
  ),
} as const;
