import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from '../../base/config/package-root.js';
import { chartSpec } from '../page/chart-spec.js';
import { unique } from '../page/format.js';
import { numbersSpec } from '../page/numbers-table.js';

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
  /** Cells by head, or `lots` for cards of lots. */
  numbers: z.union([z.literal('lots'), numbersSpec]),
  /** What is shown even without a chart. */
  stays: z.array(z.enum(['note', 'numbers'])).default([]),
  newest_first: z.boolean().default(false),
  /** Rows of it that the first page of the explorer shows at most, and its title there. */
  home: z
    .strictObject({
      rows: z.int(),
      title: z.string().optional(),
      /** The column that its rows have there. */
      only: z.string().optional(),
    })
    .optional(),
  /** Whether the numbers are folded; behind a chart they always are. */
  folded: z.boolean().default(false),
});

const sectionSpec = z.strictObject({
  id: z.string(),
  title: z.string(),
  lead: z.string(),
  /** Rests on the user's tables of costs: silent if there is nothing to show, and left out of what is for others. */
  costs: z.boolean().default(false),
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
