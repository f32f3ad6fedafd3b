import * as Plot from '@observablehq/plot';
import { numberOrNull } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type Drawing, draw, markOf, REFERENCE } from './draw.js';
import type { Html } from './html.js';
import { seriesOf } from './line-charts.js';

/**
 * A point for each row, its `value` against its `estimate`, with the line on which both are equal; undefined without rows.
 * Rows have `series`, and `description` as the text of the point.
 */
export function againstEstimate(drawing: Drawing): Html | undefined {
  const rows = drawing.rows.filter(
    ({ value, estimate }) => numberOrNull(value) !== null && numberOrNull(estimate) !== null,
  );
  if (rows.length === 0) return undefined;
  const values = rows.flatMap(({ value, estimate }) => [Number(value), Number(estimate)]);
  const domain: [number, number] = [Math.min(...values), Math.max(...values)];
  const series = seriesOf(rows);
  const off = rows.filter(
    ({ value, estimate }) => Math.abs(Number(estimate) / Number(value) - 1) > 0.2,
  ).length;
  const description = `${rows.length} points; ${off} of them lie more than 20% from the line of equal estimate and price.`;
  return draw(
    drawing,
    description,
    ({ isNarrow, hasTips }) => {
      const axis = { type: 'log', domain } as const;
      const ticks = ticksIn(domain, isNarrow);
      // Texts, because a logarithmic axis with a format leaves out some of its ticks.
      const ticked = { text: drawing.format, labelArrow: 'none' } as const;
      return {
        height: isNarrow ? 300 : 440,
        marginLeft: 56,
        marginBottom: 44,
        x: axis,
        y: axis,
        marks: [
          Plot.gridY(ticks),
          Plot.axisX(ticks, { ...ticked, label: 'estimate', labelAnchor: 'center' }),
          Plot.axisY(ticks, { ...ticked, label: 'price' }),
          Plot.link([domain], {
            x1: ([from]) => from,
            y1: ([from]) => from,
            x2: ([, to]) => to,
            y2: ([, to]) => to,
            ...REFERENCE,
          }),
          Plot.dot(rows, {
            x: 'estimate',
            y: 'value',
            r: isNarrow ? 2 : 3,
            fillOpacity: 0.55,
            // An estimate in doubt is hollow.
            fill: (row: Row) => (isWeak(row) ? 'var(--paper)' : markOf(row).fill),
            stroke: (row: Row) => (isWeak(row) ? markOf(row).fill : 'none'),
            symbol: (row: Row) => markOf(row).symbol,
            title: hasTips ? 'description' : null,
          }),
        ],
        color: { type: 'identity' },
        symbol: { type: 'identity' },
      };
    },
    series.length > 1 ? series : [],
  );
}

/** Whether the estimate of a row is in doubt. */
const isWeak = ({ weak = null }: Row): boolean => weak !== null;

/** Round values of an axis: 1, 2 and 5 times each power of ten; on a phone only the powers. */
function ticksIn([from, to]: readonly [number, number], isNarrow: boolean): number[] {
  const powers = Array.from({ length: 9 }, (_, i) => 10 ** i);
  return powers
    .flatMap((power) => (isNarrow ? [power] : [power, 2 * power, 5 * power]))
    .filter((value) => value >= from && value <= to);
}
