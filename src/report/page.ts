import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { html, raw } from 'hono/html';
import { packageRoot } from '../config/package-root.js';
import type { Html } from '../docs/html.js';
import { counted } from '../query/printable.js';
import { type Chart, SERIES, SYMBOLS } from './draw.js';

/** Numbers as a table. A head that begins with `>` is that of a column of numbers. */
export interface Numbers {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether a reader unfolds them; behind a chart that is always so. */
  readonly isFolded?: boolean;
}

/** A mark and what it stands for. */
export interface LegendItem {
  readonly name: string;
  readonly fill: string;
  readonly symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'ring';
}

/** A picture with its numbers, or the words that say why there is none. */
export interface Figure {
  readonly title: string;
  readonly note?: string | undefined;
  readonly legend?: readonly LegendItem[];
  /** Without a chart the numbers stand open. */
  readonly chart?: Chart | undefined;
  /** Said in place of a chart. */
  readonly words?: string | undefined;
  readonly numbers?: Numbers | undefined;
}

/** A part of the report. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly figures: readonly Figure[];
}

/** A figure at the top. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  /** Whether `value` is a word, because there is no figure. */
  readonly isWord: boolean;
  readonly change: string;
}

/** The whole report, in words and pictures. */
export interface Page {
  readonly title: string;
  /** Which run and snapshot it is about. */
  readonly meta: string;
  /** What somebody should look at first. */
  readonly alarms: readonly string[];
  /** What else a reader has to know before the figures. */
  readonly notes: readonly string[];
  readonly tiles: readonly Tile[];
  readonly sections: readonly Section[];
  /** Address of the dictionary of tables and columns, where it lies beside the report. */
  readonly dictionary: string | undefined;
  /** Paragraphs on how to read it. */
  readonly reading: readonly string[];
}

const STYLE = readFileSync(join(packageRoot, 'site', 'report.css'), 'utf8');

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** The report as one HTML document. Everything but charts and stylesheet is escaped here. */
export async function renderPage(page: Page): Promise<string> {
  const alarms = page.alarms.length;
  const state = alarms === 0 ? 'No alarms in the data.' : `${counted(alarms, 'alarm')} in the data.`;
  const document = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<style>
${raw(STYLE)}</style>
</head>
<body>
<header>
<h1>${page.title}</h1>
<p class="meta">${page.meta}</p>
<p class="state ${alarms === 0 ? 'fine' : 'alarm'}">${state} <a href="#health">Data health</a></p>
${alarms === 0 ? '' : html`<ul class="alarms">${page.alarms.map((alarm) => html`<li class="alarm">${alarm}</li>`)}</ul>`}
${page.notes.map((note) => html`<p class="note">${note}</p>`)}
<nav aria-label="Contents"><ul>
${page.sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
<li><a href="#reading">How to read this</a></li>
</ul></nav>
</header>
<main>
<dl class="figures">${page.tiles.map(tile)}</dl>
${page.sections.map(section)}
<section id="reading"><header><h2>How to read this</h2></header>
<div>${page.reading.map((text) => html`<p>${text}</p>`)}
${page.dictionary === undefined ? '' : html`<p><a href="${page.dictionary}">All tables and columns</a></p>`}</div></section>
</main>
</body>
</html>
`;
  return String(document);
}

const tile = ({ name, value, isWord, change }: Tile): Html =>
  html`<div><dt>${name}</dt><dd class="value ${isWord ? 'word' : ''}">${value}</dd><dd class="change">${change}</dd></div>`;

const section = ({ id, title, lead, figures }: Section): Html => html`
<section id="${id}"><header><h2>${title}</h2><p>${lead}</p></header>
<div>${figures.map(figure)}</div></section>`;

const figure = ({ title, note, legend, chart, words, numbers }: Figure): Html => html`
<figure><figcaption><h3>${title}</h3>${note === undefined ? '' : html`<p>${note}</p>`}</figcaption>
${legend === undefined || chart === undefined ? '' : html`<ul class="legend">${legend.map(legendItem)}</ul>`}
${chart === undefined ? '' : html`<div class="chart"><div class="wide">${raw(chart.wide)}</div><div class="narrow">${raw(chart.narrow)}</div></div>`}
${words === undefined ? '' : html`<p class="words">${words}</p>`}
${numbers === undefined ? '' : behind(numbers, chart !== undefined || numbers.isFolded === true, chart)}
</figure>`;

const behind = (numbers: Numbers, isFolded: boolean, chart: Chart | undefined): Html =>
  isFolded
    ? html`<details><summary>${chart === undefined ? 'Show the numbers' : 'The numbers behind it'}</summary>${table(numbers)}</details>`
    : table(numbers);

function table({ head, rows }: Numbers): Html {
  const isNumber = head.map((name) => name.startsWith('>'));
  const cell = (text: string, i: number): Html =>
    i === 0
      ? html`<th scope="row">${text}</th>`
      : html`<td class="${isNumber[i] === true ? 'number' : ''}">${text}</td>`;
  return html`<div class="scroll" tabindex="0"><table><thead><tr>${head.map(
    (name, i) =>
      html`<th scope="col" class="${isNumber[i] === true ? 'number' : ''}">${name.replace(/^>/, '')}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>`)}</tbody></table></div>`;
}

const SHAPES: Readonly<Record<LegendItem['symbol'], string>> = {
  circle: 'M4.5,0A4.5,4.5,0,1,1,-4.5,0A4.5,4.5,0,1,1,4.5,0Z',
  ring: 'M4.5,0A4.5,4.5,0,1,1,-4.5,0A4.5,4.5,0,1,1,4.5,0Z',
  square: 'M-4,-4H4V4H-4Z',
  triangle: 'M0,-5L4.6,3.5H-4.6Z',
  diamond: 'M0,-5.5L4,0L0,5.5L-4,0Z',
};

const legendItem = ({ name, fill, symbol }: LegendItem): Html =>
  html`<li><svg viewBox="-6 -6 12 12" aria-hidden="true"><path d="${SHAPES[symbol]}" fill="${fill}" stroke="${symbol === 'ring' ? 'var(--ink)' : 'none'}"></path></svg>${name}</li>`;

/** How the charts mark a month that is not over. */
export const UNFINISHED: LegendItem = { name: 'month so far', fill: 'var(--paper)', symbol: 'ring' };

/** The legend of named series, with the colours and symbols that the charts give them. */
export function legendOf(names: readonly string[]): LegendItem[] {
  return names.map((name, i) => ({
    name,
    fill: SERIES[i] ?? 'var(--muted)',
    symbol: SYMBOLS[i] ?? 'circle',
  }));
}
