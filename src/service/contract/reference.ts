import { z } from 'zod';
import { AMOUNT, flag, id, integer, named, number, text, textId, timestamp } from './field.js';

const counted = (what: string) => integer(`Vehicles of the ${what} in the feed.`, { unit: 'count' });

/** A manufacturer of `/manufacturers/{type}`. */
export const manufacturerSchema = z.looseObject({
  id: id('Id of the manufacturer.'),
  name: text('Name of the manufacturer.'),
  cars_qty: counted('manufacturer'),
  image: text('Logo of the manufacturer.', { unit: 'URL' }),
  models_qty: integer('Models of the manufacturer.', { unit: 'count' }),
  cars: flag('Whether there are car models.'),
  motorcycles: flag('Whether there are motorcycle models.'),
});

/** A model of `/models/{manufacturer_id}/{type}`. */
export const modelSchema = z.looseObject({
  id: id('Id of the model.'),
  name: text('Name of the model.'),
  cars_qty: counted('model'),
  manufacturer_id: integer('Manufacturer of the model.'),
  generations_qty: integer('Generations of the model.', { unit: 'count' }),
  vehicle_type: named('vehicle type', { values: 'vehicle_type' }),
});

/** A generation of `/generations/{model_id}/{type}`. */
export const generationSchema = z.looseObject({
  id: id('Id of the generation.'),
  name: text('Name of the generation.'),
  cars_qty: counted('generation'),
  from_year: integer('First year of production.', { unit: 'year' }),
  to_year: integer('Last year of production; null while it is built.', { unit: 'year' }),
  manufacturer_id: integer('Manufacturer of the generation.'),
  model_id: integer('Model of the generation.'),
});

const reference = (what: string) =>
  z.looseObject({
    id: id(`Id of the ${what}.`),
    name: text(`Name of the ${what}.`),
    code: text(`Code of the ${what}.`),
  });

/** A row of `/usa/damages`; ids from about 100 on are codes that no person entered. */
export const damageSchema = z.looseObject({ ...reference('damage').shape, id: textId('Id of the damage.') });

/** A row of `/usa/titles`. */
export const titleRecordSchema = reference('title document');

/** A row of `/usa/states`; the code comes as `code` or as `state_code`. */
export const stateSchema = z.looseObject({
  ...reference('state').shape,
  state_code: text('Code of the state, in its other form.'),
});

/** A row of `/usa/cities/{state_id}`. */
export const citySchema = z.looseObject({
  ...reference('city').shape,
  state_id: integer('State of the city.'),
});

/** A row of `/korea-duplicates`: a lot of source 12 that repeats another. */
export const duplicateSchema = z.looseObject({
  original_id: textId('Lot number that the other repeats, as in lots.lot.'),
  duplicate_id: textId('Lot number of the repetition, as in lots.lot.'),
});

/** A row of `/korea-options`: what a code in `details.options.standard` of source 12 means. */
export const defaultOptionSchema = z.looseObject({
  id: id('Id of the option.'),
  code: text('Code of the option, three digits as text.'),
  name: text('Name of the option.'),
  name_original: text('Name of the option in the language of the source.'),
  sort: integer('Place of the option in its section.'),
  section: text('Section of the option.'),
  section_name: text('Name of the section.'),
  description: text('Description of the option.'),
  location: text('Where on the vehicle the option is.'),
  image: text('Picture of the option.', { unit: 'URL' }),
});

/** One row of `/statistics`: the service's own averages for a group (field-notes.md). */
export const statisticSchema = z.looseObject({
  id: id('Id of the statistic.'),
  year: integer('Model year of the group.', { unit: 'year' }),
  vehicle_type: named('vehicle type', { values: 'vehicle_type' }),
  avg_final_bid: number('Average final bid of the group.', { unit: AMOUNT }),
  min_final_bid: number('Lowest final bid of the group.', { unit: AMOUNT }),
  max_final_bid: number('Highest final bid of the group.', { unit: AMOUNT }),
  lot_count: integer('Lots in the group.', { unit: 'count' }),
  calculated_at: timestamp('When the service calculated the row.'),
  year_calc_at: text('When the year figure was calculated, as the service writes it.'),
  month_calc_at: text('When the month figure was calculated, as the service writes it.'),
  day_calc_at: text('When the day figure was calculated, as the service writes it.'),
  manufacturer: named('manufacturer'),
  car_model: named('model'),
  generation: named('generation'),
  engine: named('engine'),
  domain: named('source platform', { values: 'domain' }),
});
