/** Writes the outlines of countries, and of states of the United States, as coarse as a map of 700 pixels needs them. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { feature, mesh } from 'topojson-client';
import { filter, filterWeight, presimplify, simplify } from 'topojson-simplify';

const require = createRequire(import.meta.url);

/** Square degrees of the least triangle that an outline shows; no island is smaller than twice as much. */
const LEAST = 0.02;

function coarse(topology) {
  const simple = simplify(presimplify(topology), LEAST);
  return filter(simple, filterWeight(simple, 2 * LEAST));
}

/** Whether an outline lies between two areas, and is not a coast. */
const isShared = (one, other) => one !== other;

const world = coarse(require('world-atlas/countries-50m.json'));
const nation = coarse(require('us-atlas/states-10m.json'));
const land = feature(world, world.objects.land).features.flatMap(({ geometry }) => geometry.coordinates);
const borders = [
  ...mesh(world, world.objects.countries, isShared).coordinates,
  ...mesh(nation, nation.objects.states, isShared).coordinates,
];

/** A geometry with its west, south, east and north, so that a map can leave out what is far away. */
function bounded(type, coordinates) {
  const points = type === 'Polygon' ? coordinates[0] : coordinates;
  const [x, y] = [0, 1].map((i) => points.map((point) => point[i]));
  return { type, bbox: [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)], coordinates };
}

const outlines = {
  land: land.map((rings) => bounded('Polygon', rings)),
  borders: borders.map((line) => bounded('LineString', line)),
};
const rounded = (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
writeFileSync('dist/src/ask/page/outlines.json', JSON.stringify(outlines, rounded));
