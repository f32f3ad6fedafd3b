import { html } from 'hono/html';
import { partitionOf } from '../lake/files.js';
import { count, counted } from '../query/printable.js';
import type { CatalogTable } from './catalog.js';
import { typeName } from './dictionary.js';
import type { ColumnFacts } from './facts.js';
import { type Html, pageOf, percent, size } from './html.js';
import { around, endpointsOf, type LineageNode } from './lineage.js';
import { lineageSvg } from './lineage-svg.js';
import { pathOf, type Site } from './site.js';

/** The page of a table or mart. */
export function tablePage(table: CatalogTable, site: Site): Html {
  const place = { title: `${table.name} · lotlake data`, root: '../', source: site.source } as const;
  return pageOf(
    place,
    html`<h1><code>${table.name}</code> <span class="kind">${table.kind}</span></h1>
<p class="lead">${table.description}</p>
${factList(table, site)}
<h2 id="columns">${counted(table.columns.length, 'column')}</h2>
${columnsOf(table, site)}
${tests(table, site)}
${checks(table, site)}
${lineage(table, site)}
${
  table.sql === undefined
    ? ''
    : html`<h2 id="sql">SQL</h2>
<pre><code>${table.sql}</code></pre>`
}`,
  );
}

function factList(table: CatalogTable, site: Site): Html {
  const stored = site.stored[table.name];
  const partitions = stored?.partitioned ? new Set(stored.files.map(partitionOf)).size : 0;
  const facts: readonly (readonly [string, Html | string])[] = [
    ['One row', table.grain.replace(/^one row /, '')],
    ['Key', codes(table.key)],
    ['Rows', stored === undefined ? 'not in this snapshot' : count(stored.rows)],
    ['Stored', stored === undefined ? '' : `${counted(stored.files.length, 'file')}, ${size(stored.bytes)}`],
    ['Partitions', partitions === 0 ? '' : `${count(partitions)}, by domain_id and month`],
    ['Endpoints', table.stream === undefined ? '' : codes(endpointsOf(table.stream))],
    [
      'From',
      table.stream === undefined ? '' : codes(table.places.length === 0 ? ['the record'] : table.places),
    ],
    ['Reads', links(table.reads, site)],
    ['Read by', links(table.readBy, site)],
  ];
  const known = facts.filter(([, value]) => value !== '');
  return html`<dl class="facts">
${known.map(
  ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl>`;
}

const codes = (names: readonly string[]): Html =>
  html`${names.map((name, place) => html`${place === 0 ? '' : ', '}<code>${name}</code>`)}`;

function links(names: readonly string[], site: Site): Html | string {
  if (names.length === 0) return '';
  return html`${names.map(
    (name, place) =>
      html`${place === 0 ? '' : ', '}<a href="../${pathOf(site, name)}"><code>${name}</code></a>`,
  )}`;
}

function lineage(table: CatalogTable, site: Site): Html {
  const id = `${table.kind}:${table.name}`;
  const href = (node: LineageNode): string | undefined =>
    node.id !== id && (node.kind === 'table' || node.kind === 'mart')
      ? `../${pathOf(site, node.name)}`
      : undefined;
  const label = `Where ${table.name} comes from and what reads it`;
  const picture = lineageSvg(around(site.lineage, id), { label, href, current: id });
  return html`<h2 id="lineage">Lineage</h2>
<div class="wide" tabindex="0" role="region" aria-label="${label}">${picture}</div>`;
}

function columnsOf(table: CatalogTable, site: Site): Html {
  const facts = site.facts.get(table.name);
  const hasSource = table.columns.some(({ source }) => source !== undefined);
  const hasUnit = table.columns.some(({ unit }) => unit !== undefined);
  return html`<table class="columns">
<thead><tr><th>Column</th><th>Type</th>${hasUnit && html`<th>Unit</th>`}<th>Description</th>${hasSource && html`<th>In the feed</th>`}<th class="number">Null</th><th>Examples</th></tr></thead>
<tbody>
${table.columns.map(
  (
    column,
  ) => html`<tr id="c-${column.name}"><th scope="row"><a href="#c-${column.name}"><code>${column.name}</code></a>${table.key.includes(column.name) && html` <span class="key">key</span>`}</th><td data-label="Type"><code>${typeName(column.type)}</code></td>${hasUnit && html`<td data-label="Unit">${column.unit}</td>`}<td>${column.description}</td>${hasSource && html`<td data-label="In the feed">${column.source !== undefined && html`<code class="path">${breakable(column.source)}</code>`}</td>`}${seen(facts?.get(column.name))}</tr>
`,
)}</tbody>
</table>`;
}

/** A path of the feed that may be broken after its dots. */
const breakable = (path: string): Html =>
  html`${path.split('.').map((step, place) => html`${place === 0 ? '' : html`.<wbr>`}${step}`)}`;

function seen(facts: ColumnFacts | undefined): Html {
  const examples = facts?.examples.map((value) => html`<code class="example">${value}</code> `) ?? [];
  const rate = facts?.nullRate;
  return html`<td class="number" data-label="Null">${rate !== undefined && percent(rate)}</td><td data-label="Examples">${examples}</td>`;
}

function tests(table: CatalogTable, site: Site): Html | string {
  if (table.kind !== 'mart') return '';
  return html`<h2 id="tests">${counted(table.tests.length, 'test')}</h2>
<table class="tests">
<thead><tr><th>Test</th><th>Severity</th><th>Last result</th></tr></thead>
<tbody>
${table.tests.map(
  (
    test,
  ) => html`<tr><td><code>${test.test}</code></td><td data-label="Severity">${test.severity}</td>${result(test, site)}</tr>
`,
)}</tbody>
</table>`;
}

function checks(table: CatalogTable, site: Site): Html | string {
  if (table.checks.length === 0) return '';
  return html`<h2 id="checks">${counted(table.checks.length, 'check')} across tables</h2>
<table class="tests">
<thead><tr><th>Check</th><th>Reads</th><th>Severity</th><th>Last result</th></tr></thead>
<tbody>
${table.checks.map(
  (
    check,
  ) => html`<tr><td>${check.description} <code class="quiet">${check.test}</code></td><td data-label="Reads">${links(check.reads, site)}</td><td data-label="Severity">${check.severity}</td>${result(check, site)}</tr>
`,
)}</tbody>
</table>`;
}

function result(test: { readonly model: string; readonly test: string }, site: Site): Html {
  const failures = site.failuresOf(test);
  if (failures === undefined) return html`<td data-label="Last result" class="result">not run</td>`;
  if (failures === 0) return html`<td data-label="Last result" class="result passed">passed</td>`;
  return html`<td data-label="Last result" class="result failed">${counted(failures, 'row fails', 'rows fail')}</td>`;
}
