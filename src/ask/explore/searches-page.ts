import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, move, ownNamed, remove, writeNew } from '../../base/config/owned.js';
import { count } from '../../base/config/printable.js';
import { identifier } from '../../base/duck/session.js';
import { type Model, readModels } from '../../core/model/model-files.js';
import { modellingOf, ownNameProblem, readOwn } from '../../core/model/own-models.js';
import { followedList } from '../page/followed-list.js';
import { type Html, html } from '../page/html.js';
import { section } from '../page/section.js';
import { watchedList } from '../page/watched-list.js';
import { readFollowed } from '../query/followed.js';
import { readWatched } from '../query/watched.js';
import { asMeant } from './find-page.js';
import type { QueryColumns } from './jobs.js';
import { addressOf, conditionOf, type Search, wordsOf } from './lot-filters.js';
import { LINKS, type Page, rowsLink } from './page-frame.js';
import type { Served } from './shown.js';
import { partsOf, textsOf } from './stream.js';

/** Folders beside the configuration that the reader's own files are saved in; undefined without a configuration. */
export interface Folders {
  readonly models: string | undefined;
  readonly queries: string | undefined;
}

/** The watched searches with what is new and what matches now, and a form that saves the search of the address. */
export function searchesPage(
  shown: Served,
  config: Config,
  folders: Folders,
  { search, pictures }: { readonly search: Search; readonly pictures: ReadonlySet<string> },
): Page {
  const meant = asMeant(search, shown.names);
  const hasSearch = Object.keys(meant.filters).length > 0;
  return {
    title: 'Searches',
    place: 'searches',
    scripts: ['explore'],
    first: html`<h1>Watched searches</h1>
<p>Each night tells what a search finds that it did not find the night before, and what left: here, in the report, in your channels, and by <code>lotlake watch</code>. A button on the page of a car follows it.</p>
${hasSearch && saveForm(meant, folders)}`,
    rest: searchesOf(shown, config, folders, pictures),
  };
}

/** Followed cars, then the searches: those that were saved since the last night, and those of the snapshot. */
async function* searchesOf(
  shown: Served,
  config: Config,
  { models }: Folders,
  pictures: ReadonlySet<string>,
): AsyncGenerator<Html> {
  const cars = await readFollowed(config);
  if (cars.length > 0)
    yield section(
      'cars',
      'Cars that you follow',
      'What happened to them since the night before.',
      followedList(cars, (id) => `/car/${id}`),
    );
  const watched = await readWatched(config);
  const saved = savedIn(models);
  const waiting = saved.filter(({ name }) => !watched.some((each) => each.name === name));
  if (watched.length + waiting.length === 0)
    yield html`<p class="words">No search is watched yet. <a href="/lots">Find lots</a>, then choose “Watch this search”.</p>`;
  const matches = (sql: string): AsyncGenerator<Html> =>
    partsOf(shown.run({ kind: 'matches', sql, pictures }));
  for (const { name, description, sql } of waiting) {
    yield section(`w-${name}`, name, description, html`<p class="note">The next night computes it.</p>`);
    yield changeForm(name);
    yield* matches(sql);
    yield rowsLink(sql, 'All of them');
  }
  for (const each of watched) {
    const { name, description } = each;
    const isSaved = saved.some((model) => model.name === name);
    yield section(`w-${name}`, name, description, [
      html`${!isSaved && html`<p class="note">It is no longer among your models: the next night leaves it out.</p>`}`,
      watchedList(each, { pageOf: LINKS.car, pictures }),
    ]);
    if (each.matches !== null) {
      yield* matches(`from ${identifier(name)}`);
      yield html`<p class="rows"><a href="/marts/${name}.html">All ${count(each.matches)} matches</a></p>`;
    }
    if (isSaved) yield changeForm(name);
  }
}

/** Renames a search, or removes it. */
const changeForm = (name: string): Html =>
  html`<details><summary>Rename or remove</summary><form method="post" action="/searches/${name}" class="tools"><label>Name <input name="to" value="${name}" maxlength="60" required></label> <button>Rename</button> <button name="remove" value="1">Remove</button> <span class="note">Under a new name it begins anew: the next night compares nothing.</span></form></details>`;

/** Renames a watched model of the folder, or removes it if there is no new name. Throws QUERY_PLACE. */
export function changeSearch(
  { folder, examples }: { readonly folder: string; readonly examples?: readonly string[] | undefined },
  name: string,
  to: string | undefined,
): void {
  if (!savedIn(folder).some((each) => each.name === name))
    throw new LotlakeError('QUERY_PLACE', `no search ${name} is saved in ${folder}`, { outcome: 'usage' });
  if (to !== undefined)
    assertFree(to, [`${to}.sql`, `${to}.yml`].map((file) => join(folder, file)).some(existsSync), examples);
  // A model is there while its SQL is.
  for (const kind of to === undefined ? ['sql', 'yml'] : ['yml', 'sql']) {
    const path = ownNamed(join(folder, `${name}.${kind}`));
    if (to === undefined) remove(path);
    else move(path, ownNamed(join(folder, `${to}.${kind}`)));
  }
}

/** Throws QUERY_PLACE for a name that cannot be one of a search, or that a model has. */
function assertFree(name: string, isTaken: boolean, examples: readonly string[] | undefined): void {
  const problem =
    ownNameProblem(name, examples) ?? (isTaken ? `there is a model ${name} already` : undefined);
  if (problem !== undefined)
    throw new LotlakeError('QUERY_PLACE', problem, { outcome: 'usage', hint: 'give it another name' });
}

function saveForm(search: Search, { models }: Folders): Html {
  if (models === undefined)
    return html`<p class="words">A search is saved beside lotlake.config.json. lotlake init writes that file; start lotlake explore again after it.</p>`;
  return html`<form method="post" action="/searches" class="filters"><p>${wordsOf(search)}</p><input type="hidden" name="search" value="${addressOf(search)}">
<div class="fields"><label>Name<input name="name" required maxlength="60" value="${slugOf(wordsOf(search))}"></label></div><p class="tools"><button class="main">Watch it</button> <span class="note">writes two files in ${models}</span></p></form>`;
}

/** A name of files from any words, such as `texas_toyotas`. */
export const slugOf = (words: string): string =>
  words
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .slice(0, 60);

/** The watched models of the folder, which the next night computes. What cannot be read is an alarm of that night. */
const savedIn = (folder: string | undefined): readonly Model[] =>
  folder === undefined || !existsSync(folder)
    ? []
    : readOwn({ models: folder, examples: undefined }).models.filter(({ watch }) => watch);

/** The columns of a model with their descriptions. */
type Columns = readonly (readonly [
  name: string,
  about: {
    readonly description: string;
    readonly unit?: string | undefined;
    readonly tests?: readonly string[];
  },
])[];

/** Where and how a search is saved. */
interface Saving {
  readonly config: Config;
  /** Folder of the models of the user. */
  readonly folder: string;
  readonly name: string;
}

/** Saves the search of a form as a model of the user. Throws as {@link saveModel}. */
export async function saveSearch(shown: Served, saving: Saving, search: Search): Promise<void> {
  const meant = asMeant(search, shown.names);
  const described = readModels().find((model) => model.name === 'lots_on_offer')?.columns ?? {};
  const columns: Columns = Object.entries(described).map(([column, { description, unit }]) => [
    column,
    { description, unit },
  ]);
  // A column that a later version adds is not described in the .yml, and is not read.
  const listed = columns.map(([column]) => column).join(',\n  ');
  const sql = `select\n  ${listed}\nfrom lots_on_offer\nwhere ${conditionOf(meant)}`;
  await saveModel(shown, saving, { description: `Lots on offer: ${wordsOf(meant)}.`, sql, columns });
}

/** Saves a query as a watched model of the user. Its column lot_id says which rows are the same. Throws as {@link saveModel}. */
export async function watchQuery(shown: Served, saving: Saving, sql: string): Promise<void> {
  const [found = ''] = await textsOf(shown.run({ kind: 'columns', sql }));
  const { select, names } = JSON.parse(found) as QueryColumns;
  const columns: Columns = names.map((column) => [
    column,
    { description: 'Column of the query.', ...(column === 'lot_id' && { tests: ['not_null'] }) },
  ]);
  if (!columns.some(([column]) => column === 'lot_id'))
    throw new LotlakeError('QUERY_PLACE', 'a watched query needs the column lot_id', {
      outcome: 'usage',
      hint: 'it says which rows are the same as the night before; select it',
    });
  await saveModel(shown, saving, { description: 'A query that is watched.', sql: select.trim(), columns });
}

/**
 * Saves a watched model, `<name>.sql` and `<name>.yml`, once it was computed as a night would compute it. The next run does.
 * Throws QUERY_PLACE for a name that cannot be one or is taken, and the errors of a trial.
 */
async function saveModel(
  shown: Served,
  { config, folder, name }: Saving,
  {
    description,
    sql,
    columns,
  }: { readonly description: string; readonly sql: string; readonly columns: Columns },
): Promise<void> {
  const [sqlFile, ymlFile] = [join(folder, `${name}.sql`), join(folder, `${name}.yml`)];
  // A model whose files are gone is in the snapshot until the next night.
  const taken =
    [sqlFile, ymlFile].some(existsSync) ||
    modellingOf(shown.lake.manifest).models.some((model) => model.isOwn && model.name === name);
  assertFree(name, taken, config.examples);
  const about = {
    description,
    watch: true,
    grain: 'one row a lot',
    key: ['lot_id'],
    columns: Object.fromEntries(columns),
  };
  const files = { name, sql: `${sql}\n`, yml: dump(about, { skipInvalid: true, lineWidth: 120 }) };
  await textsOf(shown.run({ kind: 'trial', files }));
  makeFolder(ownNamed(folder));
  writeNew(ownNamed(ymlFile), files.yml);
  try {
    writeNew(ownNamed(sqlFile), files.sql);
  } catch (error) {
    remove(ymlFile);
    throw error;
  }
}
