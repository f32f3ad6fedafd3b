import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from '../../base/config/package-root.js';
import { AXES, unique } from './format.js';

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

/** A cell: its text alone, or with a link to the page of the row's lot or car, and a text that a pointer shows. */
const cellSpec = z.preprocess(
  (given) => (typeof given === 'string' ? { text: given } : given),
  z.strictObject({ text: z.string(), link: z.enum(['lot', 'car']).optional(), hint: z.string().optional() }),
);

const figureSpec = z.strictObject({
  title: z.string(),
  query: z.string(),
  /** Takes the rows of the query whose `level` is this. */
  level: z.string().optional(),
  note: z.string().optional(),
  /** Replaces the chart if there are no rows, or if too few have a value. */
  empty: z.string().optional(),
  none: z.string().optional(),
  chart: chartSpec.optional(),
  /** Cells by head. A `>` before a head marks a column of numbers. */
  numbers: z.record(z.string(), cellSpec),
  /** What is shown even without a chart. */
  stays: z.array(z.enum(['note', 'numbers'])).default([]),
  newest_first: z.boolean().default(false),
  /** Whether the numbers are folded; behind a chart they always are. */
  folded: z.boolean().default(false),
});

const sectionSpec = z.strictObject({
  id: z.string(),
  title: z.string(),
  lead: z.string(),
  /** Repeats the figures for each row of a query at a level, with the rows that have the same value in `column`. */
  each: z
    .strictObject({
      query: z.string(),
      level: z.string(),
      column: z.string(),
      title: z.string(),
      none: z.string(),
    })
    .optional(),
  figures: z.array(figureSpec),
});

/** A cell of a table. */
export type CellSpec = z.output<typeof cellSpec>;

/** A chart of the report. */
export type ChartSpec = z.output<typeof chartSpec>;

/** A section of the report. */
export type SectionSpec = z.output<typeof sectionSpec>;

/** A chart with its numbers, or a text that says why there is none. */
export type FigureSpec = z.output<typeof figureSpec>;

/** The report, as `sql/report/report.yml` describes it. */
export const spec = z
  .strictObject({
    /** A line for each row of a query. */
    changes: z.array(z.strictObject({ query: z.string(), text: z.string() })),
    sections: z.array(sectionSpec),
    reading: z.array(z.string()),
  })
  .parse(load(packageFile('sql/report/report.yml')));

/** The queries of the sections and of "What changed", each once. */
export const specQueries: readonly string[] = unique(
  [...spec.sections.flatMap(({ figures }) => figures), ...spec.changes].map(({ query }) => query),
);
