import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changeSearch } from '../../src/ask/explore/searches-page.js';
import { temporaryFolder } from '../pipelines/support.js';

let folder: ReturnType<typeof temporaryFolder>;
let models = '';

const save = (name: string, watch: boolean): void => {
  writeFileSync(join(models, `${name}.sql`), `select lot_id from lots -- ${name}\n`);
  writeFileSync(
    join(models, `${name}.yml`),
    `description: A search.\nwatch: ${watch}\ngrain: one row a lot\nkey: [lot_id]\ncolumns:\n  lot_id: { description: Lot. }\n`,
  );
};
const has = (name: string): readonly boolean[] =>
  ['sql', 'yml'].map((kind) => existsSync(join(models, `${name}.${kind}`)));

beforeEach(() => {
  folder = temporaryFolder();
  models = join(folder.path, 'models');
  mkdirSync(models);
  save('mine', true);
  save('other', true);
  save('model', false);
});
afterEach(() => folder.remove());

it('a search has its SQL and its description under the new name', () => {
  changeSearch({ folder: models, examples: ['followed'] }, 'mine', 'bargains');
  expect([has('mine'), has('bargains')]).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(readFileSync(join(models, 'bargains.sql'), 'utf8')).toContain('-- mine');
});

it('a search that is removed leaves no file', () => {
  changeSearch({ folder: models, examples: ['followed'] }, 'mine', undefined);
  expect([has('mine'), has('other')]).toEqual([
    [false, false],
    [true, true],
  ]);
});

it.each([
  ['a name that another search has', 'mine', 'other', 'there is a model other already'],
  ['a name that a model has', 'mine', 'model', 'there is a model model already'],
  ['a name that a table of the lake has', 'mine', 'prices', 'lotlake has a table, mart or check prices'],
  ['a name that a mart of the lake has', 'mine', 'sales', 'lotlake has a table, mart or check sales'],
  [
    'a name that a step of the run has',
    'mine',
    'level_groups',
    'lotlake has a table, mart or check level_groups',
  ],
  ['a name that only lotlake uses', 'mine', 'fit_inputs', 'lotlake has a table, mart or check fit_inputs'],
  ['a name of an example that is on', 'mine', 'followed', 'lotlake has a table, mart or check followed'],
  ['a name of a table of DuckDB', 'mine', 'duckdb_tables', 'DuckDB has such names'],
  ['a name that is none', 'mine', '9 lives', 'a name has the letters a to z'],
  ['a path in place of a name', 'mine', '../mine', 'a name has the letters a to z'],
  ['an unknown search', 'nobody', 'bargains', 'no search nobody is saved'],
  ['a model that is not watched', 'model', 'bargains', 'no search model is saved'],
])('%s changes nothing, and is said', (_, name, to, words) => {
  expect(() => changeSearch({ folder: models, examples: ['followed'] }, name, to)).toThrow(words);
  for (const each of ['mine', 'other', 'model']) expect(has(each), each).toEqual([true, true]);
});
