import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { escapeControls } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { pageOfLot } from '../page/format.js';
import { type Html, html, raw } from '../page/html.js';

/** What is around the pages of a server or of an export. */
export interface Frame {
  /** Relative or absolute path of the root, which all paths follow. */
  readonly root: string;
  /** Names of the menu by their paths. */
  readonly menu: Readonly<Record<string, string>>;
  /** Id of the snapshot; empty for a page that shows none. */
  readonly stamp: string;
  /** Folder of styles and scripts below the root. */
  readonly assets?: string;
  /** Whether a field finds cars. */
  readonly finds?: boolean;
}

/** The pages of the server. */
const served = (stamp: string): Frame => ({
  root: '/',
  menu: {
    '': 'Home',
    lots: 'Lots',
    value: 'Any car',
    answers: 'Answers',
    compare: 'Compare',
    tables: 'Tables',
    sql: 'SQL',
    searches: 'Searches',
    runs: 'Runs',
    report: 'Report',
  },
  stamp,
  assets: 'assets/',
  finds: true,
});

/** Links to the pages of the server, for a document that has no menu. */
export const menuLine = (): Html =>
  html`<p class="meta">${Object.entries(served('').menu).map(([path, name], i) => html`${i > 0 && ' · '}<a href="/${path}">${name}</a>`)}</p>`;

/** A page: what is shown at once, and what follows as soon as it is known. */
export interface Page {
  readonly title: string;
  /** Path of the menu that it belongs to. */
  readonly place: string;
  /** What was typed into the field that finds cars. */
  readonly typed?: string;
  readonly first: Html;
  readonly rest?: AsyncIterable<Html>;
  /** Names of scripts of the page. */
  readonly scripts?: readonly string[];
  /** Allows the editor to write its styles. */
  readonly nonce?: string;
}

/**
 * A page of the server piece by piece. What fails after the first piece is told in place of the piece.
 * @param reasonOf why an error came
 */
export async function* piecesOf(
  page: Page,
  snapshot: string,
  reasonOf: (error: unknown) => unknown,
): AsyncGenerator<string> {
  yield `${opening(page, served(snapshot))}${await page.first}`;
  try {
    for await (const part of page.rest ?? []) yield String(await part);
  } catch (error) {
    yield String(problem(reasonOf(error)));
  }
  yield CLOSING;
}

/** A page of the server that is known as a whole. */
export const textOf = (page: Omit<Page, 'rest'>, snapshot: string): string =>
  `${opening(page, served(snapshot))}${page.first}${CLOSING}`;

const CLOSING = '</main></body></html>\n';

/** A page of an export, which loads nothing from elsewhere. */
export const wholePage = (page: Page, frame: Frame): string =>
  `${opening(page, frame, POLICY)}${page.first}${CLOSING}`;

const POLICY = html`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'">`;

function opening({ title, place, typed = '', scripts = [], nonce }: Page, frame: Frame, policy?: Html): Html {
  const { root, menu, stamp, assets = '', finds = false } = frame;
  const items = Object.entries(menu).map(
    ([path, name]) =>
      html`<li><a href="${root}${path}"${path === place ? raw(' aria-current="page"') : ''}>${name}</a></li>`,
  );
  const day = stamp.replace(/^(\d{4})(\d\d)(\d\d).*/, '$1-$2-$3');
  const nav = html`<nav class="menu" aria-label="Pages"><ul>${items}</ul><span class="snapshot" title="${stamp && `Snapshot ${stamp}`}">${day && html`Data of ${day}${root === '/' && ageOf(day)}`}</span></nav>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${nonce !== undefined && html`<meta name="nonce" content="${nonce}">`}
<title>${title} · lotlake</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}${assets}report.css">
<link rel="stylesheet" href="${root}${assets}explore.css">
${scripts.map((name) => html`<script type="module" src="${root}${assets}${name}.js"></script>`)}
</head>
<body class="explore">
<a class="skip" href="#main">To the content</a>
${
  finds &&
  html`<header class="top"><a class="home" href="/">lotlake</a>${nav}<form action="/find" role="search"><label class="hidden" for="q">VIN, lot number, make, model, year</label><input id="q" name="q" type="search" maxlength="200" value="${typed}" placeholder="VIN, lot, address of a lot, or: Toyota Camry 2019 TX under $8k" autocomplete="off"><button>Find</button></form></header>`
}
${!finds && nav}<main id="main" tabindex="-1">
`;
}

const DAY = 86_400_000;

/** The age of the data where a night is missing. */
function ageOf(day: string): Html | false {
  const days = Math.floor((Date.now() - Date.parse(day)) / DAY);
  return days > 1 && html`, <b>${days} days old</b>`;
}

/** An error as a part of a page. Its hint says what to do. */
export const problem = (error: unknown): Html => {
  const hint = error instanceof LotlakeError ? error.hint : undefined;
  return html`<div class="words" role="alert"><pre>${escapeControls(messageOf(error))}</pre>${hint !== undefined && html`<p>${hint}</p>`}</div>`;
};

/** A link to the rows behind a figure, as a query that the reader can change. */
export const rowsLink = (sql: string, words = 'Rows'): Html =>
  html`<p class="rows"><a href="/sql?q=${encodeURIComponent(sql)}">${words}</a></p>`;

/** Where the cells of lists lead to. */
export const LINKS = {
  lot: pageOfLot,
  car: ({ vehicle_id }: Row): string | undefined =>
    vehicle_id === null ? undefined : `/car/${String(vehicle_id)}`,
};
