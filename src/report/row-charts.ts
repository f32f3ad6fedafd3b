import * as Plot from '@observablehq/plot';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { counted, maybe } from '../query/printable.js';
import { type Drawing, draw, markOf, type Size } from './draw.js';

/**
 * Horizontal bars from zero, one for each row that has a value, in the order given; undefined if none has one. Rows have
 * `name`, `value`, `text` at the end of the bar, and `said` where that says something else.
 */
export function bars(drawing: Drawing): Html | undefined {
  const rows = drawing.rows.filter(({ value }) => value !== null).map(placed);
  if (rows.length === 0) return undefined;
  const description = rows.map(({ name, text, said }) => `${name}: ${said ?? text}.`).join(' ');
  return draw(drawing, description, (size) => ({
    ...categories(rows, size),
    x: { axis: null, zero: true },
    marginRight: textWidth(rows) + 8,
    marginTop: 4,
    marginBottom: 4,
    marks: [
      Plot.barX(rows, {
        x: 'value',
        y: 'place',
        fill: fillOf,
        insetTop: hasNamesAbove(rows, size) ? 18 : 4,
        insetBottom: hasNamesAbove(rows, size) ? 2 : 4,
      }),
      textsAtEnd(rows, size, { x: 'value', dx: 6, fill: 'var(--ink)' }),
      Plot.ruleX([0], { stroke: 'var(--line)' }),
      ...namesAbove(rows, size),
    ],
    color: { type: 'identity' },
  }));
}

/**
 * A dot for each row that has a figure, with its range, along a common axis; undefined if none has. A range whose `high` is
 * not known has a hollow dot at its `low` and goes on to the edge. Rows have `name`, `low`, `middle`, `high`, the number of
 * values that they are `based_on`, and what is `said`; a 95 % interval of the middle is a thin line.
 */
export function ranges(drawing: Drawing): Html | undefined {
  const { first, label, noun, reference } = drawing.chart;
  const known = drawing.rows.slice(0, first).filter(({ low, middle }) => (middle ?? low ?? null) !== null);
  if (known.length === 0) return undefined;
  const rows = known.map((row, i) => placed({ ...row, text: counted(row.based_on, noun) }, i));
  const open = rows.filter((row) => typeof row.low === 'number' && row.high === null);
  const edge =
    1.25 *
    Math.max(...rows.flatMap((row) => [row.low, row.interval_low, row.high].map((x) => maybe(x) ?? 0)));
  const description = rows.map(({ name, said }) => `${name}: ${said}.`).join(' ');
  return draw(drawing, description, (size) => {
    const at = atPlace(rows, size);
    return {
      ...categories(rows, size),
      x: {
        label,
        labelArrow: 'none',
        labelAnchor: 'center',
        nice: true,
        inset: 8,
        zero: reference === undefined,
        ticks: size.isNarrow ? 3 : 6,
        tickFormat: drawing.format,
        tickSize: 0,
      },
      marginRight: textWidth(rows) + 14,
      marginTop: 8,
      marginBottom: 40,
      marks: [
        Plot.gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: size.isNarrow ? 3 : 6 }),
        reference === undefined
          ? null
          : Plot.ruleX([reference], { stroke: 'var(--muted)', strokeDasharray: '3 3' }),
        Plot.ruleY(rows, {
          ...{ x1: 'low', x2: 'high', ...at },
          ...{ stroke: fillOf, strokeOpacity: 0.3, strokeWidth: 6, strokeLinecap: 'round' },
        }),
        Plot.ruleY(open, {
          ...{ x1: 'low', x2: edge, ...at },
          ...{ stroke: fillOf, strokeOpacity: 0.3, strokeWidth: 6, strokeDasharray: '6 4' },
        }),
        Plot.dot(open, {
          ...{ x: 'low', ...at, r: 4 },
          ...{ fill: 'var(--paper)', stroke: fillOf, symbol: symbolOf },
        }),
        Plot.ruleY(rows, {
          ...{ x1: 'interval_low', x2: 'interval_high', ...at },
          ...{ stroke: fillOf, strokeWidth: 1.5 },
        }),
        Plot.dot(rows, {
          ...{ x: 'middle', ...at, r: 4.5 },
          ...{ fill: fillOf, symbol: symbolOf },
        }),
        ...namesAbove(rows, size),
        textsAtEnd(rows, size, { frameAnchor: 'right', dx: 10, fill: 'var(--muted)' }),
      ],
    };
  });
}

const symbolOf = (row: Row): string => markOf(row).symbol;
const fillOf = (row: Row): string => markOf(row).fill;

const textsAtEnd = (rows: readonly Row[], size: Size, more: Plot.TextOptions): Plot.Markish =>
  Plot.text(rows, { ...atPlace(rows, size), text: 'text', textAnchor: 'start', ...more });

/** Width that the texts at the end of the rows take at most, in pixels. */
const textWidth = (rows: readonly Row[]): number =>
  Math.max(...rows.map(({ text }) => String(text).length)) * GLYPH;

/** Width of a character of 12 pixels, on average and with some room. */
const GLYPH = 6.6;

/** Rows are placed by their number, so that two of one name stay two. */
const placed = (row: Row, place: number): Row => ({ ...row, place });

/** Characters of a name that stand beside a row, and on a phone. */
const LABEL = 36;
const SHORT = 14;

const longestOf = (rows: readonly Row[]): number => Math.max(...rows.map(({ name }) => String(name).length));

/** On a phone long names stand above what is drawn. */
const hasNamesAbove = (rows: readonly Row[], { isNarrow }: Size): boolean =>
  isNarrow && longestOf(rows) > SHORT;

/** Where a mark of a row lies: below the middle, in pixels, if the name stands above it. */
const atPlace = (rows: readonly Row[], size: Size) =>
  ({ y: 'place', dy: hasNamesAbove(rows, size) ? 8 : 0 }) as const;

function categories(rows: readonly Row[], size: Size): Plot.PlotOptions {
  const names = rows.map(({ name }) => String(name));
  const isAbove = hasNamesAbove(rows, size);
  const short = (name: string): string => (name.length > LABEL ? `${name.slice(0, LABEL - 1)}…` : name);
  return {
    height: rows.length * (isAbove ? 38 : 24) + 48,
    marginLeft: isAbove ? 4 : Math.min(longestOf(rows), LABEL) * GLYPH + 12,
    y: {
      type: 'band',
      domain: rows.map((_, i) => i),
      label: null,
      tickSize: 0,
      tickFormat: (i: number) => short(names[i] ?? ''),
      ...(isAbove ? { axis: null } : {}),
    },
  };
}

function namesAbove(rows: readonly Row[], size: Size): Plot.Markish[] {
  if (!hasNamesAbove(rows, size)) return [];
  const text = {
    y: 'place',
    text: 'name',
    frameAnchor: 'left',
    textAnchor: 'start',
    dy: -10,
    stroke: 'var(--paper)',
    strokeWidth: 4,
    fill: 'var(--muted)',
    lineWidth: 25,
    textOverflow: 'ellipsis',
  } as const;
  return [Plot.text(rows, text)];
}
