import * as Plot from '@observablehq/plot';
import { type Alternative, type Chart, draw } from './draw.js';

/** A place on the map. */
export interface Place {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly lots: number;
  readonly level: Level;
}

/** How prices stand against the national ones. */
export type Level = 'below' | 'about' | 'above' | 'unknown';

/** Fill of each level; without a figure a dot is hollow. */
export const LEVELS: Readonly<Record<Level, string>> = {
  below: 'var(--c0)',
  about: 'var(--soft-ink)',
  above: 'var(--c1)',
  unknown: 'none',
};

const RADIANS = Math.PI / 180;

/** Dots at latitude and longitude, as large as their lots are many; there is no outline of countries below them. */
export function dotMap(places: readonly Place[], options: Alternative): Chart {
  const latitudes = places.map(({ latitude }) => latitude);
  const middle = (Math.min(...latitudes) + Math.max(...latitudes)) / 2;
  return draw(options, ({ isNarrow }) => ({
    aspectRatio: Math.cos(middle * RADIANS),
    marginTop: 24,
    marginBottom: 24,
    marginLeft: isNarrow ? 18 : 40,
    marginRight: isNarrow ? 18 : 40,
    x: { axis: null, inset: 10 },
    y: { axis: null, inset: 10 },
    r: { range: [3, isNarrow ? 13 : 22] },
    marks: [
      Plot.dot(places, {
        x: 'longitude',
        y: 'latitude',
        r: 'lots',
        fill: (d: Place) => LEVELS[d.level],
        fillOpacity: 0.75,
        stroke: 'var(--ink)',
        strokeWidth: 0.75,
        strokeOpacity: 0.6,
        sort: { channel: '-r' },
      }),
      Plot.text(isNarrow ? places.slice(0, 6) : places, {
        x: 'longitude',
        y: 'latitude',
        text: 'name',
        fill: 'var(--ink)',
        stroke: 'var(--paper)',
        strokeWidth: 3,
        fontWeight: 600,
      }),
    ],
    color: { type: 'identity' },
  }));
}
