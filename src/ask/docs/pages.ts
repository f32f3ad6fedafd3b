import { basename } from 'node:path';
import { html } from 'hono/html';
import { count, counted, sumOf } from '../../base/config/printable.js';
import { partitionOf } from '../../core/lake/files.js';
import { allTables } from '../../core/lake/manifest.js';
import { type CatalogTable, readCatalog, typeName } from '../../core/model/dictionary.js';
import { modellingOf } from '../../core/model/own-models.js';
import type { PlannedTest } from '../../core/model/test-sql.js';
import type { OpenLake } from '../query/open-lake.js';
import { type ColumnFacts, columnFacts } from './facts.js';
import { fillPage, type Html, pathOf, tableOf } from './html.js';
import { around, endpointsOf, lineageOf, lineageSvg } from './lineage.js';
import { runEachTest } from './test-results.js';

/** What the pages describe. */
export type Site = Awaited<ReturnType<typeof readSite>>;

/** Reads an open lake for the pages: takes facts of every table, and runs every data test. */
export async function readSite({ session: { connection }, manifest, snapshot }: OpenLake) {
  const catalog = await readCatalog(connection, manifest);
  const stored = allTables(manifest);
  const facts = new Map<string, ReadonlyMap<string, ColumnFacts>>();
  for (const table of catalog)
    if (table.name in stored) facts.set(table.name, await columnFacts(connection, table));
  const { results } = await runEachTest(connection, manifest);
  return {
    catalog,
    lineage: lineageOf(catalog),
    stored,
    /** By table and column. */
    facts,
    /** Every data test and check. */
    tests: [...catalog.flatMap(({ tests }) => tests), ...modellingOf(manifest).checks],
    /** Number of rows that fail a data test; undefined if the test could not be run. */
    failuresOf: ({ model, test }: PlannedTest) =>
      results.find((result) => result.model === model && result.test === test)?.failures,
    /** A sentence about the snapshot. */
    source: `Snapshot ${basename(snapshot)}, made ${manifest.created_at.slice(0, 16).replace('T', ' ')} UTC by ${manifest.pipeline}.`,
  };
}

/** The first page: marts, tables and tests at a glance, and the lineage. */
export function indexPage(site: Site): string {
  const { catalog } = site;
  const marts = catalog.filter(({ kind, isOwn }) => kind === 'mart' && !isOwn);
  const feed = catalog.filter(({ stream }) => stream !== undefined);
  const own = catalog.filter(({ kind, stream }) => kind === 'table' && stream === undefined);
  const columns = sumOf(catalog, (table) => table.columns.length);
  const label = 'The way of the data: endpoints, streams, tables, marts';
  const content = html`<h1>The data of the lake</h1>
<p class="lead">${counted(marts.length, 'mart')} that answer questions, ${counted(feed.length, 'table')} from the feed and ${counted(own.length, 'table')} of lotlake’s own work: ${counted(columns, 'column')}, each with description, type, unit, place in the feed, null rate and examples. Press <kbd>/</kbd> to search.</p>
${testSummary(site)}
${layersOf(catalog).map(
  ([id, title, tables]) => html`${list(id, title, tables)}
`,
)}${list('feed', 'Tables from the feed', feed)}
${list('own', 'Tables of lotlake’s own work', own)}
<h2 id="lineage">Lineage</h2>
<p>From endpoints of the service over streams and tables to marts. Each box leads to its page; pointing at one shows what it is connected with.</p>
${lineageSvg(site.lineage, label, '')}`;
  return fillPage('docs.html', { title: 'lotlake data', root: '', source: site.source, content });
}

/** What each layer of marts holds, in the order of the page. */
const TITLES = {
  own: 'Your own models',
  sales: 'Sales: attempts, prices, and what follows from them',
  market: 'Market: estimates, and what reads them',
  stock: 'Stock: what is on offer, and what became of it',
  reports: 'Reports: what history and inspection reports say',
  offers: 'Offers: what estimates rest on, and which prices are doubted',
  shared: 'Shared: names, groups and settings',
  seeds: 'Seeds: assumptions in tables',
} as const;

/** The layers that have marts, each with its id, title and marts. */
export const layersOf = (catalog: readonly CatalogTable[]) =>
  Object.entries(TITLES)
    .map(([layer, title]) => [layer, title, catalog.filter((table) => table.layer === layer)] as const)
    .filter(([, , tables]) => tables.length > 0);

function testSummary(site: Site): Html {
  const { tests, failuresOf } = site;
  const failed = tests.filter((test) => (failuresOf(test) ?? 0) > 0);
  const notRun = tests.filter((test) => failuresOf(test) === undefined).length;
  const passed = tests.length - failed.length - notRun;
  const head = html`<th>Failed</th><th>Test</th><th>Severity</th><th>Last result</th>`;
  const rows = failed.map((test) => {
    const page = html`<a href="${pathOf({ kind: 'mart', name: test.model })}#tests"><code>${test.model}</code></a>`;
    return html`<tr><td>${test.model === 'checks' ? 'check' : page}</td><td><code>${test.test}</code></td>${verdict(test, site)}</tr>`;
  });
  return html`<p>${count(passed)} of ${counted(tests.length, 'data test')} passed on this snapshot${notRun > 0 && `; ${count(notRun)} could not be run`}.</p>
${failed.length > 0 && tableOf('tests', head, rows)}`;
}

function list(id: string, title: string, tables: readonly CatalogTable[]): Html {
  const head = html`<th>Name</th><th class="number">Rows</th><th>What it holds</th>`;
  const rows = tables.map(
    (table) =>
      html`<tr><th scope="row"><a href="${pathOf(table)}"><code>${table.name}</code></a></th><td class="number" data-label="Rows">${table.rows === null ? 'view' : count(table.rows)}</td><td>${firstSentence(table.description)}</td></tr>`,
  );
  return html`<h2 id="${id}">${title}</h2>
${tableOf('tables', head, rows)}`;
}

const firstSentence = (text: string): string =>
  /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;

/** The page of a table or mart. */
export function tablePage(table: CatalogTable, site: Site): string {
  const { name, kind, description, columns, sql } = table;
  const id = `${kind}:${name}`;
  const label = `Where ${name} comes from and what reads it`;
  const title = `${name} · lotlake data`;
  const content = html`<h1><code>${name}</code> <span class="kind">${kind}</span></h1>
<p class="lead">${description}</p>
${factList(table, site)}
<h2 id="columns">${counted(columns.length, 'column')}</h2>
${columnsOf(table, site)}
${testsOf(table, site)}
${checksOf(table, site)}
<h2 id="lineage">Lineage</h2>
${lineageSvg(around(site.lineage, id), label, '../', id)}
${
  sql !== undefined &&
  html`<h2 id="sql">SQL</h2>
<pre><code>${sql}</code></pre>`
}`;
  return fillPage('docs.html', { title, root: '../', source: site.source, content });
}

function factList(table: CatalogTable, site: Site): Html {
  const { stream, places } = table;
  const stored = site.stored[table.name];
  const partitions = stored?.partitioned ? new Set(stored.files.map(partitionOf)).size : 0;
  const facts: readonly (readonly [string, Html | string])[] = [
    ['One row', table.grain.replace(/^one row /, '')],
    ['Key', codes(table.key)],
    ['Rows', rowsOf(table, site)],
    ['Stored', stored === undefined ? '' : `${counted(stored.files.length, 'file')}, ${size(stored.bytes)}`],
    ['Partitions', partitions === 0 ? '' : `${count(partitions)}, by domain_id and month`],
    ['Endpoints', stream === undefined ? '' : codes(endpointsOf(stream))],
    ['From', stream === undefined ? '' : codes(places.length === 0 ? ['the record'] : places)],
    ['Reads', links(table.reads, site)],
    ['Read by', links(table.readBy, site)],
  ];
  const known = facts.filter(([, value]) => value !== '');
  return html`<dl class="facts">
${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

function rowsOf({ name, rows }: CatalogTable, { stored }: Site): string {
  if (rows === null) return 'a view: computed when it is asked';
  return stored[name] === undefined ? 'not in this snapshot' : count(rows);
}

const codes = (names: readonly string[]): Html => listed(names.map((name) => html`<code>${name}</code>`));

const listed = (parts: readonly Html[]): Html =>
  html`${parts.map((part, place) => html`${place > 0 && ', '}${part}`)}`;

function links(names: readonly string[], { catalog }: Site): Html | string {
  const link = (name: string): Html => {
    const kind = catalog.find((table) => table.name === name)?.kind ?? 'table';
    return html`<a href="../${pathOf({ kind, name })}"><code>${name}</code></a>`;
  };
  return names.length === 0 ? '' : listed(names.map(link));
}

/** A size for people, such as 3.2 MB. */
function size(bytes: number): string {
  const [unit, factor] = bytes >= 1e9 ? ['GB', 1e9] : bytes >= 1e6 ? ['MB', 1e6] : ['kB', 1e3];
  return `${(bytes / Number(factor)).toFixed(1)} ${unit}`;
}

function columnsOf(table: CatalogTable, site: Site): Html {
  const facts = site.facts.get(table.name);
  const hasSource = table.columns.some(({ source }) => source !== undefined);
  const hasUnit = table.columns.some(({ unit }) => unit !== undefined);
  const head = html`<th>Column</th><th>Type</th>${hasUnit && html`<th>Unit</th>`}<th>Description</th>${hasSource && html`<th>In the feed</th>`}<th class="number">Null</th><th>Examples</th>`;
  const rows = table.columns.map(({ name, type, unit, description, source }) => {
    const key = table.key.includes(name) && html` <span class="key">key</span>`;
    const path = source !== undefined && html`<code class="path">${breakable(source)}</code>`;
    return html`<tr id="c-${name}"><th scope="row"><a href="#c-${name}"><code>${name}</code></a>${key}</th><td data-label="Type"><code>${typeName(type)}</code></td>${hasUnit && html`<td data-label="Unit">${unit}</td>`}<td>${description}</td>${hasSource && html`<td data-label="In the feed">${path}</td>`}${seen(facts?.get(name))}</tr>`;
  });
  return tableOf('columns', head, rows);
}

/** A path of the feed that may wrap after its dots. */
const breakable = (path: string): Html =>
  html`${path.split('.').map((step, place) => html`${place > 0 && html`.<wbr>`}${step}`)}`;

function seen(facts: ColumnFacts | undefined): Html {
  const examples = facts?.examples.map((value) => html`<code class="example">${value}</code> `);
  const rate = facts?.nullRate;
  return html`<td class="number" data-label="Null">${rate !== undefined && percent(rate)}</td><td data-label="Examples">${examples}</td>`;
}

/** A share in percent. Only exactly 0 and 1 are shown as 0 % and 100 %. */
function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`;
  if (share < 0.001) return '< 0.1 %';
  if (share > 0.999) return '> 99.9 %';
  return `${(share * 100).toFixed(1)} %`;
}

function testsOf({ kind, tests }: CatalogTable, site: Site): Html | string {
  if (kind !== 'mart') return '';
  const head = html`<th>Test</th><th>Severity</th><th>Last result</th>`;
  const rows = tests.map((test) => html`<tr><td><code>${test.test}</code></td>${verdict(test, site)}</tr>`);
  return html`<h2 id="tests">${counted(tests.length, 'test')}</h2>
${tableOf('tests', head, rows)}`;
}

function checksOf({ checks }: CatalogTable, site: Site): Html | string {
  if (checks.length === 0) return '';
  const head = html`<th>Check</th><th>Reads</th><th>Severity</th><th>Last result</th>`;
  const rows = checks.map(
    (check) =>
      html`<tr><td>${check.description} <code class="quiet">${check.test}</code></td><td data-label="Reads">${links(check.references, site)}</td>${verdict(check, site)}</tr>`,
  );
  return html`<h2 id="checks">${counted(checks.length, 'check')} across tables</h2>
${tableOf('tests', head, rows)}`;
}

/** The cells with the severity and the last result of a test. */
function verdict(test: PlannedTest, { failuresOf }: Site): Html {
  const failures = failuresOf(test);
  const result = (kind: string, text: string): Html =>
    html`<td data-label="Severity">${test.severity}</td><td data-label="Last result" class="result${kind}">${text}</td>`;
  if (failures === undefined) return result('', 'not run');
  if (failures === 0) return result(' passed', 'passed');
  return result(' failed', counted(failures, 'row fails', 'rows fail'));
}
