import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEmptyLake } from '../../src/ask/docs/empty-lake.js';
import { mermaid, tablesMarkdown } from '../../src/ask/docs/markdown.js';
import { martsPage } from '../../src/ask/docs/marts-page.js';
import { lineageOf } from '../../src/ask/page/lineage.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { readChecks } from '../../src/core/model/checks.js';
import { type CatalogTable, readCatalog } from '../../src/core/model/dictionary.js';
import { LAYERS, readLayer, readModelsOf } from '../../src/core/model/model-files.js';
import { compareColumns } from '../model/columns.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
let opened: TemporarySession;
let catalog: readonly CatalogTable[];
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  catalog = await readCatalog(opened.session.connection, await describeEmptyLake(opened));
});
afterAll(() => {
  opened.close();
  folder.remove();
});

const YML = 'description: D.\ngrain: one row a n\nkey: [n]\ncolumns:\n  n: { description: N. }\n';

/** A folder of models or checks with the given files. */
function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
  return path;
}

const filesOf = (name: string): readonly string[] => readdirSync(join(packageRoot, 'sql', name)).sort();

describe('reading the definitions in SQL and .yml', () => {
  it('refuses a mart that lacks one of its two files', () => {
    expect(() => readModelsOf(folderOf('sql-alone', { 'a.sql': 'select 1 as n' }))).toThrow(
      /a\.yml cannot be read/,
    );
    expect(() => readModelsOf(folderOf('yml-alone', { 'b.yml': YML }))).toThrow(/b\.yml .*has no \.sql/);
    expect(readModelsOf(folderOf('both', { 'c.sql': 'select 1 as n', 'c.yml': YML }))).toHaveLength(1);
  });

  it('finds a column that only one of the two files names', async () => {
    const [model] = readModelsOf(folderOf('columns', { 'd.sql': 'select 1 as m', 'd.yml': YML }));
    if (model === undefined) throw new TypeError('no model');
    await opened.session.connection.run(`create view ${model.name} as ${model.sql}`);
    expect(await compareColumns(opened.session.connection, model)).toEqual({
      undescribed: ['m'],
      missing: ['n'],
    });
  });

  it('refuses a check whose header lacks its description or its severity', () => {
    const check = (name: string, header: string) => () =>
      readChecks(folderOf(name, { 'e.sql': `${header}\nselect 1` }));
    expect(check('no-description', '-- severity: warn')).toThrow(/e\.sql[\s\S]*description/);
    expect(check('no-severity', '-- description: D.')).toThrow(/e\.sql[\s\S]*severity/);
  });

  it('finds a .sql and a .yml for each mart and lake table, and no other file', () => {
    for (const name of [
      ...LAYERS.filter((layer) => layer !== 'seeds').map((layer) => `models/${layer}`),
      'flatten',
    ]) {
      const names = [...new Set(filesOf(name).map((file) => file.split('.')[0] ?? ''))];
      expect(filesOf(name), name).toEqual(names.flatMap((each) => [`${each}.sql`, `${each}.yml`]));
    }
    expect(filesOf('checks').filter((file) => !file.endsWith('.sql'))).toEqual([]);
  });

  it('finds no description in sql/flatten of a column that does not exist', () => {
    for (const { name, stream, key, columns } of catalog) {
      if (stream === undefined) continue;
      const yml: unknown = load(readFileSync(join(packageRoot, 'sql', 'flatten', `${name}.yml`), 'utf8'));
      const described = yml !== null && typeof yml === 'object' ? Reflect.get(yml, 'columns') : undefined;
      const names = columns.map((column) => column.name);
      expect(names, name).toEqual(expect.arrayContaining([...key, ...Object.keys(described ?? {})]));
    }
  });

  it('finds a description of every table, mart, column and check', () => {
    const silent = catalog.flatMap(({ name, description, grain, columns }) => [
      ...(description === '' || grain === '' ? [name] : []),
      ...columns
        .filter((column) => column.description.trim() === '')
        .map((column) => `${name}.${column.name}`),
    ]);
    expect(silent).toEqual([]);
    expect(catalog.every(({ columns }) => columns.length > 0)).toBe(true);
  });
});

describe('the catalog', () => {
  const table = (name: string) => catalog.find((each) => each.name === name);

  it('knows what a mart reads, what reads a table, and which checks do', () => {
    expect(table('price_trends')?.reads).toEqual(expect.arrayContaining(['sales', 'vehicles']));
    expect(table('sales')?.readBy).toContain('price_trends');
    expect(table('lot_images')?.checks.map(({ test }) => test)).toContain('children_have_lots');
  });

  it('knows every member of the feed that a table comes from', () => {
    expect(table('report_limitations')?.places).toEqual([
      'inspections[].limitations[]',
      'vehicle_history_reports[].limitations[]',
    ]);
    expect(table('vehicles')?.places).toEqual([]);
  });

  it('does not mistake a column of lotlake’s own for a member of the feed', () => {
    const run = table('lots')?.columns.find(({ name }) => name === 'run_id');
    expect(run).toMatchObject({ source: undefined, description: 'Run that last changed the row.' });
  });
});

describe('docs/ask/tables.md', () => {
  it('has a section for each table and mart', async () => {
    const text = await tablesMarkdown();
    const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(['Lineage', ...catalog.map(({ name }) => name)]);
  });

  it('changes no line of the lineage but its own if there is a new mart', () => {
    const after = mermaid(lineageOf(catalog)).split('\n');
    const before = mermaid(lineageOf(catalog.filter(({ name }) => name !== 'claim_history'))).split('\n');
    expect(before.filter((line) => !after.includes(line))).toEqual([]);
    expect(
      after.filter((line) => !before.includes(line)).every((line) => line.includes('claim_history')),
    ).toBe(true);
    expect(new Set(after).size).toBe(after.length);
  });
});

describe('docs/ask/marts.md', () => {
  const marts = LAYERS.filter((layer) => layer !== 'seeds')
    .flatMap(readLayer)
    .filter(({ exists }) => exists !== 'none');

  it('lists each mart and example, and has a section for it', () => {
    const text = martsPage();
    expect([...text.matchAll(/^### (.+)$/gm)].map(([, name]) => name)).toEqual(marts.map(({ name }) => name));
    expect([...text.matchAll(/^- \[(\w+)\]\(#\1\): ./gm)].map(([, name]) => name)).toEqual(
      marts.map(({ name }) => name),
    );
  });

  it('has the notes of a mart in its section', () => {
    const [, section = ''] = martsPage().split('\n### sold_by_day\n');
    const [first = ''] = marts.find(({ name }) => name === 'sold_by_day')?.notes ?? [];
    expect(section).toContain(`- ${first.split('\n')[0]}\n`);
    expect(section).toContain('\n  ```sql\n  select domain_name, day');
    expect(section).toContain('- key: `level`, `domain_id`');
  });
});
