import * as Plot from '@observablehq/plot';
import { numberOrNull } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type Drawing, draw, type LegendItem, type Mark, markOf, REFERENCE, type Size } from './draw.js';
import { dateOf, list, month, unique } from './format.js';
import type { Html } from './html.js';

/** Marks of series that are not sources, in order. */
const SERIES: readonly Mark[] = [
  { fill: 'var(--mark)', symbol: 'circle' },
  { fill: 'var(--soft-ink)', symbol: 'square' },
  { fill: 'var(--c3)', symbol: 'diamond' },
];

/** The series of some rows with their marks. */
export const seriesOf = (rows: readonly Row[]): LegendItem[] =>
  unique(rows.map(({ series }) => String(series))).map((name, i) => {
    const row = rows.find(({ series }) => series === name) ?? {};
    return { name, ...(numberOrNull(row.domain_id) === null ? (SERIES[i] ?? markOf(row)) : markOf(row)) };
  });

/** Marks a month that is not over, or was not observed as a whole, so that its value may change. */
const IN_PART: LegendItem = { name: 'month in part', fill: 'var(--paper)', symbol: 'ring' };

const atOf = ({ moment }: Row): Date => dateOf(moment);
const timeOf = (row: Row): number => atOf(row).getTime();
const heightOf = ({ value }: Row): number | null => numberOrNull(value);
const panelOf = ({ panel }: Row): string => String(panel ?? '');
const isInPart = ({ state }: Row): boolean => (state ?? null) !== null;

/**
 * Lines of series over time, from zero or around a reference, in one panel or in one for each name in `panel`. Undefined
 * if fewer than two moments have a value. The axis begins with the first of them; after that, null breaks a line.
 */
export function overTime(drawing: Drawing): Html | undefined {
  const { chart, rows } = drawing;
  const known = rows.filter((row) => heightOf(row) !== null);
  const times = new Set(known.map(timeOf));
  if (times.size < 2) return undefined;
  const first = Math.min(...times);
  const drawn = { ...drawing, rows: rows.filter((row) => timeOf(row) >= first) };
  const groupOf = ({ panel, series }: Row): string => String(panel ?? series);
  const groups = unique(rows.map(groupOf));
  const latest = groups
    .flatMap((group) => known.findLast((row) => groupOf(row) === group)?.description ?? [])
    .join(' ');
  const series = seriesOf(rows);
  const legend = [...(series.length > 1 ? series : []), ...(known.some(isInPart) ? [IN_PART] : [])];
  return chart.kind === 'lines'
    ? draw(drawing, latest, (size) => lines(drawn, size), legend)
    : draw(
        drawing,
        `Lines by ${chart.unit === 'age' ? 'day' : 'month'} for ${list(groups)}. ${latest}`,
        (size) => panels(drawn, size),
        legend,
      );
}

const dayOnAxis = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const DAY = 86_400_000;

function timeTick({ chart: { unit } }: Drawing): (date: Date) => string {
  if (unit === 'age') return (date) => String(date.getTime() / DAY);
  if (unit === 'day') return (date) => dayOnAxis.format(date);
  return (date) => month(date).replace(/ 20(\d\d)$/, ' ’$1');
}

/** Ticks of a time axis: at most `most` of the instants that have points, evenly spaced and with the last one. */
function timeTicks(rows: readonly Row[], most: number): Date[] {
  const times = [...new Set(rows.map(timeOf))].sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil((times.length - 1) / Math.max(1, most - 1)));
  return times.filter((_, i) => (times.length - 1 - i) % step === 0).map((time) => new Date(time));
}

/**
 * The extent of the value axis. Without a reference it goes from zero to a little above the values, and clips wide
 * intervals. With a reference it holds the whole intervals.
 */
function extentOf({ rows, chart: { reference } }: Drawing): [number, number] {
  const known = (column: string): number[] => rows.flatMap((row) => numberOrNull(row[column]) ?? []);
  if (reference === undefined) return [0, Math.max(...known('value')) * 1.1];
  const values = [reference, ...['value', 'interval_low', 'interval_high'].flatMap(known)];
  return [Math.min(...values), Math.max(...values)];
}

/** Scales of values and series, and a grid with some number of lines. */
function scalesOf(drawing: Drawing, ticks: number) {
  const { rows, format: tickFormat, chart } = drawing;
  const series = seriesOf(rows);
  const domain = series.map(({ name }) => name);
  const grid = [
    Plot.gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks }),
    Plot.ruleY(chart.reference === undefined ? [] : [chart.reference], REFERENCE),
  ];
  const y = {
    label: null,
    domain: extentOf(drawing),
    clamp: true,
    nice: ticks,
    ticks,
    tickSize: 0,
    tickFormat,
  };
  const color = { type: 'ordinal', domain, range: series.map(({ fill }) => fill) } as const;
  const symbol = { type: 'ordinal', domain, range: series.map((item) => item.symbol) } as const;
  return { grid, scales: { marginLeft: 52, y, color, symbol, r: { range: [0, 4.5] } } };
}

function lines(drawing: Drawing, size: Size): Plot.PlotOptions {
  const { isNarrow } = size;
  const { grid, scales } = scalesOf(drawing, 5);
  const ticks = timeTicks(drawing.rows, isNarrow ? 4 : 8);
  return {
    ...scales,
    height: isNarrow ? 240 : 300,
    marginRight: 24,
    x: { type: 'utc', label: null, ticks, tickFormat: timeTick(drawing) },
    marks: [...grid, ...lineMarks(drawing.rows, size)],
  };
}

/** Panels of small multiples, all with the same axes. */
function panels(drawing: Drawing, size: Size): Plot.PlotOptions {
  const { isNarrow } = size;
  const { grid, scales } = scalesOf(drawing, 3);
  const titles = unique(drawing.rows.map(panelOf));
  const columns = isNarrow ? 2 : 3;
  const column = (title: string): number => titles.indexOf(title) % columns;
  const line = (title: string): number => Math.floor(titles.indexOf(title) / columns);
  const facet = { fx: (row: Row) => column(panelOf(row)), fy: (row: Row) => line(panelOf(row)) };
  const title = Plot.text(titles, {
    text: (d: string) => d,
    fx: column,
    fy: line,
    frameAnchor: 'top-left',
    dy: -17,
    fontWeight: 600,
    fill: 'var(--ink)',
    lineWidth: isNarrow ? 10 : 15.5,
    textOverflow: 'ellipsis',
  });
  return {
    ...scales,
    height: Math.ceil(titles.length / columns) * (isNarrow ? 140 : 170) + 40,
    marginRight: 16,
    x: { type: 'utc', axis: null },
    fx: { axis: null, padding: 0.12 },
    fy: { axis: null, padding: 0.26 },
    marks: [...grid, ...ends(drawing), title, ...lineMarks(drawing.rows, size, facet)],
  };
}

/** The first and the last instant below the lowest panels, each within its panel; of ages, all that have room. */
function ends(drawing: Drawing): Plot.Markish[] {
  const times = drawing.rows.map(timeOf);
  const tick = (at: readonly number[], textAnchor: 'start' | 'middle' | 'end'): Plot.Markish =>
    Plot.axisX(
      at.map((time) => new Date(time)),
      { textAnchor, tickSize: 0, label: null, tickFormat: timeTick(drawing) },
    );
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const between =
    drawing.chart.unit === 'age' ? apart(times).filter((time) => time > first && time < last) : [];
  return [tick([first], 'start'), tick(between, 'middle'), tick([last], 'end')];
}

/** Those of some instants that lie a seventh of their range or more before the next one, and the last one. */
function apart(times: readonly number[]): number[] {
  const [last, ...others] = [...new Set(times)].sort((a, b) => b - a);
  const kept = last === undefined ? [] : [last];
  const gap = (Math.max(...times) - Math.min(...times)) / 7;
  for (const time of others) if (Number(kept.at(-1)) - time >= gap) kept.push(time);
  return kept;
}

/**
 * Lines over the 95 % intervals of their points, dashed next to a month in part. Points grow with the number of values
 * that they rest on. With tips, each shows its text when the reader points at it.
 */
function lineMarks(rows: readonly Row[], { hasTips }: Size, facet: object = {}): Plot.Markish[] {
  const channels = { x: atOf, z: 'series', ...facet };
  const interval = { ...channels, y1: 'interval_low', y2: 'interval_high' };
  const dots = {
    ...channels,
    y: heightOf,
    symbol: 'series',
    title: hasTips ? 'description' : null,
    r: rows.some(({ based_on }) => based_on !== undefined) ? 'based_on' : 2.6,
  };
  return [
    Plot.areaY(rows, { ...interval, fill: 'series', fillOpacity: 0.14 }),
    Plot.ruleX(rows, { ...interval, stroke: 'series', strokeOpacity: 0.45 }),
    Plot.lineY(rows, { ...channels, y: (row) => (isInPart(row) ? null : heightOf(row)), stroke: 'series' }),
    Plot.link(loosePairs(rows), {
      ...channels,
      x: null,
      x1: ({ from }) => atOf(from),
      x2: atOf,
      y1: ({ from }) => heightOf(from),
      y2: heightOf,
      stroke: 'series',
      strokeWidth: 1.5,
      strokeDasharray: '2 3',
    }),
    Plot.dot(
      rows.filter((row) => !isInPart(row)),
      { ...dots, fill: 'series', stroke: 'transparent', strokeWidth: 8 },
    ),
    Plot.dot(rows.filter(isInPart), { ...dots, fill: 'var(--paper)', stroke: 'series' }),
  ];
}

/** Points of a line that are a month in part or follow one, each with the point before it as `from`. */
function loosePairs(rows: readonly Row[]): Row[] {
  const lineOf = ({ panel, series }: Row): string => JSON.stringify([panel, series]);
  return rows.flatMap((row, i) => {
    const from = rows[i - 1];
    const isLoose = from !== undefined && lineOf(from) === lineOf(row) && [from, row].some(isInPart);
    return isLoose && heightOf(from) !== null && heightOf(row) !== null ? [{ ...row, from }] : [];
  });
}
