import * as Plot from '@observablehq/plot';
import { type Alternative, type Chart, colours, draw, symbols } from './draw.js';
import { month, unique } from './format.js';

/** A point of a line; null breaks the line. */
export interface LinePoint {
  readonly series: string;
  readonly at: Date;
  readonly value: number | null;
  /** Whether its month still goes on, so that it may change. */
  readonly isUnfinished?: boolean;
  /** Panel of a chart of small multiples. */
  readonly panel?: string;
}

/** How a chart writes its axes, and what it says. */
export interface LineOptions extends Alternative {
  readonly format: (value: number) => string;
  /** Whether times are months or days. */
  readonly unit: 'month' | 'day';
}

const dayOnAxis = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const timeTick =
  ({ unit }: LineOptions) =>
  (date: Date): string =>
    unit === 'day' ? dayOnAxis.format(date) : month(date).replace(/ 20(\d\d)$/, ' ’$1');

/**
 * Points from the first instant on that has a value, so that an axis does not begin with nothing; undefined if fewer than
 * two instants have one.
 */
export function fromFirst<T extends LinePoint>(points: readonly T[]): T[] | undefined {
  const times = new Set(points.filter(({ value }) => value !== null).map(({ at }) => at.getTime()));
  const first = Math.min(...times);
  return times.size < 2 ? undefined : points.filter(({ at }) => at.getTime() >= first);
}

/** Instants for the ticks of a time axis: no more than `most`, evenly chosen from those that have points, the last one in. */
function timeTicks(points: readonly LinePoint[], most: number): Date[] {
  const times = [...new Set(points.map(({ at }) => at.getTime()))].sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil((times.length - 1) / Math.max(1, most - 1)));
  return times.filter((_, i) => (times.length - 1 - i) % step === 0).map((time) => new Date(time));
}

/** Lines of series over time, from zero. */
export function lines(points: readonly LinePoint[], options: LineOptions): Chart {
  const names = unique(points.map(({ series }) => series));
  return draw(options, ({ isNarrow }) => ({
    height: isNarrow ? 240 : 300,
    marginLeft: 52,
    marginRight: 24,
    x: {
      type: 'utc',
      label: null,
      ticks: timeTicks(points, isNarrow ? 4 : 8),
      tickFormat: timeTick(options),
    },
    y: { label: null, zero: true, nice: 5, ticks: 5, tickSize: 0, tickFormat: options.format },
    color: colours(names),
    symbol: symbols(names),
    marks: [grid(5), ...lineMarks(points)],
  }));
}

/** One small panel for each name in `panel`, all with the same axes. */
export function panels(points: readonly LinePoint[], options: LineOptions): Chart {
  const names = unique(points.map(({ series }) => series));
  const titles = unique(points.map(({ panel }) => panel ?? ''));
  return draw(options, ({ isNarrow }) => {
    const columns = isNarrow ? 2 : 3;
    const rows = Math.ceil(titles.length / columns);
    const column = (title: string): number => titles.indexOf(title) % columns;
    const line = (title: string): number => Math.floor(titles.indexOf(title) / columns);
    const facet = { fx: (d: LinePoint) => column(d.panel ?? ''), fy: (d: LinePoint) => line(d.panel ?? '') };
    return {
      height: rows * (isNarrow ? 140 : 170) + 40,
      marginLeft: 52,
      marginRight: 16,
      x: { type: 'utc', axis: null },
      y: { label: null, zero: true, nice: 3, ticks: 3, tickSize: 0, tickFormat: options.format },
      fx: { axis: null, padding: 0.12 },
      fy: { axis: null, padding: 0.26 },
      color: colours(names),
      symbol: symbols(names),
      marks: [
        grid(3),
        ...ends(points, options),
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
        ...lineMarks(points, facet),
      ],
    };
  });
}

const grid = (ticks: number): Plot.Markish => Plot.gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks });

/** The first and the last instant below the lowest panels, each within its panel. */
function ends(points: readonly LinePoint[], options: LineOptions): Plot.Markish[] {
  const times = points.map(({ at }) => at.getTime());
  const tick = (time: number, textAnchor: 'start' | 'end'): Plot.Markish =>
    Plot.axisX([new Date(time)], { textAnchor, tickSize: 0, label: null, tickFormat: timeTick(options) });
  return [tick(Math.min(...times), 'start'), tick(Math.max(...times), 'end')];
}

function lineMarks(points: readonly LinePoint[], facet: object = {}): Plot.Markish[] {
  const channels = { x: 'at', y: 'value', z: 'series', ...facet };
  return [
    Plot.line(points, { ...channels, stroke: 'series', strokeWidth: 2 }),
    Plot.dot(
      points.filter((point) => point.isUnfinished !== true),
      { ...channels, fill: 'series', symbol: 'series', r: 2.6 },
    ),
    Plot.dot(
      points.filter((point) => point.isUnfinished === true),
      { ...channels, fill: 'var(--paper)', stroke: 'series', symbol: 'series', r: 3 },
    ),
  ];
}
