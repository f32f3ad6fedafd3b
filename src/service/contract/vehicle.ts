import { z } from 'zod';
import { flag, group, id, integer, list, named, text } from './field.js';
import { historyReportSchema } from './history.js';
import { inspectionSchema } from './inspection.js';
import { lotSchema } from './lot.js';

/** One listing of a vehicle; only its two flags are documented (service.md). */
const listingSchema = z.looseObject({
  has_history_reports: flag('Whether the listing has published history reports.'),
  is_manufacturer_certified: flag('Whether the maker or an official dealer programme certified the vehicle.'),
});

/** The merged vehicle record of `/cars` and the detailed endpoints. */
export const vehicleSchema = z.looseObject({
  id: id('Id of the vehicle.'),
  year: integer('Model year.', { unit: 'year' }),
  title: text('Title of the vehicle.'),
  vin: text('Vehicle identification number; may be missing, shared or fake.'),
  manufacturer: named('manufacturer'),
  model: group('The model.', {
    id: integer('Id of the model.'),
    name: text('Name of the model.'),
    manufacturer_id: integer('Manufacturer of the model.'),
  }),
  generation: group('The generation of the model.', {
    id: integer('Id of the generation.'),
    name: text('Name of the generation.'),
    manufacturer_id: integer('Manufacturer of the generation.'),
    model_id: integer('Model of the generation.'),
  }),
  body_type: named('body type', { values: 'body_type' }),
  color: named('colour', { values: 'color' }),
  engine: named('engine'),
  transmission: named('transmission', { values: 'transmission' }),
  drive_wheel: named('driven wheels', { values: 'drive_wheel' }),
  vehicle_type: named('vehicle type', { values: 'vehicle_type' }),
  fuel: named('fuel', { values: 'fuel' }),
  cylinders: integer('Cylinders of the engine.', { unit: 'count' }),
  doors: integer('Doors.', { unit: 'count' }),
  seats: integer('Seats.', { unit: 'count' }),
  has_inspections: flag('Whether an active listing has a published inspection report.'),
  has_history_reports: flag('Whether an active listing has a published history report.'),
  lots: list(lotSchema, 'Lots of the vehicle.'),
  listings: list(listingSchema, 'Listings of the vehicle.'),
  inspections: list(inspectionSchema, 'Inspection reports of active listings.'),
  vehicle_history_reports: list(historyReportSchema, 'History reports of active listings.'),
});
