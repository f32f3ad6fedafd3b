import * as Plot from '@observablehq/plot';
import type { Row } from '../duck/session.js';
import { counted } from '../query/printable.js';
import { type Chart, draw, type Named, type Size } from './draw.js';

/**
 * Horizontal bars from zero, one for each row, in the order given.
 * @param given rows of `name`, `value`, `text` at the end of the bar, and `said` where that says something else
 */
export function bars(given: readonly Row[], named: Named): Chart {
  const rows = given.map(({ name, value, text, said }) => ({
    ...{ name: String(name), value: Number(value), text: String(text) },
    said: String(said ?? text),
  }));
  const description = rows.map(({ name, said }) => `${name}: ${said}.`).join(' ');
  return draw({ ...named, description }, (size) => ({
    ...categories(rows, size),
    x: { axis: null, zero: true },
    marginRight: textWidth(rows) + 8,
    marginTop: 4,
    marginBottom: 4,
    marks: [
      Plot.barX(rows, {
        x: 'value',
        y: index,
        fill: 'var(--c0)',
        insetTop: size.isNarrow ? 18 : 4,
        insetBottom: size.isNarrow ? 2 : 4,
      }),
      Plot.text(rows, {
        x: 'value',
        y: index,
        text: 'text',
        textAnchor: 'start',
        dx: 6,
        dy: below(size),
        fill: 'var(--ink)',
      }),
      Plot.ruleX([0], { stroke: 'var(--line)' }),
      ...namesAbove(rows, size),
    ],
    color: { type: 'identity' },
  }));
}

/** How positions are written, and what they are compared with. */
export interface RangeOptions extends Named {
  /** What the values are, such as `price`. */
  readonly noun: string;
  /** Writes a position on the axis. */
  readonly format: (value: number) => string;
  readonly reference: number | undefined;
  /** What the axis shows. */
  readonly axis: string;
}

/**
 * A dot for each row, with its range, along a common axis; the text of a row without a figure says so.
 * @param given rows of `name`, `low`, `middle`, `high`, the number of values that they are `based_on`, and what is `said`
 */
export function ranges(given: readonly Row[], options: RangeOptions): Chart {
  const { reference, noun } = options;
  const rows = given.map(({ name, low, middle, high, based_on, said }) => ({
    ...{ name: String(name), low, middle, high, said },
    text: middle === null ? String(said) : counted(based_on, noun),
  }));
  const description = rows.map(({ name, said }) => `${name}: ${said}.`).join(' ');
  return draw({ ...options, description }, (size) => ({
    ...categories(rows, size),
    x: {
      label: options.axis,
      labelArrow: 'none',
      labelAnchor: 'center',
      nice: true,
      inset: 8,
      zero: reference === undefined,
      ticks: size.isNarrow ? 3 : 6,
      tickFormat: options.format,
      tickSize: 0,
    },
    marginRight: textWidth(rows) + 14,
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
        dy: below(size),
        strokeWidth: 6,
        strokeLinecap: 'round',
      }),
      Plot.dot(rows, { x: 'middle', y: index, dy: below(size), fill: 'var(--c0)', r: 4.5 }),
      ...namesAbove(rows, size),
      Plot.text(rows, {
        y: index,
        text: 'text',
        frameAnchor: 'right',
        textAnchor: 'start',
        dx: 10,
        dy: below(size),
        fill: 'var(--muted)',
      }),
    ],
  }));
}

/** Width that the texts at the end of the rows take at most, in pixels. */
const textWidth = (rows: readonly { readonly text: string }[]): number =>
  Math.max(...rows.map(({ text }) => text.length)) * GLYPH;

/** Width of a character of 12 pixels, on average and with some room. */
const GLYPH = 6.6;

const below = ({ isNarrow }: Size): number => (isNarrow ? MARK_BELOW : 0);

/** Rows are placed by their number, so that two of one name stay two. */
const index = (_: unknown, i: number): number => i;

/** Height of a row; on a phone the name stands above what is drawn. */
const ROW = 24;
const NARROW_ROW = 38;

/** Where marks lie in the row of a phone, and its name above them, in pixels from the middle. */
const MARK_BELOW = 8;
const NAME_ABOVE = -10;

function categories(rows: readonly { readonly name: string }[], { isNarrow }: Size): Plot.PlotOptions {
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const short = (name: string): string => (name.length > LABEL ? `${name.slice(0, LABEL - 1)}…` : name);
  return {
    height: rows.length * (isNarrow ? NARROW_ROW : ROW) + 48,
    marginLeft: isNarrow ? 4 : Math.min(longest, LABEL) * GLYPH + 12,
    y: {
      type: 'band',
      domain: rows.map((_, i) => i),
      label: null,
      tickSize: 0,
      tickFormat: (i: number) => short(rows[i]?.name ?? ''),
      ...(isNarrow ? { axis: null } : {}),
    },
  };
}

/** Characters of a name that stand beside a row. */
const LABEL = 36;

function namesAbove(rows: readonly { readonly name: string }[], { isNarrow }: Size): Plot.Markish[] {
  if (!isNarrow) return [];
  const text = {
    y: index,
    text: 'name',
    frameAnchor: 'left',
    textAnchor: 'start',
    dy: NAME_ABOVE,
    stroke: 'var(--paper)',
    strokeWidth: 4,
    fill: 'var(--muted)',
    lineWidth: 25,
    textOverflow: 'ellipsis',
  } as const;
  return [Plot.text(rows, text)];
}
