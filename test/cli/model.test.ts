import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lakeTables, systemTables } from '../../src/core/lake/tables.js';
import { isGiven, isOutside, readModels } from '../../src/core/model/model-files.js';
import { handMadeLake, SNAPSHOT } from '../query/support.js';
import { runLotlake } from './support.js';

const lake = await handMadeLake({ lots: 'select 1::bigint as lot_id' });
afterAll(() => lake.remove());
const { output } = lake.config;
writeFileSync(join(output, 'lotlake.config.json'), '{"publish": {"to": "s3://bucket/lake"}}');

describe('lotlake model', () => {
  it.each([
    [['--engine', 'duckdb', 's3://bucket/lake'], '--engine duckdb reads a lake of this machine'],
    [['--to', join(output, 'lake', 'x')], 'which only runs write to'],
    [['--to', 's3://bucket/marts'], 'is not supported'],
    [['--engine', 'spark', '--to', `file://${output}/lake/x`], 'which only runs write to'],
    [['--engine', 'spark', '--to', `file:${output}/lake/x`], 'which only runs write to'],
    [['--engine', 'spark', '--to', 'file://host/lake'], 'name a folder by its path'],
    [['--engine', 'spark', '--to', 's3a://bucket//lake/tables/'], 'lies in the mirror'],
    [['--engine', 'spark', '--to', 's3://bucket/lake/models/../tables'], 'has a step . or ..'],
  ])('refuses %s', (args, message) => {
    const { code, err } = runLotlake(output, 'model', ...args);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  it('does not replace a folder that holds anything but marts', () => {
    const to = join(output, '..', 'other');
    mkdirSync(join(to, 'photos'), { recursive: true });
    const { code, err } = runLotlake(output, 'model', '--to', to);
    expect(err).toContain('holds photos, which is not a mart');
    expect(code).toBe(2);
  });

  it('names the table that a model lacks', () => {
    const { code, err } = runLotlake(
      output,
      'model',
      '--engine',
      'spark',
      '--to',
      join(output, '..', 'marts'),
    );
    expect(err).toContain('which is neither a model nor a table');
    expect(code).toBe(1);
  });
});

describe('lotlake model --engine spark', async () => {
  const names = (given: readonly { readonly name: string }[]) =>
    Object.fromEntries(given.map(({ name }) => [name, 'select 1::bigint as lot_id']));
  const all = await handMadeLake(names([...lakeTables(), ...systemTables]), names(readModels()));
  afterAll(() => all.remove());
  const models = join(all.folder, 'models');
  const target = join(all.config.output, 'models', SNAPSHOT);
  const fitted = readModels().filter((model) => model.exists !== 'none' && isOutside(model));

  /** A command in place of Spark, for which every model has a row, and every data test passes. */
  function spark(): string {
    const path = join(all.folder, 'spark-sql');
    writeFileSync(
      path,
      `#!${process.execPath}
const script = require('node:fs').readFileSync(process.argv.at(-1).replace('file:', ''), 'utf8');
const [version, ...steps] = script.split(/;\\nselect '-- lotlake step'/);
console.log('-- lotlake on Spark 4.1.4');
for (const step of [version, ...steps.slice(0, -1)]) {
  const query = step.split("select '-- lotlake row '")[1];
  const numbers = [...(query ?? '').matchAll(/ as (?:"(\\d+)"|rows) ?/g)].map(([, place]) => [place ?? 'rows', 0]);
  if (query) console.log('-- lotlake row ' + JSON.stringify(Object.fromEntries(numbers)));
  console.log('-- lotlake step');
}
`,
    );
    chmodSync(path, 0o755);
    return path;
  }

  it('names the models that it leaves to DuckDB, and leaves no older files of them', () => {
    mkdirSync(models, { recursive: true });
    writeFileSync(join(models, 'bargains.sql'), 'select lot_id from lots');
    const columns = 'columns: { lot_id: { description: Lot. } }';
    writeFileSync(
      join(models, 'bargains.yml'),
      `description: Lots.\ngrain: one row a lot\nkey: [lot_id]\n${columns}\n`,
    );
    const settings = { models, spark: { submit: [spark()] } };
    writeFileSync(join(all.config.output, 'lotlake.config.json'), JSON.stringify(settings));
    const left = [...fitted.map(({ name }) => name), 'bargains'];
    for (const name of [...left, 'sales']) mkdirSync(join(target, name), { recursive: true });
    const run = (...args: readonly string[]) =>
      runLotlake(all.config.output, 'model', '--engine', 'spark', ...args);
    const { code, out, err } = run('--json');
    expect(code, err).toBe(0);
    expect(err).toBe('');
    const found: { left_out: { name: string; reason: string }[]; models: { name: string }[] } =
      JSON.parse(out);
    expect(new Set(found.left_out.map(({ name }) => name))).toEqual(new Set(left));
    expect(found.left_out.at(-1)).toEqual({ name: 'bargains', reason: 'it is a model of your own' });
    const published = readModels().filter((model) => !isGiven(model) && model.exists !== 'none');
    expect(found.models).toHaveLength(published.length - fitted.length);
    expect([...left, 'sales'].filter((name) => existsSync(join(target, name)))).toEqual(['sales']);
    const text = run('--to', target).out;
    expect(text).toMatch(
      /left to DuckDB, because it reads what lotlake computes outside of SQL: .*price_accuracy/,
    );
    expect(text).toContain('left to DuckDB, because it is a model of your own: bargains');
    const selected: typeof found = JSON.parse(run('--select', 'price_index sales', '--json').out);
    expect(selected.left_out.map(({ name }) => name)).toEqual(['price_index']);
  });
});
