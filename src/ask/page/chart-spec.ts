import { z } from 'zod';
import { AXES } from './format.js';

/** A chart. Its texts become columns of each row, in this order. */
export const chartSpec = z.strictObject({
  /**
   * `bars` draws `value`, `ranges` low, middle and high, `lines` and `panels` value by moment, `points` value by estimate,
   * `map` lots at places.
   */
  kind: z.enum(['bars', 'ranges', 'lines', 'panels', 'points', 'map']),
  /** Unique in the page. */
  id: z.string(),
  /** Name of a row, and a short one for the map. */
  name: z.string().optional(),
  short: z.string().optional(),
  /** The line and the panel that a row belongs to. */
  series: z.string().optional(),
  panel: z.string().optional(),
  /** Text at the end of a bar. */
  text: z.string().optional(),
  /** Describes each row, or the last point of each line, to readers who do not see the chart. */
  description: z.string().optional(),
  /** What the moments of lines are; an age is a date that many days after 1970-01-01. */
  unit: z.enum(['month', 'day', 'age']).default('month'),
  axis: z.enum(Object.keys(AXES) as (keyof typeof AXES)[]).default('count'),
  /** Label of the axis of ranges, noun of the values that they rest on, and a reference for ranges and lines. */
  label: z.string().default(''),
  noun: z.string().default(''),
  reference: z.number().optional(),
  /** Whether it is as wide as a phone on every screen, beside other charts. */
  small: z.boolean().default(false),
  /** Rows to draw; all by default. */
  first: z.int().optional(),
});

/** A chart of a page. */
export type ChartSpec = z.output<typeof chartSpec>;
