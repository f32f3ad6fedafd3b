import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from '../config/package-root.js';
import { AXES, unique } from './format.js';

/** A chart. Its texts are columns of each row then, in this order. */
const chartSpec = z.strictObject({
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
  /** Line that a row is a point of, and its panel. */
  series: z.string().optional(),
  panel: z.string().optional(),
  /** What stands at the end of a bar. */
  text: z.string().optional(),
  /** What is said to those who do not see the chart, of each row or of the last point of each line. */
  said: z.string().optional(),
  unit: z.enum(['month', 'day']).default('month'),
  axis: z.enum(Object.keys(AXES) as (keyof typeof AXES)[]).default('count'),
  /** What the axis of ranges shows, what the values are that they rest on, and what these and lines are compared with. */
  label: z.string().default(''),
  noun: z.string().default(''),
  reference: z.number().optional(),
  /** Whether it is as wide as a phone everywhere, beside others. */
  small: z.boolean().default(false),
  /** Rows to draw; all by default. */
  first: z.int().optional(),
});

const figureSpec = z.strictObject({
  title: z.string(),
  query: z.string(),
  /** Takes the rows of the query whose `level` is this. */
  level: z.string().optional(),
  note: z.string().optional(),
  /** Stands in place of the chart where there are no rows, and where too few have a value. */
  empty: z.string().optional(),
  none: z.string().optional(),
  chart: chartSpec.optional(),
  /** Cells by head. A head that begins with `>` is that of a column of numbers. */
  numbers: z.record(z.string(), z.string()),
  /** What is shown without a chart, too. */
  stays: z.array(z.enum(['note', 'numbers'])).default([]),
  newest_first: z.boolean().default(false),
  /** Whether a reader unfolds the numbers; behind a chart that is always so. */
  folded: z.boolean().default(false),
});

const sectionSpec = z.strictObject({
  id: z.string(),
  title: z.string(),
  lead: z.string(),
  /** Repeats the figures, folded, for each row of a query at a level, with those rows that have the same in a column. */
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

/** A chart of the report. */
export type ChartSpec = z.output<typeof chartSpec>;

/** A section of the report. */
export type SectionSpec = z.output<typeof sectionSpec>;

/** A picture with its numbers, or the words that say why there is none. */
export type FigureSpec = z.output<typeof figureSpec>;

/** What is in the report. */
export const spec = z
  .strictObject({
    /** A line for each row of a query. */
    changes: z.array(z.strictObject({ query: z.string(), text: z.string() })),
    sections: z.array(sectionSpec),
    reading: z.array(z.string()),
  })
  .parse(load(packageFile('sql/report/report.yml')));

/** The queries of the sections and of what changed, each once. */
export const specQueries: readonly string[] = unique(
  [...spec.sections.flatMap(({ figures }) => figures), ...spec.changes].map(({ query }) => query),
);
