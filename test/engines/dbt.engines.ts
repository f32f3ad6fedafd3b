import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runLotlake } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { describeWith, engine } from './support/engines.js';
import { type Nights, startNights } from './support/worlds.js';

describeWith(['dbt'], 'dbt', () => {
  const folder = temporaryFolder();
  let world: Nights;
  beforeAll(async () => {
    world = await startNights({ retryBudget: 900 });
    await world.night();
  });
  afterAll(async () => {
    await world.close();
    folder.remove();
  });

  const fileOf = (name: string): string => join(folder.path, `${name}.parquet`);
  /** A project with one model over a source, and what dbt says when it builds it, with all tests of the sources. */
  const built = (name: string, sources: string, cwd: string): string => {
    const project = join(folder.path, name);
    mkdirSync(join(project, 'models'), { recursive: true });
    copyFileSync(sources, join(project, 'models', 'sources.yml'));
    writeFileSync(join(project, 'dbt_project.yml'), "name: lake\nversion: '1.0'\nprofile: lake\n");
    writeFileSync(
      join(project, 'profiles.yml'),
      `lake: { target: dev, outputs: { dev: { type: duckdb, path: '${join(project, 'lake.duckdb')}' } } }\n`,
    );
    writeFileSync(
      join(project, 'models', 'lots_by_source.sql'),
      `{{ config(materialized='external', location='${fileOf(name)}') }} select domain_id, count(*) as lots from {{ source('lotlake', 'lots') }} group by all`,
    );
    const args = ['--no-use-colors', 'build', '--project-dir', project, '--profiles-dir', project];
    const { status, stdout } = spawnSync(engine('dbt', 'bin', 'dbt'), args, { cwd, encoding: 'utf8' });
    expect(status, stdout).toBe(0);
    return stdout;
  };
  /** The rows of the model. */
  const rowsOf = async (name: string) => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const read = await connection.runAndReadAll(`from '${fileOf(name)}' order by domain_id`);
    const rows = read.getRowObjectsJson();
    connection.closeSync();
    instance.closeSync();
    return rows.map(({ domain_id, lots }) => ({ domain_id: Number(domain_id), lots: Number(lots) }));
  };
  const expected = () =>
    JSON.parse(
      runLotlake(
        world.output,
        'query',
        'select domain_id, count(*) as lots from lots group by all order by 1',
        '--json',
      ).out,
    );

  it('builds a model on the lake, and all tests of its sources pass', async () => {
    const sources = join(folder.path, 'sources.yml');
    expect(runLotlake(world.output, 'docs', '--dbt', '--to', sources).code).toBe(0);
    const said = built('lake', sources, folder.path);
    expect(Number(/PASS=(\d+) /.exec(said)?.[1])).toBeGreaterThan(300);
    expect(await rowsOf('lake')).toEqual(expected());
  });

  it('builds a model on an export, in its folder', async () => {
    const to = join(folder.path, 'export');
    expect(runLotlake(world.output, 'export', 'lots', 'sales', '--to', to).code).toBe(0);
    built('exported', join(to, 'sources.yml'), to);
    expect(await rowsOf('exported')).toEqual(expected());
  });
});
