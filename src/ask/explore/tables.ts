import { html } from 'hono/html';
import { count, counted } from '../../base/config/printable.js';
import { identifier, literal, rows } from '../../base/duck/session.js';
import { allTables } from '../../core/lake/manifest.js';
import { type CatalogTable, typeName } from '../../core/model/dictionary.js';
import { readQuery } from '../../core/model/read-only.js';
import { columnFacts } from '../docs/facts.js';
import { type Html, pathOf } from '../docs/html.js';
import { around, endpointsOf, lineageOf, lineageSvg } from '../docs/lineage.js';
import { layersOf } from '../docs/markdown.js';
import { percent } from '../report/format.js';
import { grid } from './grid.js';
import { factsOf, type Page, problem, section } from './page.js';
import { resultOf } from './result.js';
import type { Shown } from './shown.js';

/** The catalogue: all tables and marts, or those of which a name, column or description has a text. */
export function tablesPage({ catalog }: Shown, wanted: string): Page {
  const text = wanted.trim().toLowerCase();
  const found = catalog.filter(
    (table) =>
      columnsWith(table, text).length > 0 ||
      `${table.name} ${table.description}`.toLowerCase().includes(text),
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
${found.length === 0 && html`<p class="words">Nothing has this in its name, columns or description.</p>`}`,
  };
}

const columnsWith = ({ columns }: CatalogTable, text: string): string[] =>
  columns
    .filter(({ name, description }) => text !== '' && `${name} ${description}`.toLowerCase().includes(text))
    .map(({ name }) => name);

/** What a reader asks of a table: its rows, or a measure by one or two columns and across a third. */
export interface Pivot {
  readonly by?: string;
  readonly by2?: string;
  readonly across?: string;
  readonly measure?: string;
  readonly of?: string;
  readonly where?: string;
  /** Whether nulls are counted and examples taken. */
  readonly facts?: string;
}

const MEASURES = ['count', 'sum', 'avg', 'median', 'min', 'max', 'count distinct'] as const;

/** Columns that `across` makes, the most frequent values of it. */
const ACROSS = 10;

/** The page of a table or mart: pivoted rows, columns, tests and lineage. Undefined if there is none of this name. */
export async function tablePage(shown: Shown, name: string, pivot: Pivot): Promise<Page | undefined> {
  const table = shown.catalog.find((each) => each.name === name);
  if (table === undefined) return undefined;
  return {
    title: name,
    place: 'tables',
    scripts: ['explore'],
    first: html`<h1><code>${name}</code></h1><p>${table.description}</p>
${tableFacts(table, shown)}
${pivotForm(table, pivot)}`,
    rest: restOf(shown, table, pivot),
  };
}

async function* restOf(shown: Shown, table: CatalogTable, pivot: Pivot): AsyncGenerator<Html> {
  const { connection, catalog } = shown;
  try {
    const sql = await pivotSql(shown, table, pivot);
    const whole = {
      sql: sql.replace(/\nlimit \d+$/, ''),
      rows: /^select \*/.test(sql) && !pivot.where ? table.rows : null,
    };
    yield html`${await resultOf(connection, sql, whole)}<p class="rows"><a href="/sql?q=${encodeURIComponent(sql)}">As a query</a></p>`;
  } catch (error) {
    yield problem(error);
  }
  const hasFacts = pivot.facts !== undefined;
  const facts = hasFacts ? await columnFacts(connection, table) : undefined;
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
      stored === undefined
        ? ''
        : `${counted(stored.files.length, 'file')}, ${(stored.bytes / 1e6).toFixed(1)} MB`,
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

/** SQL of a pivot; the values of `across` are looked up. Unknown columns do not count. */
async function pivotSql({ connection }: Shown, table: CatalogTable, pivot: Pivot): Promise<string> {
  const column = (name: string | undefined): string | undefined => {
    const found = table.columns.find((each) => each.name === name);
    return found === undefined ? undefined : identifier(found.name);
  };
  const from = `from ${identifier(table.name)}`;
  const where = pivot.where?.trim() ? `\nwhere ${pivot.where.trim()}` : '';
  const by = [column(pivot.by), column(pivot.by2)].filter((name) => name !== undefined);
  const across = column(pivot.across);
  if (by.length === 0 && across === undefined) return `select *\n${from}${where}\nlimit 100`;
  const measure = measureOf(pivot.measure, column(pivot.of));
  const filtered =
    across === undefined ? [] : await topValues(connection, `select ${across} as value ${from}${where}`);
  const cells = filtered.map(
    (value) =>
      `${measure} filter (where cast(${across} as varchar) = ${literal(value)}) as ${identifier(value)}`,
  );
  const lines = [...by, ...cells, `${measure} as ${cells.length === 0 ? 'value' : identifier('all')}`];
  const byTime = /^(DATE|TIMESTAMP)/.test(table.columns.find((each) => each.name === pivot.by)?.type ?? '');
  const order = byTime ? '1' : `${cells.length === 0 ? 'value' : identifier('all')} desc nulls last`;
  return `select\n  ${lines.join(',\n  ')}\n${from}${where}\ngroup by all\norder by ${order}\nlimit 1000`;
}

function measureOf(measure: string | undefined, of: string | undefined): string {
  const name = MEASURES.find((each) => each === measure) ?? 'count';
  if (of === undefined) return 'count(*)';
  return name === 'count distinct' ? `count(distinct ${of})` : `${name}(${of})`;
}

async function topValues(connection: Shown['connection'], select: string): Promise<string[]> {
  const sql = `select cast(value as varchar) as name from (${select}) where value is not null group by all order by count(*) desc, name limit ${ACROSS}`;
  await readQuery(connection, sql);
  return (await rows(connection, sql)).map(({ name }) => String(name));
}
