import * as Plot from '@observablehq/plot';
import { clip, counted, numberOrNull } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type Drawing, draw, markOf, REFERENCE, type Size } from './draw.js';
import type { Html } from './html.js';

/**
 * Horizontal bars from zero, one for each row that has a value, in the order given; undefined if no row has one. Rows have
 * `name`, `value`, `text` at the end of the bar, and `description` if the description says something else.
 */
export function bars(drawing: Drawing): Html | undefined {
  const rows = drawing.rows.filter(({ value }) => value !== null).map(placed);
  if (rows.length === 0) return undefined;
  const alt = rows.map(({ name, text, description }) => `${name}: ${description ?? text}.`).join(' ');
  return draw(drawing, alt, (size) => {
    const { isAbove, scales, textWidth, textsAtEnd, namesAbove } = layoutRows(rows, size);
    return {
      ...scales,
      x: { axis: null, zero: true },
      marginRight: textWidth + 8,
      marginTop: 4,
      marginBottom: 4,
      marks: [
        Plot.barX(rows, {
          x: 'value',
          y: 'place',
          fill: fillOf,
          insetTop: isAbove ? 18 : 4,
          insetBottom: isAbove ? 2 : 4,
        }),
        textsAtEnd({ x: 'value', dx: 6, fill: 'var(--ink)' }),
        Plot.ruleX([0], { stroke: 'var(--line)' }),
        ...namesAbove,
      ],
      color: { type: 'identity' },
    };
  });
}

/**
 * A dot with its range for each row that has a figure, along a common axis; undefined if no row has one. A range without
 * `high` has a hollow dot at its `low` and reaches to the edge. A 95 % interval of the middle is a thin line. Rows have
 * `name`, `low`, `middle`, `high`, `based_on` (the number of values), and `description`.
 */
export function ranges(drawing: Drawing): Html | undefined {
  const { first, label, noun, reference } = drawing.chart;
  const known = drawing.rows.slice(0, first).filter(({ low, middle }) => (middle ?? low ?? null) !== null);
  if (known.length === 0) return undefined;
  const rows = known.map((row, i) => placed({ ...row, text: counted(row.based_on, noun) }, i));
  const open = rows.filter((row) => typeof row.low === 'number' && row.high === null);
  const ends = rows.flatMap(({ low, interval_low, high }) => [low, interval_low, high]);
  const edge = 1.25 * Math.max(...ends.map((end) => numberOrNull(end) ?? 0));
  const alt = rows.map(({ name, description }) => `${name}: ${description}.`).join(' ');
  return draw(drawing, alt, (size) => {
    const { at, scales, textWidth, textsAtEnd, namesAbove } = layoutRows(rows, size);
    const ticks = size.isNarrow ? 3 : 6;
    const broad = { ...at, x1: 'low', stroke: fillOf, strokeOpacity: 0.3, strokeWidth: 6 } as const;
    return {
      ...scales,
      x: {
        label,
        labelArrow: 'none',
        labelAnchor: 'center',
        nice: true,
        inset: 8,
        zero: reference === undefined,
        ticks,
        tickFormat: drawing.format,
        tickSize: 0,
      },
      marginRight: textWidth + 14,
      marginTop: 8,
      marginBottom: 40,
      marks: [
        Plot.gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks }),
        reference === undefined ? null : Plot.ruleX([reference], REFERENCE),
        Plot.ruleY(rows, { ...broad, x2: 'high', strokeLinecap: 'round' }),
        Plot.ruleY(open, { ...broad, x2: edge, strokeDasharray: '6 4' }),
        Plot.dot(open, { ...at, x: 'low', r: 4, fill: 'var(--paper)', stroke: fillOf, symbol: symbolOf }),
        Plot.ruleY(rows, {
          ...at,
          x1: 'interval_low',
          x2: 'interval_high',
          stroke: fillOf,
          strokeWidth: 1.5,
        }),
        Plot.dot(rows, { ...at, x: 'middle', r: 4.5, fill: fillOf, symbol: symbolOf }),
        ...namesAbove,
        textsAtEnd({ frameAnchor: 'right', dx: 10, fill: 'var(--muted)' }),
      ],
    };
  });
}

const symbolOf = (row: Row): string => markOf(row).symbol;
const fillOf = (row: Row): string => markOf(row).fill;

/** Rows are placed by their number, so that two rows of one name stay apart. */
const placed = (row: Row, place: number): Row => ({ ...row, place });

/** Width of a character of a wide 12-pixel font on average, so that no label is cut. */
const GLYPH = 7.4;

/** Most characters of a name beside its row, and on a phone. */
const LABEL = 36;
const SHORT = 14;

const NAME_ABOVE: Plot.TextOptions = {
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
};

/** Lays rows out: names stand beside the marks, and on a phone long names stand above them. */
function layoutRows(rows: readonly Row[], { isNarrow }: Size) {
  const names = rows.map(({ name }) => String(name));
  const longest = longestOf(names);
  const isAbove = isNarrow && longest > SHORT;
  const tickFormat = (i: number): string => clip(names[i] ?? '', LABEL);
  /** Where the mark of a row lies: some pixels below the middle if the name stands above it. */
  const at = { y: 'place', dy: isAbove ? 8 : 0 } as const;
  const scales: Plot.PlotOptions = {
    height: rows.length * (isAbove ? 38 : 24) + 48,
    marginLeft: isAbove ? 4 : Math.min(longest, LABEL) * GLYPH + 12,
    y: {
      type: 'band',
      domain: rows.keys(),
      label: null,
      tickSize: 0,
      tickFormat,
      ...(isAbove ? { axis: null } : {}),
    },
  };
  return {
    isAbove,
    at,
    scales,
    /** Width in pixels of the longest text at the end of a row. */
    textWidth: longestOf(rows.map(({ text }) => String(text))) * GLYPH,
    textsAtEnd: (more: Plot.TextOptions): Plot.Markish =>
      Plot.text(rows, { ...at, text: 'text', textAnchor: 'start', ...more }),
    namesAbove: isAbove ? [Plot.text(rows, NAME_ABOVE)] : [],
  };
}

const longestOf = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));
