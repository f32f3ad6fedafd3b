import type { DuckDBConnection } from '@duckdb/node-api';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Row } from '../duck/session.js';
import { counted, maybe, NONE } from '../query/printable.js';
import type { Chart } from './draw.js';
import { AXES, dateOf, fill, list, unique } from './format.js';
import { fromFirst, type LinePoint, lines, panels } from './line-charts.js';
import { dotMap, LEGEND, placesOf } from './map.js';
import { type Figure, type LegendItem, legendOf, type Numbers, type Section, UNFINISHED } from './page.js';
import { ask, readSpec, tablesOf } from './query.js';
import { bars, ranges } from './row-charts.js';

const axes = z.enum(Object.keys(AXES) as (keyof typeof AXES)[]);

/** A chart. Its texts are columns of each row then, in this order. */
const chartSpec = z.strictObject({
  /** `bars` draws `value`, `ranges` low, middle and high, `lines` and `panels` value by moment, `map` lots at places. */
  kind: z.enum(['bars', 'ranges', 'lines', 'panels', 'map']),
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
  axis: axes.default('count'),
  /** What the axis of ranges shows, what the values are that they rest on, and what they are compared with. */
  label: z.string().default(''),
  noun: z.string().default(''),
  reference: z.number().optional(),
  /** Rows to draw; all by default. */
  first: z.int().optional(),
});

const figureSpec = z.strictObject({
  title: z.string(),
  query: z.string(),
  note: z.string().optional(),
  /** Stands in place of the chart where there are no rows, and where too few have a value. */
  empty: z.string().optional(),
  none: z.string().optional(),
  chart: chartSpec.optional(),
  /** Cells by head. */
  numbers: z.record(z.string(), z.string()),
  /** What is shown without a chart, too. */
  stays: z.array(z.enum(['note', 'numbers'])).default([]),
  newest_first: z.boolean().default(false),
  folded: z.boolean().default(false),
});

const sectionSpec = z.strictObject({
  id: z.string(),
  title: z.string(),
  lead: z.string(),
  figures: z.array(figureSpec),
});

type ChartSpec = z.output<typeof chartSpec>;

/** What is in the report. */
export const spec = z
  .strictObject({ sections: z.array(sectionSpec), reading: z.array(z.string()) })
  .parse(parse(readSpec('report.yml')));

/** Tables that the sections read. */
export const sectionTables = (): string[] =>
  tablesOf(spec.sections.flatMap(({ figures }) => figures.map(({ query }) => query)));

/**
 * Reads the sections from a snapshot.
 * @param facts values that notes tell
 */
export async function readSections(connection: DuckDBConnection, facts: Row): Promise<Section[]> {
  const sections: Section[] = [];
  for (const { figures, ...section } of spec.sections) {
    const read: Figure[] = [];
    for (const figure of figures) read.push(figureOf(figure, await ask(connection, figure.query), facts));
    sections.push({ ...section, figures: read });
  }
  return sections;
}

function figureOf(figure: z.output<typeof figureSpec>, found: readonly Row[], facts: Row): Figure {
  const { title, chart } = figure;
  const all = found.map((row) => withTexts(row, chart));
  const rows = chart?.kind === 'map' ? placesOf(all) : all;
  const shown = figure.newest_first
    ? rows.toSorted((a, b) => dateOf(b.moment).getTime() - dateOf(a.moment).getTime())
    : rows;
  const numbers: Numbers = {
    head: Object.keys(figure.numbers),
    rows: shown.map((row) => Object.values(figure.numbers).map((cell) => fill(cell, row) || NONE)),
    isFolded: figure.folded,
  };
  const note = figure.note === undefined ? undefined : fill(figure.note, facts);
  if (chart === undefined) return { title, note, numbers };
  const drawn = chartOf(chart, title, rows, all);
  if (drawn !== undefined) return { title, note, numbers, ...drawn };
  const words = (rows.length === 0 ? figure.empty : undefined) ?? figure.none;
  const stays = (what: 'note' | 'numbers'): boolean => figure.stays.includes(what);
  return {
    ...{ title, words, note: stays('note') ? note : undefined },
    numbers: stays('numbers') && rows.length > 0 ? numbers : undefined,
  };
}

const TEXTS = ['name', 'short', 'series', 'panel', 'text', 'said'] as const;

/** A row with the texts of its chart. */
function withTexts(row: Row, chart: ChartSpec | undefined): Row {
  const texts: Record<string, unknown> = { ...row };
  for (const text of TEXTS) {
    const template = chart?.[text];
    if (template !== undefined) texts[text] = fill(template, texts);
  }
  return texts;
}

/**
 * Draws a chart; undefined if too few rows have a value.
 * @param rows to draw, of those that were found
 */
function chartOf(
  chart: ChartSpec,
  title: string,
  rows: readonly Row[],
  found: readonly Row[],
): { readonly chart: Chart; readonly legend?: readonly LegendItem[] } | undefined {
  const named = { id: chart.id, title };
  const { kind, reference, noun, label } = chart;
  const [first = {}] = rows;
  const format = (value: number): string => AXES[chart.axis](value, first);
  if (kind === 'bars') {
    const known = rows.filter(({ value }) => value !== null);
    return known.length === 0 ? undefined : { chart: bars(known, named) };
  }
  if (kind === 'ranges') {
    const drawn = rows.slice(0, chart.first);
    if (drawn.every(({ middle }) => middle === null)) return undefined;
    return { chart: ranges(drawn, { ...named, noun, format, reference, axis: label }) };
  }
  if (kind === 'map') {
    if (rows.length < 2) return undefined;
    const top = found.slice(0, 5).map(({ name, lots }) => `${name}: ${counted(lots, 'lot')}`);
    const description = `Dots for ${counted(rows.length, 'state')}. Most lots: ${top.join('; ')}.`;
    return { legend: LEGEND, chart: dotMap(rows, { ...named, description }) };
  }
  const points = rows.map(pointOf);
  const drawn = fromFirst(points);
  if (drawn === undefined) return undefined;
  const groupOf = ({ panel, series }: LinePoint): string => panel ?? series;
  const groups = unique(points.map(groupOf));
  const latest = groups.flatMap(
    (group) => points.findLast((point) => point.value !== null && groupOf(point) === group)?.said ?? [],
  );
  const options = { ...named, format, unit: chart.unit };
  const series = legendOf(unique(points.map((point) => point.series)));
  return {
    legend: chart.unit === 'month' ? [...series, UNFINISHED] : series,
    chart:
      kind === 'lines'
        ? lines(drawn, { ...options, description: latest.join(' ') })
        : panels(drawn, {
            ...options,
            description: `Lines by month for ${list(groups)}. ${latest.join(' ')}`,
          }),
  };
}

const pointOf = (row: Row): LinePoint & { readonly said: string } => ({
  series: String(row.series),
  at: dateOf(row.moment),
  value: maybe(row.value),
  isUnfinished: row.state === 'so far',
  said: String(row.said),
  ...(row.panel === undefined ? {} : { panel: String(row.panel) }),
});
