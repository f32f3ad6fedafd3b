import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { described } from '../../src/core/service/contract/field.js';
import * as Kind from '../../src/core/service/contract/kinds.js';
import { contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { runLotlake } from '../cli/support.js';
import { bareDuckDb, configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';

const folder = temporaryFolder();
afterEach(() => folder.remove());

/** A contract that does not yet know that a year may be a text. */
const ignorant = schemas.vehicle.extend({
  year: described(z.int().nullish(), {
    description: 'Model year.',
    wire: { accepts: Kind.NULL | Kind.INTEGER, duckdb: 'BIGINT', lexical: 'number', required: false },
  }),
});

const cars = [
  { id: 1, year: 2015, lots: [] },
  { id: 2, year: '2016', lots: [] },
  { id: 3, year: '2017', lots: [] },
  { id: 'x', title: 'a \u009b31m title', lots: [] },
];

it('values that the contract refuses are listed by rejects, and a rebuild loads them once the contract allows them', async () => {
  vi.doMock('../../src/core/service/streams.js', async (original) => {
    const real = await original<typeof import('../../src/core/service/streams.js')>();
    return {
      ...real,
      streams: {
        ...real.streams,
        cars: { ...real.streams.cars, schema: ignorant, contract: contractOf(ignorant) },
      },
    };
  });
  const service = await serve(({ pathname, searchParams }) =>
    pathname === '/api/cars'
      ? { body: lastPage(searchParams.get('page') === '1' ? cars : []) }
      : { status: 404, body: { message: 'not here' } },
  );
  const job = { config: configFor(service.url, folder.path), reporter: silentReporter() };
  const { nightly } = await import('../../pipelines/nightly.js');
  const night = await nightly(job);
  await service.close();

  const groups = JSON.parse(runLotlake(folder.path, 'rejects', '--json').out);
  const { pass_id } = night.passes[0]?.record ?? {};
  const before = await readVehicles();
  expect(before).toEqual([
    { vehicle_id: 1, year: 2015, rejected: null },
    { vehicle_id: 2, year: null, rejected: ['year'] },
    { vehicle_id: 3, year: null, rejected: ['year'] },
  ]);
  const file = join(folder.path, 'landing', 'cars', pass_id ?? '', 'page-000001.ndjson.gz');
  expect(groups).toMatchObject([
    {
      ...{ stream: 'cars', path: 'year', expected: 'null, integer', found: 'text' },
      ...{ column: 'vehicles.year', rejects: 2 },
    },
    { stream: 'cars', path: 'id', found: 'text', column: null, rejects: 1 },
  ]);
  expect(groups[0].example).toMatchObject({ pass_id, page: 1, position: 1, record_id: '2', file, line: 2 });
  const listed = runLotlake(folder.path, 'rejects', '--run', night.runId).out;
  expect(listed).toContain('a  31m title');
  expect(listed).not.toContain('\u009b');
  expect(listed).toContain('lotlake run rebuild');
  expect(runLotlake(folder.path, 'rejects', '--stream', 'titles').out).toBe('nothing was rejected\n');
  expect(runLotlake(folder.path, 'rejects', '--stream', 'lots').code).toBe(2);

  vi.doUnmock('../../src/core/service/streams.js');
  vi.resetModules();
  const { rebuild } = await import('../../pipelines/rebuild.js');
  await rebuild(job);
  expect(await readVehicles()).toEqual([
    { vehicle_id: 1, year: 2015, rejected: null },
    { vehicle_id: 2, year: 2016, rejected: null },
    { vehicle_id: 3, year: 2017, rejected: null },
  ]);
  expect(await read("select path, record_id from '$/rejects/*.parquet'")).toEqual([
    { path: 'id', record_id: 'x' },
  ]);
});

const readVehicles = () => read("select vehicle_id, year, rejected from '$/vehicles/*.parquet' order by 1");

async function read(sql: string) {
  const duck = await bareDuckDb();
  const found = await duck.query(sql.replace('$', join(folder.path, 'lake', 'current')));
  duck.close();
  return found;
}
