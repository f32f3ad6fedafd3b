import { createRequire } from 'node:module';
import * as Plot from '@observablehq/plot';
import { feature, mesh } from 'topojson-client';
import { presimplify, simplify } from 'topojson-simplify';
import type { GeometryObject, Objects, Topology } from 'topojson-specification';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { counted } from '../query/printable.js';
import { type Drawing, draw, type LegendItem } from './draw.js';

/** How the prices of a place stand against the national ones, from light to dark; without a figure a dot is hollow. */
const BELOW: LegendItem = { name: 'at least 5% below the nation', fill: 'var(--below)', symbol: 'circle' };
const SAME: LegendItem = { name: 'about the same', fill: 'var(--soft-ink)', symbol: 'circle' };
const ABOVE: LegendItem = { name: 'at least 5% above', fill: 'var(--above)', symbol: 'circle' };
const TOO_FEW: LegendItem = { name: 'too few prices', fill: 'none', symbol: 'ring' };

function fillOf({ middle }: Row): string {
  if (typeof middle !== 'number') return TOO_FEW.fill;
  return (middle <= 0.95 ? BELOW : middle >= 1.05 ? ABOVE : SAME).fill;
}

/** The states that have a place. */
export const placesOf = (states: readonly Row[]): Row[] =>
  states.filter((row) => row.state_code !== null && row.latitude !== null && row.longitude !== null);

/** Room for the dots at the border, in pixels. */
const MARGIN = 30;

/** Degrees that a map shows at least in each direction from its middle. */
const LEAST = 2;

/** An equal-area projection about the middle of the places, which shows all of them. */
function projectionOf(places: readonly Row[]): Plot.ProjectionOptions {
  const points = places.map(({ longitude, latitude }) => [Number(longitude), Number(latitude)] as const);
  const x = middleOf(points.map(([longitude]) => longitude));
  const y = middleOf(points.map(([, latitude]) => latitude));
  const around = [-LEAST, LEAST].map((step) => [x + step, y + step]);
  return {
    type: 'azimuthal-equal-area',
    rotate: [-x, -y],
    domain: { type: 'MultiPoint', coordinates: [...points.map((point) => [...point]), ...around] },
  };
}

const middleOf = (values: readonly number[]): number => (Math.min(...values) + Math.max(...values)) / 2;

/** Borders of countries, and of states within the United States, as coarse as a map of 700 pixels needs them. */
function outlines() {
  const require = createRequire(import.meta.url);
  const world = coarse<{ land: GeometryObject; countries: GeometryObject }>(
    require('world-atlas/countries-50m.json'),
  );
  const nation = coarse<{ states: GeometryObject }>(require('us-atlas/states-10m.json'));
  return {
    land: feature(world, world.objects.land),
    borders: [mesh(world, world.objects.countries, isShared), mesh(nation, nation.objects.states, isShared)],
  };
}

const coarse = <O extends Objects>(topology: Topology<O>) => simplify(presimplify(topology), LEAST_AREA);

const outline = { stroke: 'var(--soft-ink)', strokeWidth: 0.75, strokeOpacity: 0.6 } as const;

/** Square degrees of the least triangle that an outline shows. */
const LEAST_AREA = 0.02;

/** Whether an outline lies between two areas, and is not a coast. */
const isShared = (one: unknown, other: unknown): boolean => one !== other;

/**
 * Dots at latitude and longitude on an outline of countries, as large as their lots are many. Undefined if fewer than two
 * states have a place. Rows have a `short` name, and `middle`, the ratio of their prices to the national ones.
 */
export function dotMap(drawing: Drawing): Html | undefined {
  const places = placesOf(drawing.rows);
  if (places.length < 2) return undefined;
  const top = drawing.rows.slice(0, 5).map(({ name, lots }) => `${name}: ${counted(lots, 'lot')}`);
  const description = `Dots for ${counted(places.length, 'state')}. Most lots: ${top.join('; ')}.`;
  const { land, borders } = outlines();
  const projection = projectionOf(places);
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
          ...{ r: 'lots', fill: fillOf, fillOpacity: 0.8 },
          ...{ stroke: 'var(--ink)', strokeWidth: 0.75, strokeOpacity: 0.6 },
          title: hasTips ? 'said' : null,
          sort: { channel: '-r' },
        }),
        Plot.text(isNarrow ? places.slice(0, 6) : places, {
          ...at,
          ...{ text: 'short', fill: 'var(--ink)', stroke: 'var(--paper)', strokeWidth: 3, fontWeight: 600 },
          ...{ pointerEvents: 'none' },
        }),
      ],
      color: { type: 'identity' },
    }),
    [BELOW, SAME, ABOVE, TOO_FEW],
  );
}
