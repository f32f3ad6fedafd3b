import { count, counted, megabytes } from '../../base/config/printable.js';
import { allTables } from '../../core/lake/manifest.js';
import { type CatalogTable, typeName } from '../../core/model/dictionary.js';
import { layersOf } from '../docs/markdown.js';
import { percent } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html, pathOf } from '../page/html.js';
import { around, endpointsOf, lineageOf, lineageSvg } from '../page/lineage.js';
import { factsOf, section } from '../page/section.js';
import type { ColumnFacts } from './column-facts.js';
import { pivotLinks } from './examples.js';
import type { Page } from './page-frame.js';
import { MEASURES, type Pivot } from './pivot.js';
import type { Served, Shown } from './shown.js';
import { partsOf, textsOf } from './stream.js';

/** The catalogue: all tables and marts, or those of which a name, column or description has a text. */
export function tablesPage(shown: Shown, wanted: string): Page {
  const { catalog } = shown;
  const text = wanted.trim().toLowerCase();
  const named = catalog.find(({ name }) => name === text.replaceAll(' ', '_'));
  const holders = catalog.filter(
    (table) => table !== named && table.columns.some(({ name }) => name === text.replaceAll(' ', '_')),
  );
  const found = catalog.filter(
    (table) =>
      table !== named &&
      !holders.includes(table) &&
      (columnsWith(table, text).length > 0 ||
        `${table.name} ${table.description}`.toLowerCase().includes(text)),
  );
  const listOf = (id: string, title: string, tables: readonly CatalogTable[]): Html | false =>
    tables.length > 0 &&
    section(
      id,
      title,
      '',
      grid(
        ['Name', '>Rows', 'What it holds', ...(text === '' ? [] : ['Columns'])],
        tables.map((table) => [
          html`<a href="/${pathOf(table)}"><code>${table.name}</code></a>`,
          table.rows === null ? 'view' : count(table.rows),
          html`<span class="wrap">${table.description}</span>`,
          ...(text === ''
            ? []
            : [html`<span class="wrap">${columnsWith(table, text).slice(0, 12).join(', ')}</span>`]),
        ]),
      ),
    );
  return {
    title: 'Tables',
    place: 'tables',
    first: html`<h1>Tables and marts</h1>
<form class="filters" action="/tables"><div class="fields"><label>Name, column or word<input name="q" type="search" value="${wanted}" maxlength="100"></label></div><p class="tools"><button class="main">Search</button></p></form>
${text === '' && section('examples', 'For example', '', pivotLinks(shown))}
${named !== undefined && listOf('named', 'Of this name', [named])}
${listOf('column', 'With a column of this name', holders)}
${layersOf(found).map(([id, title, tables]) => listOf(id, title, tables))}
${listOf(
  'feed',
  'Tables from the feed',
  found.filter(({ stream }) => stream !== undefined),
)}
${listOf(
  'work',
  'Tables of lotlake’s own work',
  found.filter(({ kind, stream }) => kind === 'table' && stream === undefined),
)}
${found.length + holders.length === 0 && named === undefined && html`<p class="words">Nothing has this in its name, columns or description.</p>`}`,
  };
}

const columnsWith = ({ columns }: CatalogTable, text: string): string[] =>
  columns
    .filter(({ name, description }) => text !== '' && `${name} ${description}`.toLowerCase().includes(text))
    .map(({ name }) => name);

/** The page of a table or mart: pivoted rows, columns, tests and lineage. Undefined if there is none of this name. */
export async function tablePage(shown: Served, name: string, pivot: Pivot): Promise<Page | undefined> {
  const table = shown.catalog.find((each) => each.name === name);
  if (table === undefined) return undefined;
  return {
    title: name,
    place: 'tables',
    scripts: ['explore'],
    first: html`<h1><code>${name}</code></h1><p>${table.description}</p>
<p class="rows"><a href="#columns">What its columns hold</a> <a href="#lineage">Where it comes from</a></p>
${tableFacts(table, shown)}
${pivotForm(table, pivot)}`,
    rest: restOf(shown, table, pivot),
  };
}

async function* restOf(shown: Served, table: CatalogTable, pivot: Pivot): AsyncGenerator<Html> {
  const { catalog } = shown;
  const { name, grain, columns, rows, key } = table;
  yield observedNote(table, pivot);
  yield currencyNote(table, pivot);
  yield* partsOf(shown.run({ kind: 'pivot', table: { name, grain, columns, rows }, pivot }));
  const hasFacts = pivot.facts !== undefined;
  const [found] = hasFacts
    ? await textsOf(shown.run({ kind: 'facts', table: { name, columns, rows, key } }))
    : [];
  const facts = found === undefined ? undefined : new Map<string, ColumnFacts>(JSON.parse(found));
  const heads = [
    'Column',
    'Type',
    'Unit',
    'Description',
    'In the feed',
    ...(hasFacts ? ['>Null', 'Examples'] : []),
  ];
  yield section(
    'columns',
    counted(table.columns.length, 'column'),
    hasFacts ? '' : html`<a href="?facts=1#columns">Count nulls and show examples</a>`,
    grid(
      heads,
      table.columns.map((column) => {
        const seen = facts?.get(column.name);
        return [
          html`<code id="c-${column.name}">${column.name}</code>${table.key.includes(column.name) && ' (key)'}`,
          html`<code>${typeName(column.type)}</code>`,
          column.unit ?? '',
          html`<span class="wrap">${column.description}</span>`,
          column.source ?? '',
          ...(hasFacts
            ? [seen === undefined ? '' : percent(seen.nullRate), seen?.examples.join(' · ') ?? '']
            : []),
        ];
      }),
    ),
  );
  const tests = [...table.tests, ...table.checks];
  if (tests.length > 0)
    yield section(
      'tests',
      'Tests of every night',
      '',
      grid(
        ['Test', 'If it fails'],
        tests.map(({ test, severity }) => [
          html`<code>${test}</code>`,
          severity === 'error' ? 'holds the night' : 'warns',
        ]),
      ),
    );
  const id = `${table.kind}:${table.name}`;
  yield section(
    'lineage',
    'Where it comes from and what reads it',
    '',
    lineageSvg(around(lineageOf(catalog), id), `Where ${table.name} comes from and what reads it`, '/', id),
  );
  if (table.sql !== undefined)
    yield section('sql', 'SQL', '', html`<pre tabindex="0"><code>${table.sql}</code></pre>`);
}

/** Says of a pivot over attempts that it counts those that were not observed, which other pages leave out. */
function observedNote({ columns }: CatalogTable, { by, by2, across, where = '', ...others }: Pivot): Html {
  const isPivot = (by !== undefined || across !== undefined) && others.of === undefined;
  const asked = [by, by2, across, where].join(' ');
  if (!isPivot || asked.includes('is_observed') || columns.every(({ name }) => name !== 'is_observed'))
    return html``;
  const only = where.trim() === '' ? 'is_observed' : `(${where}) and is_observed`;
  const given = { by, by2, across, ...others, where: only };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
  return html`<p class="note">All attempts count here. Of auctions that were not observed the sold lots are missing, so that shares of them mislead: <a href="?${query}">only the observed ones</a>, as on other pages.</p>`;
}

/** Says of a pivot of amounts that it takes those of all currencies as one. */
function currencyNote({ columns }: CatalogTable, { by, by2, across, where = '', of }: Pivot): Html {
  const isAmount = columns.some(({ name, unit }) => name === of && unit?.includes('currency') === true);
  const hasCurrency = columns.some(({ name }) => name === 'currency');
  if (!isAmount || !hasCurrency || [by, by2, across, where].join(' ').includes('currency')) return html``;
  return html`<p class="note">Amounts of all currencies count as one here, also those whose currency is not known: choose “and by” currency, or where currency = 'USD'.</p>`;
}

function tableFacts(
  { name, grain, key, rows: total, stream, reads, readBy }: CatalogTable,
  { catalog, lake }: Shown,
): Html {
  const stored = allTables(lake.manifest)[name];
  const links = (names: readonly string[]): Html =>
    html`${names.map((each, i) => html`${i > 0 && ', '}<a href="/${pathOf({ kind: catalog.find((table) => table.name === each)?.kind ?? 'table', name: each })}">${each}</a>`)}`;
  return factsOf([
    ['One row', grain.replace(/^one row /, '')],
    ['Key', key.join(', ')],
    ['Rows', total === null ? 'a view: computed when it is asked' : count(total)],
    [
      'Stored',
      stored === undefined ? '' : `${counted(stored.files.length, 'file')}, ${megabytes(stored.bytes)}`,
    ],
    ['Endpoints', stream === undefined ? '' : endpointsOf(stream).join(', ')],
    ['Reads', reads.length > 0 ? links(reads) : ''],
    ['Read by', readBy.length > 0 ? links(readBy) : ''],
  ]);
}

function pivotForm({ columns }: CatalogTable, pivot: Pivot): Html {
  const choice = (name: keyof Pivot, label: string, none: string): Html =>
    html`<label>${label}<select name="${name}"><option value="">${none}</option>${columns.map((column) => html`<option${column.name === pivot[name] ? ' selected' : ''}>${column.name}</option>`)}</select></label>`;
  return html`<form class="filters"><div class="fields">
${choice('by', 'By', 'all rows')}${choice('by2', 'and by', 'nothing')}${choice('across', 'Across', 'nothing')}
<label>Measure<select name="measure">${MEASURES.map((name) => html`<option${name === pivot.measure ? ' selected' : ''}>${name}</option>`)}</select></label>
${choice('of', 'of', 'rows')}
<label>Where <small>SQL</small><input name="where" value="${pivot.where ?? ''}" maxlength="1000" placeholder="${columns[0]?.name} is not null"></label>
</div><p class="tools"><button class="main">Show</button></p></form>`;
}
