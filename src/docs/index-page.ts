import { html } from 'hono/html';
import { readChecks } from '../model/checks.js';
import { count, counted } from '../query/printable.js';
import type { CatalogTable } from './catalog.js';
import { type Html, pageOf } from './html.js';
import type { LineageNode } from './lineage.js';
import { lineageSvg } from './lineage-svg.js';
import { pathOf, type Site } from './site.js';

/** The first page: marts, tables and tests at a glance, and the way of the data between them. */
export function indexPage(site: Site): Html {
  const of = (test: (table: CatalogTable) => boolean): readonly CatalogTable[] => site.catalog.filter(test);
  const marts = of(({ kind }) => kind === 'mart');
  const feed = of(({ stream }) => stream !== undefined);
  const own = of(({ kind, stream }) => kind === 'table' && stream === undefined);
  const columns = site.catalog.reduce((sum, table) => sum + table.columns.length, 0);
  return pageOf(
    { title: 'lotlake data', root: '', source: site.source },
    html`<h1>The data of the lake</h1>
<p class="lead">${counted(marts.length, 'mart')} that answer questions, ${counted(feed.length, 'table')} from the feed and ${counted(own.length, 'table')} of lotlake’s own work: ${counted(columns, 'column')}, each with description, type, unit, place in the feed, null rate and examples. Press <kbd>/</kbd> to search.</p>
${testSummary(site)}
${list('marts', 'Marts', marts, site)}
${list('feed', 'Tables from the feed', feed, site)}
${list('own', 'Tables of lotlake’s own work', own, site)}
${lineage(site)}`,
  );
}

function testSummary(site: Site): Html {
  const tests = [...site.catalog.flatMap((table) => table.tests), ...readChecks()];
  const results = tests.map((test) => ({ ...test, failures: site.failuresOf(test) }));
  const passed = results.filter(({ failures }) => failures === 0).length;
  const failed = results.filter(({ failures }) => failures !== undefined && failures > 0);
  const notRun = results.length - passed - failed.length;
  return html`<p>${count(passed)} of ${counted(tests.length, 'data test')} passed on this snapshot${notRun > 0 && `; ${count(notRun)} could not be run`}.</p>
${
  failed.length > 0 &&
  html`<table class="tests">
<thead><tr><th>Failed</th><th>Test</th><th>Severity</th><th>Last result</th></tr></thead>
<tbody>
${failed.map(
  ({
    model,
    test,
    severity,
    failures = 0,
  }) => html`<tr><td>${model === 'checks' ? 'check' : html`<a href="${pathOf(site, model)}#tests"><code>${model}</code></a>`}</td><td><code>${test}</code></td><td data-label="Severity">${severity}</td><td data-label="Last result" class="result failed">${counted(failures, 'row fails', 'rows fail')}</td></tr>
`,
)}</tbody>
</table>`
}`;
}

function list(id: string, title: string, tables: readonly CatalogTable[], site: Site): Html {
  return html`<h2 id="${id}">${title}</h2>
<table class="tables">
<thead><tr><th>Name</th><th class="number">Rows</th><th>What it holds</th></tr></thead>
<tbody>
${tables.map(
  (
    table,
  ) => html`<tr><th scope="row"><a href="${pathOf(site, table.name)}"><code>${table.name}</code></a></th><td class="number" data-label="Rows">${count(table.rows)}</td><td>${firstSentence(table.description)}</td></tr>
`,
)}</tbody>
</table>`;
}

const firstSentence = (text: string): string =>
  /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;

function lineage(site: Site): Html {
  const href = (node: LineageNode): string | undefined =>
    node.kind === 'table' || node.kind === 'mart' ? pathOf(site, node.name) : undefined;
  const label = 'The way of the data: endpoints, streams, tables, marts';
  return html`<h2 id="lineage">Lineage</h2>
<p>From endpoints of the service over streams and tables to marts. Each box leads to its page; pointing at one shows what it is connected with.</p>
<div class="wide" tabindex="0" role="region" aria-label="${label}">${lineageSvg(site.lineage, { label, href })}</div>`;
}
