import { html } from 'hono/html';

/** A piece of a page, made by the `html` template, which escapes every value put into it. */
export type Html = ReturnType<typeof html>;

/** Where a page stands in the site. */
export interface Place {
  /** Title of the page. */
  readonly title: string;
  /** Way from the page to the root of the site: empty, or `../`. */
  readonly root: '' | '../';
  /** Last line of every page: the snapshot that it is about. */
  readonly source: string;
}

/** A whole page: head, bar with the search, content. Nothing in it is fetched from outside the site. */
export function pageOf({ title, root, source }: Place, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${root}docs.css">
<script src="${root}search-index.js" defer></script>
<script src="${root}docs.js" defer></script>
</head>
<body data-root="${root}">
<header class="bar">
<a class="home" href="${root}index.html">lotlake data</a>
<div class="search" hidden>
<input type="search" id="search" placeholder="Search tables and columns" autocomplete="off" spellcheck="false" role="combobox" aria-label="Search tables and columns" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<ul id="results" role="listbox" aria-label="Results" hidden></ul>
</div>
</header>
<main>
${content}
</main>
<footer>${source}</footer>
</body>
</html>
`;
}

/** Path of the page of a table or mart below the root of the site. */
export const pathOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  `${kind}s/${name}.html`;

/** A table of a page, from its heads and its rows. */
export const tableOf = (kind: string, head: Html, rows: readonly Html[]): Html => html`<table class="${kind}">
<thead><tr>${head}</tr></thead>
<tbody>
${rows.map((row) => html`${row}\n`)}</tbody>
</table>`;
