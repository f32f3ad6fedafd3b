import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { openTemporarySession, rows } from '../../src/base/duck/session.js';
import { type Model, readModels, withOwnSeeds } from '../../src/core/model/model-files.js';
import { temporaryFolder } from '../pipelines/support.js';
import { nightOf } from '../report/lake.js';

const folder = temporaryFolder();
afterAll(folder.remove);

const HEADER = 'domain_id,country_iso,currency,certainty,reason';

/** A folder with these files. */
function seedsOf(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

/** The rows of currency_rules in these models. */
async function rulesOf(models: readonly Model[]) {
  const opened = await openTemporarySession({ memory: '200MB' });
  try {
    const sql = models.find(({ name }) => name === 'currency_rules')?.sql ?? '';
    return await rows(opened.session.connection, sql);
  } finally {
    opened.close();
  }
}

describe('seeds', () => {
  it('are models that read a file with the types of its .yml', async () => {
    const rules = await rulesOf(readModels());
    const text = readFileSync(join(packageRoot, 'sql', 'seeds', 'currency_rules.csv'), 'utf8');
    expect(rules).toHaveLength(text.trim().split('\n').length - 1);
    expect(rules[0]).toMatchObject({
      domain_id: 1,
      country_iso: 'US',
      currency: 'USD',
      certainty: 'assumed',
    });
    expect(rules.find((rule) => rule.country_iso === 'CA')).toMatchObject({ currency: null });
    expect(rules.find((rule) => rule.country_iso === '*')).toMatchObject({ domain_id: 12, currency: 'USD' });
  });

  it('of the user replace the seeds of the same name, in any dialect of CSV', async () => {
    const written = `\uFEFF${HEADER}\r\n3,CA,CAD,stated,"so, ""they"" say"\r\n3,US,,unknown,nobody\r\n`;
    const own = seedsOf('own', { 'currency_rules.csv': written, '.DS_Store': '' });
    expect(await rulesOf(withOwnSeeds(readModels(), own))).toEqual([
      { domain_id: 3, country_iso: 'CA', currency: 'CAD', certainty: 'stated', reason: 'so, "they" say' },
      { domain_id: 3, country_iso: 'US', currency: null, certainty: 'unknown', reason: 'nobody' },
    ]);
    expect(withOwnSeeds(readModels(), seedsOf('none', {}))).toEqual(readModels());
  });

  it.each([
    ['a folder that is missing', () => join(folder.path, 'missing'), /there is no folder .*missing/],
    [
      'an unknown name',
      () => seedsOf('unknown', { 'currencies.csv': HEADER }),
      /currencies\.csv is not a seed/,
    ],
    [
      'other columns',
      () => seedsOf('columns', { 'currency_rules.csv': 'domain_id,currency\n3,USD\n' }),
      /currency_rules\.csv begins with domain_id,currency/,
    ],
  ])('are refused before the first request: %s', async (_, seeds, message) => {
    const output = join(folder.path, 'output');
    const night = nightOf(output, [], new Date('2026-11-18T04:00:00Z'), {}, { seeds: seeds() });
    await expect(night).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('of the user decide the currency of the prices of a night', async () => {
    const rules = ['3,CA,CAD,stated,the contract', '3,US,USD,assumed,the place'];
    const seeds = seedsOf('night', { 'currency_rules.csv': [HEADER, ...rules].join('\n') });
    const output = join(folder.path, 'night-output');
    await nightOf(output, [], new Date('2026-11-18T04:00:00Z'), {}, { seeds });
    const opened = await openTemporarySession({ memory: '200MB' });
    const file = join(output, 'lake', 'current', 'currency_rules', 'data_0.parquet');
    const found = await rows(
      opened.session.connection,
      `select country_iso, currency from '${file}' order by all`,
    );
    opened.close();
    expect(found).toEqual([
      { country_iso: 'CA', currency: 'CAD' },
      { country_iso: 'US', currency: 'USD' },
    ]);
  });
});
