import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { LAYERS, type Layer, readLayer } from '../../src/model/model-files.js';
import { withReferences } from '../../src/model/references.js';

const connection = await (await DuckDBInstance.create()).connect();
const models = await withReferences(connection, LAYERS.flatMap(readLayer));
const byName = new Map(models.map((model) => [model.name, model]));
const placeOf = (layer: Layer | undefined): number => LAYERS.indexOf(layer ?? 'seeds');

it('a model reads its own layer and those before it', () => {
  const late = models.flatMap(({ name, layer, references }) =>
    references
      .filter((read) => placeOf(byName.get(read)?.layer) > placeOf(layer))
      .map((read) => `${name} of ${layer} reads ${read} of ${byName.get(read)?.layer}`),
  );
  expect(late).toEqual([]);
});

it('a published view reads no model of the run alone', () => {
  const views = models.filter(({ exists }) => exists === 'view');
  const reads = views.flatMap(({ references }) => references);
  expect(views.length).toBeGreaterThan(0);
  expect(reads.filter((name) => byName.get(name)?.exists === 'none')).toEqual([]);
});

it('no two layers have a model of one name', () => {
  expect(byName.size).toBe(models.length);
});
