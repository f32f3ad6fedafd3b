import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { handMadeLake } from '../query/support.js';
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
