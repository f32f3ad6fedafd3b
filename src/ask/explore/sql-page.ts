import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Config } from '../../base/config/config.js';
import { exactly, type Html, html, raw } from '../page/html.js';
import { section } from '../page/section.js';
import { queryLinks } from './examples.js';
import { keepQuery, readKept } from './kept.js';
import { type Page, problem, rowsLink } from './page-frame.js';
import type { Served } from './shown.js';

/** A name of a file that a reader saves. */
export const NAME = /^[a-z][a-z0-9_]{0,59}$/;

/** The editor with its result, the saved queries and the last ones. */
export function sqlPage(
  shown: Served,
  config: Config,
  given: string,
  folder: string | undefined,
  nonce: string,
): Page {
  const saved =
    folder === undefined || !existsSync(folder)
      ? []
      : readdirSync(folder)
          .filter((file) => file.endsWith('.sql'))
          .map((file) => basename(file, '.sql'))
          .filter((name) => NAME.test(name))
          .sort();
  return {
    title: 'SQL',
    place: 'sql',
    scripts: ['editor'],
    nonce,
    first: html`<h1>SQL</h1>
<form id="query" action="/sql" method="post"><label class="hidden" for="sql">Query</label>
<textarea id="sql" name="q" rows="8" spellcheck="false" maxlength="100000">${exactly(given)}</textarea>
<p class="tools"><button class="main">Run</button> <button type="button" id="cancel" hidden>Cancel</button> <span class="note">Ctrl-Enter runs it. Queries only read, and see the tables and marts of the snapshot.</span></p></form>
${savedPart(saved, folder, given)}`,
    rest: given.trim() === '' ? noResult(shown, config) : result(shown, config, given),
  };
}

async function* noResult(shown: Served, config: Config): AsyncGenerator<Html> {
  const examples = await queryLinks(shown);
  yield html`<div id="result" aria-live="polite">${section('examples', 'For example', '', examples)}</div>${lastPart(config)}`;
}

async function* result(shown: Served, config: Config, sql: string): AsyncGenerator<Html> {
  yield raw('<div id="result" aria-live="polite">');
  try {
    for await (const piece of shown.run({ kind: 'result', sql })) yield raw(String(piece));
    yield rowsLink(sql, 'Link to this query');
    keepQuery(config, sql);
  } catch (error) {
    yield problem(error);
  }
  // With this query, if it ran.
  yield html`${raw('</div>')}${lastPart(config)}`;
}

/** The queries that ran last. What cannot be read is said in their place. */
function lastPart(config: Config): Html {
  const links = (): Html => {
    try {
      return html`<ul class="saved">${readKept(config).queries.map((sql) => html`<li><a href="/sql?q=${encodeURIComponent(sql)}"><code>${sql.replaceAll(/\s+/g, ' ').slice(0, 120)}</code></a></li>`)}</ul>`;
    } catch (error) {
      return problem(error);
    }
  };
  return html`<details id="last"><summary>Last queries</summary>${links()}</details>`;
}

function savedPart(saved: readonly string[], folder: string | undefined, given: string): Html {
  const links = saved.map((name) => html`<li><a href="/sql?name=${name}">${name}</a></li>`);
  return html`<details${saved.length > 0 ? ' open' : ''}><summary>Saved queries</summary>
${saved.length > 0 && html`<ul class="saved">${links}</ul>`}
${
  folder === undefined
    ? html`<p class="note">Queries are saved beside lotlake.config.json: lotlake init writes that file.</p>`
    : html`<form method="post" action="/queries" id="save"><label>Save as <input name="name" maxlength="60" required placeholder="sold by month"></label> <input type="hidden" name="sql" value="${exactly(given)}"><button>Save</button> <button formaction="/searches">Watch each night</button> <span class="note">in ${folder}</span></form>`
}</details>`;
}

/** The text of a saved query; undefined if there is none of this name. */
export function savedQuery(folder: string | undefined, name: string): string | undefined {
  if (folder === undefined || !NAME.test(name)) return undefined;
  const path = join(folder, `${name}.sql`);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
