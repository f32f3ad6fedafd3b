import * as Plot from '@observablehq/plot';
import { type Alternative, type Chart, colours, draw, type Size, symbols } from './draw.js';
import { type Maybe, month } from './format.js';

/** A point of a line; null breaks the line. */
export interface LinePoint {
  readonly series: string;
  readonly at: Date;
  readonly value: Maybe;
  /** Panel of a chart of small multiples. */
  readonly panel?: string;
}

/** How values of a chart are written on its axis, and how it is told. */
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

const namesOf = (points: readonly LinePoint[]): string[] => [...new Set(points.map(({ series }) => series))];

/** Instants for the ticks of a time axis: no more than `most`, evenly chosen from those that have points, the last one in. */
export function timeTicks(points: readonly LinePoint[], most: number): Date[] {
  const times = [...new Set(points.map(({ at }) => at.getTime()))].sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil((times.length - 1) / Math.max(1, most - 1)));
  return times.filter((_, i) => (times.length - 1 - i) % step === 0).map((time) => new Date(time));
}

/** Lines of series over time, from zero. */
export function lines(points: readonly LinePoint[], options: LineOptions): Chart {
  const names = namesOf(points);
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
    y: { label: null, zero: true, nice: true, ticks: 5, tickFormat: options.format },
    color: colours(names),
    symbol: symbols(names),
    marks: [grid(), ...lineMarks(points)],
  }));
}

/** One small panel for each name in `panel`, all with the same axes. */
export function panels(points: readonly LinePoint[], options: LineOptions): Chart {
  const names = namesOf(points);
  const titles = [...new Set(points.map(({ panel }) => panel ?? ''))];
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
      x: {
        type: 'utc',
        label: null,
        ticks: timeTicks(points, isNarrow ? 2 : 3),
        tickFormat: timeTick(options),
      },
      y: { label: null, zero: true, nice: true, ticks: 3, tickFormat: options.format },
      fx: { axis: null, padding: 0.12 },
      fy: { axis: null, padding: 0.26 },
      color: colours(names),
      symbol: symbols(names),
      marks: [
        grid(),
        Plot.text(titles, {
          text: (d: string) => d,
          fx: column,
          fy: line,
          frameAnchor: 'top-left',
          dy: -17,
          fontWeight: 600,
          fill: 'var(--ink)',
          lineWidth: isNarrow ? 11.5 : 17,
          textOverflow: 'ellipsis',
        }),
        ...lineMarks(points, facet),
      ],
    };
  });
}

const grid = (): Plot.Markish => Plot.gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 4 });

function lineMarks(points: readonly LinePoint[], facet: object = {}): Plot.Markish[] {
  const channels = { x: 'at', y: 'value', z: 'series', ...facet };
  return [
    Plot.line(points, { ...channels, stroke: 'series', strokeWidth: 2 }),
    Plot.dot(points, { ...channels, fill: 'series', symbol: 'series', r: 2.6 }),
  ];
}

/** A row of a chart of categories. */
export interface Bar {
  readonly name: string;
  readonly value: Maybe;
  /** What stands at the end of the bar, such as the value with its count. */
  readonly text: string;
}

/** Horizontal bars from zero, one for each row, in the order given. */
export function bars(rows: readonly Bar[], options: Alternative): Chart {
  return draw(options, (size) => ({
    ...categories(rows, size),
    x: { axis: null, zero: true },
    marginRight: size.isNarrow ? 62 : 110,
    marginTop: 4,
    marginBottom: 4,
    marks: [
      Plot.barX(rows, {
        x: (d: Bar) => d.value ?? 0,
        y: index,
        fill: 'var(--c0)',
        insetTop: 4,
        insetBottom: 4,
      }),
      Plot.text(rows, {
        x: (d: Bar) => d.value ?? 0,
        y: index,
        text: 'text',
        textAnchor: 'start',
        dx: 6,
        fill: (d: Bar) => (d.value === null ? 'var(--muted)' : 'var(--ink)'),
      }),
      Plot.ruleX([0], { stroke: 'var(--line)' }),
    ],
    color: { type: 'identity' },
  }));
}

/** A row of a chart of positions: a middle and, where it is known, the range around it. */
export interface Range {
  readonly name: string;
  readonly low?: Maybe;
  readonly middle: Maybe;
  readonly high?: Maybe;
  readonly text: string;
}

/** How positions are written, and what they are compared with. */
export interface RangeOptions extends Alternative {
  readonly format: (value: number) => string;
  readonly reference?: number;
  /** What lies left and right of the reference, or what the axis shows. */
  readonly axis: string;
}

/** A dot for each row, with its range, along a common axis; rows without a figure say so in their text. */
export function ranges(rows: readonly Range[], options: RangeOptions): Chart {
  const { reference } = options;
  return draw(options, (size) => ({
    ...categories(rows, size),
    x: {
      label: options.axis,
      labelArrow: 'none',
      labelAnchor: 'center',
      nice: true,
      zero: reference === undefined,
      ticks: size.isNarrow ? 3 : 6,
      tickFormat: options.format,
      tickSize: 0,
    },
    marginRight: size.isNarrow ? 72 : 110,
    marginTop: 8,
    marginBottom: 40,
    marks: [
      Plot.gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: size.isNarrow ? 3 : 6 }),
      ...(reference === undefined
        ? []
        : [Plot.ruleX([reference], { stroke: 'var(--muted)', strokeDasharray: '3 3' })]),
      Plot.ruleY(rows, {
        x1: 'low',
        x2: 'high',
        y: index,
        stroke: 'var(--soft)',
        strokeWidth: 6,
        strokeLinecap: 'round',
      }),
      Plot.dot(rows, { x: 'middle', y: index, fill: 'var(--c0)', r: 4.5 }),
      Plot.text(rows, {
        y: index,
        text: 'text',
        frameAnchor: 'right',
        textAnchor: 'start',
        dx: 10,
        fill: 'var(--muted)',
      }),
    ],
  }));
}

/** Rows are placed by their number, so that two of one name stay two. */
const index = (_: unknown, i: number): number => i;

function categories(rows: readonly { readonly name: string }[], { isNarrow }: Size): Plot.PlotOptions {
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const most = isNarrow ? 17 : 34;
  const short = (name: string): string => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
  return {
    height: rows.length * 24 + 48,
    marginLeft: Math.min(longest, most) * 6.6 + 12,
    y: {
      type: 'band',
      domain: rows.map((_, i) => i),
      label: null,
      tickSize: 0,
      tickFormat: (i: number) => short(rows[i]?.name ?? ''),
    },
  };
}
