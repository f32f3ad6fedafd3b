import * as Plot from '@observablehq/plot';
import { packageFile } from '../../base/config/package-root.js';
import { counted } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type Drawing, draw, type LegendItem } from './draw.js';
import type { Html } from './html.js';

/** Prices of lots that are alike in a place, against the place of most prices. Without a figure the dot is hollow. */
const BELOW: LegendItem = { name: 'below the state of most prices', fill: 'var(--below)', symbol: 'circle' };
const SAME: LegendItem = {
  name: 'no difference, or within chance',
  fill: 'var(--soft-ink)',
  symbol: 'circle',
};
const ABOVE: LegendItem = { name: 'above', fill: 'var(--above)', symbol: 'circle' };
const TOO_FEW: LegendItem = { name: 'too few prices', fill: 'none', symbol: 'ring' };

/** A difference that is more than chance and yet too small for its figure to show. */
const LEAST_DIFFERENCE = 0.005;

function fillOf({ alike, alike_low, alike_high }: Row): string {
  if (typeof alike !== 'number') return TOO_FEW.fill;
  if (Math.abs(alike - 1) < LEAST_DIFFERENCE) return SAME.fill;
  if (typeof alike_high === 'number' && alike_high < 1) return BELOW.fill;
  return (typeof alike_low === 'number' && alike_low > 1 ? ABOVE : SAME).fill;
}

/** The states with a known place. */
export const placesOf = (states: readonly Row[]): Row[] =>
  states.filter((row) => row.state_code !== null && row.latitude !== null && row.longitude !== null);

/** Room for the dots at the border, in pixels. */
const MARGIN = 30;

/** Fewest degrees that a map shows in each direction from its middle. */
const LEAST = 2;

/** Most degrees that a map reaches from a point. */
const FAR = 20;

/** An equal-area projection around the middle of the points that shows all of them. */
function projectionOf(points: readonly Point[]): Plot.ProjectionOptions {
  const [x, y] = [0, 1].map((i) => middleOf(points.map((point) => point[i] ?? 0))) as [number, number];
  const around = [-LEAST, LEAST].map((step): Point => [x + step, y + step]);
  return {
    type: 'azimuthal-equal-area',
    rotate: [-x, -y],
    domain: { type: 'MultiPoint', coordinates: [...points, ...around].map((point) => [...point]) },
  };
}

type Point = readonly [longitude: number, latitude: number];

const middleOf = (values: readonly number[]): number => (Math.min(...values) + Math.max(...values)) / 2;

/** A coast or border that `outlines.mjs` wrote, with its bounds: west, south, east, north. */
interface Outline {
  readonly bbox: readonly [number, number, number, number];
}

/** Coasts and borders that are near one of the points. */
function outlinesNear(points: readonly Point[]): Readonly<Record<'land' | 'borders', Outline[]>> {
  const { land, borders } = JSON.parse(packageFile('dist/src/ask/page/outlines.json'));
  const isNear = ({ bbox: [west, south, east, north] }: Outline): boolean =>
    points.some(([x, y]) => x > west - FAR && x < east + FAR && y > south - FAR && y < north + FAR);
  return { land: land.filter(isNear), borders: borders.filter(isNear) };
}

const outline = { stroke: 'var(--soft-ink)', strokeWidth: 0.75, strokeOpacity: 0.6 } as const;

/**
 * Dots at latitude and longitude on an outline of countries, sized by their number of lots. Undefined if fewer than two
 * states have a place. Rows have a `short` name, and `alike`, the price of lots that are alike as a multiple of that in the state
 * of most prices, with its 95 % interval.
 */
export function dotMap(drawing: Drawing): Html | undefined {
  const places = placesOf(drawing.rows);
  if (places.length < 2) return undefined;
  const top = drawing.rows.slice(0, 5).map(({ name, lots }) => `${name}: ${counted(lots, 'lot')}`);
  const description = `Dots for ${counted(places.length, 'state')}. Most lots: ${top.join('; ')}.`;
  const points = places.map(({ longitude, latitude }): Point => [Number(longitude), Number(latitude)]);
  const { land, borders } = outlinesNear(points);
  const projection = projectionOf(points);
  const at = { x: 'longitude', y: 'latitude' };
  return draw(
    drawing,
    description,
    ({ isNarrow, hasTips }) => ({
      projection: { ...projection, inset: isNarrow ? 8 : MARGIN },
      margin: 0,
      r: { range: [3, isNarrow ? 13 : 22] },
      marks: [
        Plot.geo(land, { fill: 'var(--tint)', ...outline }),
        Plot.geo(borders, outline),
        Plot.dot(places, {
          ...at,
          r: 'lots',
          fill: fillOf,
          fillOpacity: 0.8,
          stroke: 'var(--ink)',
          strokeWidth: 0.75,
          strokeOpacity: 0.6,
          title: hasTips ? 'description' : null,
          sort: { channel: '-r' },
        }),
        Plot.text(isNarrow ? places.slice(0, 6) : places, {
          ...at,
          text: 'short',
          fill: 'var(--ink)',
          stroke: 'var(--paper)',
          strokeWidth: 3,
          fontWeight: 600,
          pointerEvents: 'none',
        }),
      ],
      color: { type: 'identity' },
    }),
    [BELOW, SAME, ABOVE, TOO_FEW],
  );
}
