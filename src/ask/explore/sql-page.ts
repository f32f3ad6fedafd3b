import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { exactly, type Html, html, raw } from '../page/html.js';
import type { Page } from './page-frame.js';
import type { Served } from './shown.js';
import { partsOf } from './stream.js';

/** A name of a file that a reader saves. */
export const NAME = /^[a-z][a-z0-9_]{0,59}$/;

/** The editor with its result, and the saved queries. */
export function sqlPage(shown: Served, given: string, folder: string | undefined, nonce: string): Page {
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
<form id="query" action="/sql"><label class="hidden" for="sql">Query</label>
<textarea id="sql" name="q" rows="8" spellcheck="false" maxlength="100000">${exactly(given)}</textarea>
<p class="tools"><button class="main">Run</button> <button type="button" id="cancel" hidden>Cancel</button> <span class="note">Ctrl-Enter runs it. Queries only read, and see the tables and marts of the snapshot.</span></p></form>
${savedPart(saved, folder)}`,
    rest: given.trim() === '' ? noResult() : result(shown, given),
  };
}

async function* noResult(): AsyncGenerator<Html> {
  yield html`<div id="result" aria-live="polite"></div>`;
}

async function* result(shown: Served, sql: string): AsyncGenerator<Html> {
  yield raw('<div id="result" aria-live="polite">');
  yield* partsOf(shown.run({ kind: 'result', sql }));
  yield raw('</div>');
}

function savedPart(saved: readonly string[], folder: string | undefined): Html {
  const links = saved.map((name) => html`<li><a href="/sql?name=${name}">${name}</a></li>`);
  return html`<details${saved.length > 0 ? ' open' : ''}><summary>Saved queries</summary>
${saved.length > 0 && html`<ul class="saved">${links}</ul>`}
${
  folder === undefined
    ? html`<p class="note">Queries are saved beside lotlake.config.json: lotlake init writes that file.</p>`
    : html`<form method="post" action="/sql" id="save"><label>Save as <input name="name" maxlength="60" required placeholder="sold by month"></label> <input type="hidden" name="sql"><button>Save</button> <button formaction="/searches">Watch each night</button> <span class="note">in ${folder}</span></form>`
}</details>`;
}

/** The text of a saved query; undefined if there is none of this name. */
export function savedQuery(folder: string | undefined, name: string): string | undefined {
  if (folder === undefined || !NAME.test(name)) return undefined;
  const path = join(folder, `${name}.sql`);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
