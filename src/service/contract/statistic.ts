import { z } from 'zod';
import { AMOUNT, id, integer, named, number, text, timestamp } from './field.js';

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
