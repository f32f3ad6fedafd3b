import * as Plot from '@observablehq/plot';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { counted } from '../query/printable.js';
import { type Drawing, draw, type LegendItem } from './draw.js';

/** How the prices of a place stand against the national ones; without a figure a dot is hollow. */
const LEGEND: readonly LegendItem[] = [
  { name: 'at least 5% below the nation', fill: 'var(--c0)', symbol: 'circle' },
  { name: 'about the same', fill: 'var(--soft-ink)', symbol: 'circle' },
  { name: 'at least 5% above', fill: 'var(--c1)', symbol: 'circle' },
  { name: 'too few prices', fill: 'none', symbol: 'ring' },
];

function fillOf({ middle }: Row): string {
  const level = typeof middle !== 'number' ? 3 : middle <= 0.95 ? 0 : middle >= 1.05 ? 2 : 1;
  return LEGEND[level]?.fill ?? 'none';
}

/** The states that have a place. */
export const placesOf = (states: readonly Row[]): Row[] =>
  states.filter((row) => row.state_code !== null && row.latitude !== null && row.longitude !== null);

const RADIANS = Math.PI / 180;

/** Room for the dots at the border, in pixels. */
const MARGIN = 30;

/** Least degrees that a map shows, and how much higher or lower than wide it may be. */
const LEAST_SPAN = 4;
const LOWEST = 0.4;
const HIGHEST = 1.1;

/** Longitudes and latitudes to show, and height by width; a degree is as long in each direction as it is in the middle. */
function frameOf(places: readonly Row[]): { x: [number, number]; y: [number, number]; shape: number } {
  const [west, east] = extent(places.map(({ longitude }) => Number(longitude)));
  const [south, north] = extent(places.map(({ latitude }) => Number(latitude)));
  const across = Math.cos(Math.min(85, Math.abs(south + north) / 2) * RADIANS);
  const spanY = Math.max(LEAST_SPAN, north - south, (east - west) * across * LOWEST);
  const spanX = Math.max(LEAST_SPAN, (east - west) * across, spanY / HIGHEST);
  const around = (from: number, to: number, span: number): [number, number] => [
    (from + to - span) / 2,
    (from + to + span) / 2,
  ];
  return { x: around(west, east, spanX / across), y: around(south, north, spanY), shape: spanY / spanX };
}

const extent = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];

/**
 * Dots at latitude and longitude, as large as their lots are many; there is no outline of countries below them. Undefined
 * if fewer than two states have a place. Rows have a `short` name, and `middle`, the ratio of their prices to the
 * national ones.
 */
export function dotMap(drawing: Drawing): Html | undefined {
  const places = placesOf(drawing.rows);
  if (places.length < 2) return undefined;
  const top = drawing.rows.slice(0, 5).map(({ name, lots }) => `${name}: ${counted(lots, 'lot')}`);
  const description = `Dots for ${counted(places.length, 'state')}. Most lots: ${top.join('; ')}.`;
  const { x, y, shape } = frameOf(places);
  const at = { x: 'longitude', y: 'latitude' };
  return draw(
    drawing,
    description,
    ({ isNarrow, width }) => ({
      height: Math.round((width - 2 * MARGIN) * shape + 2 * MARGIN),
      margin: MARGIN,
      x: { axis: null, domain: x },
      y: { axis: null, domain: y },
      r: { range: [3, isNarrow ? 13 : 22] },
      marks: [
        Plot.dot(places, {
          ...at,
          r: 'lots',
          fill: fillOf,
          fillOpacity: 0.75,
          stroke: 'var(--ink)',
          strokeWidth: 0.75,
          strokeOpacity: 0.6,
          sort: { channel: '-r' },
        }),
        Plot.text(isNarrow ? places.slice(0, 6) : places, {
          ...at,
          text: 'short',
          fill: 'var(--ink)',
          stroke: 'var(--paper)',
          strokeWidth: 3,
          fontWeight: 600,
        }),
      ],
      color: { type: 'identity' },
    }),
    LEGEND,
  );
}
