import * as Plot from '@observablehq/plot';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { maybe } from '../query/printable.js';
import { type Drawing, draw, type LegendItem, type Size } from './draw.js';
import { dateOf, list, month, unique } from './format.js';

/** Marks of series, in order; the page says what their colours are in light and in dark. */
const SERIES: readonly Omit<LegendItem, 'name'>[] = [
  { fill: 'var(--c0)', symbol: 'circle' },
  { fill: 'var(--c1)', symbol: 'square' },
  { fill: 'var(--c2)', symbol: 'triangle' },
  { fill: 'var(--c3)', symbol: 'diamond' },
];

/** The series of some rows with their marks; the fifth and later ones are grey. */
const seriesOf = (rows: readonly Row[]): LegendItem[] =>
  unique(rows.map(({ series }) => String(series))).map((name, i) => ({
    name,
    ...(SERIES[i] ?? { fill: 'var(--muted)', symbol: 'circle' }),
  }));

/** How the charts mark a month that is not over, so that its value may change. */
const UNFINISHED: LegendItem = { name: 'month so far', fill: 'var(--paper)', symbol: 'ring' };

const atOf = ({ moment }: Row): Date => dateOf(moment);
const timeOf = (row: Row): number => atOf(row).getTime();
const heightOf = ({ value }: Row): number | null => maybe(value);
const panelOf = ({ panel }: Row): string => String(panel ?? '');

/**
 * Lines of series over time, from zero, in one panel or in one for each name in `panel`. Undefined if fewer than two
 * moments have a value. The axis does not begin with moments without one; elsewhere null breaks a line.
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
    .flatMap((group) => known.findLast((row) => groupOf(row) === group)?.said ?? [])
    .join(' ');
  const legend = [...seriesOf(rows), ...(chart.unit === 'month' ? [UNFINISHED] : [])];
  return chart.kind === 'lines'
    ? draw(drawing, latest, lines(drawn), legend)
    : draw(drawing, `Lines by month for ${list(groups)}. ${latest}`, panels(drawn), legend);
}

const dayOnAxis = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const timeTick =
  ({ chart: { unit } }: Drawing) =>
  (date: Date): string =>
    unit === 'day' ? dayOnAxis.format(date) : month(date).replace(/ 20(\d\d)$/, ' ’$1');

/** Instants for the ticks of a time axis: no more than `most`, evenly chosen from those that have points, the last one in. */
function timeTicks(rows: readonly Row[], most: number): Date[] {
  const times = [...new Set(rows.map(timeOf))].sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil((times.length - 1) / Math.max(1, most - 1)));
  return times.filter((_, i) => (times.length - 1 - i) % step === 0).map((time) => new Date(time));
}

/** Scales of the values and the series, and a grid with so many lines. */
function scalesOf({ rows, format }: Drawing, ticks: number) {
  const series = seriesOf(rows);
  const domain = series.map(({ name }) => name);
  const grid = Plot.gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks });
  const y = { label: null, zero: true, nice: ticks, ticks, tickSize: 0, tickFormat: format } as const;
  const color = { type: 'ordinal', domain, range: series.map(({ fill }) => fill) } as const;
  const symbol = { type: 'ordinal', domain, range: series.map((item) => item.symbol) } as const;
  return { grid, scales: { y, color, symbol } };
}

const lines =
  (drawing: Drawing) =>
  ({ isNarrow }: Size): Plot.PlotOptions => {
    const { grid, scales } = scalesOf(drawing, 5);
    const ticks = timeTicks(drawing.rows, isNarrow ? 4 : 8);
    return {
      ...scales,
      height: isNarrow ? 240 : 300,
      marginLeft: 52,
      marginRight: 24,
      x: { type: 'utc', label: null, ticks, tickFormat: timeTick(drawing) },
      marks: [grid, ...lineMarks(drawing.rows)],
    };
  };

/** Panels of small multiples, all with the same axes. */
const panels =
  (drawing: Drawing) =>
  ({ isNarrow }: Size): Plot.PlotOptions => {
    const { grid, scales } = scalesOf(drawing, 3);
    const titles = unique(drawing.rows.map(panelOf));
    const columns = isNarrow ? 2 : 3;
    const column = (title: string): number => titles.indexOf(title) % columns;
    const line = (title: string): number => Math.floor(titles.indexOf(title) / columns);
    const facet = { fx: (row: Row) => column(panelOf(row)), fy: (row: Row) => line(panelOf(row)) };
    return {
      ...scales,
      height: Math.ceil(titles.length / columns) * (isNarrow ? 140 : 170) + 40,
      marginLeft: 52,
      marginRight: 16,
      x: { type: 'utc', axis: null },
      fx: { axis: null, padding: 0.12 },
      fy: { axis: null, padding: 0.26 },
      marks: [
        grid,
        ...ends(drawing),
        Plot.text(titles, {
          text: (d: string) => d,
          fx: column,
          fy: line,
          frameAnchor: 'top-left',
          dy: -17,
          fontWeight: 600,
          fill: 'var(--ink)',
          lineWidth: isNarrow ? 10 : 15.5,
          textOverflow: 'ellipsis',
        }),
        ...lineMarks(drawing.rows, facet),
      ],
    };
  };

/** The first and the last instant below the lowest panels, each within its panel. */
function ends(drawing: Drawing): Plot.Markish[] {
  const times = drawing.rows.map(timeOf);
  const tick = (time: number, textAnchor: 'start' | 'end'): Plot.Markish =>
    Plot.axisX([new Date(time)], { textAnchor, tickSize: 0, label: null, tickFormat: timeTick(drawing) });
  return [tick(Math.min(...times), 'start'), tick(Math.max(...times), 'end')];
}

function lineMarks(rows: readonly Row[], facet: object = {}): Plot.Markish[] {
  const channels = { x: atOf, y: heightOf, z: 'series', ...facet };
  const isUnfinished = ({ state }: Row): boolean => state === 'so far';
  return [
    Plot.line(rows, { ...channels, stroke: 'series', strokeWidth: 2 }),
    Plot.dot(
      rows.filter((row) => !isUnfinished(row)),
      { ...channels, fill: 'series', symbol: 'series', r: 2.6 },
    ),
    Plot.dot(rows.filter(isUnfinished), {
      ...channels,
      fill: 'var(--paper)',
      stroke: 'series',
      symbol: 'series',
      r: 3,
    }),
  ];
}
