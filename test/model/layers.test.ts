import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { rows } from '../../src/base/duck/session.js';
import { LAYERS, type Layer, readLayer } from '../../src/core/model/model-files.js';
import { withReferences } from '../../src/core/model/references.js';
import { sharedSteps } from '../../src/core/model/run-models.js';
import { FIT } from '../../src/core/model/sql-tree.js';
import { base } from './cases.js';
import { computeMarts, openLake } from './support.js';

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

it('a published view shares no step of the run with other models, which it would compute again', () => {
  const views = models.filter(({ exists }) => exists === 'view');
  const shared = sharedSteps(models);
  expect(views.flatMap(({ references }) => references).filter((name) => shared.has(name))).toEqual([]);
  expect(views.flatMap(({ references }) => references)).not.toContain(FIT);
});

it('a published view reads nothing of the run that made it', async () => {
  const lake = await openLake();
  await computeMarts(lake, base);
  const views = models.filter(({ exists }) => exists === 'view').map(({ name }) => name);
  expect(views).toContain('vehicle_timeline');
  for (const name of views) expect(await rows(lake.connection, `from ${name}`), name).toEqual([]);
  lake.close();
});

it('no two layers have a model of one name', () => {
  expect(byName.size).toBe(models.length);
});

it('a column named month is a text in every published model, as in the partitioned tables', async () => {
  const lake = await openLake();
  await computeMarts(lake, base);
  const columns = await rows(lake.connection, 'select column_name, data_type from duckdb_columns()');
  lake.close();
  const dated = columns.filter(({ data_type }) => data_type === 'DATE').map(({ column_name }) => column_name);
  expect(dated).toContain('sale_month');
  expect(columns.filter((each) => each.column_name === 'month' && each.data_type !== 'VARCHAR')).toEqual([]);
});
