import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { html, raw } from 'hono/html';
import { packageRoot } from '../config/package-root.js';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { count, counted, maybe, NONE } from '../query/printable.js';
import { day, money, percent } from './format.js';
import { spec } from './spec.js';

/** The whole report, in words and pictures. */
export interface Page {
  readonly title: string;
  /** Which run and snapshot it is about. */
  readonly meta: string;
  /** What somebody should look at first. */
  readonly alarms: readonly string[];
  /** What else a reader has to know before the figures. */
  readonly notes: readonly string[];
  /** Figures at the top. */
  readonly tiles: readonly Html[];
  readonly sections: readonly Html[];
  /** Address of the dictionary of tables and columns, where it lies beside the report. */
  readonly dictionary: string | undefined;
  /** Paragraphs on how to read it. */
  readonly reading: readonly string[];
}

const STYLE = readFileSync(join(packageRoot, 'site', 'report.css'), 'utf8');

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** The report as one HTML document. Everything but charts and stylesheet is escaped by its templates. */
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
${alarms > 0 && html`<ul class="alarms">${page.alarms.map((alarm) => html`<li class="alarm">${alarm}</li>`)}</ul>`}
${page.notes.map((note) => html`<p class="note">${note}</p>`)}
<nav aria-label="Contents"><ul>
${spec.sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
<li><a href="#reading">How to read this</a></li>
</ul></nav>
</header>
<main>
<dl class="figures">${page.tiles}</dl>
${page.sections}
<section id="reading"><header><h2>How to read this</h2></header>
<div>${page.reading.map((text) => html`<p>${text}</p>`)}
${page.dictionary !== undefined && html`<p><a href="${page.dictionary}">All tables and columns</a></p>`}</div></section>
</main>
</body>
</html>
`;
  return String(document);
}

/**
 * The figures at the top, each with its change since the run before, if its snapshot is kept.
 * @param now,before rows of `sql/report/headline.sql`
 */
export function headlineTiles(now: Row, before: Row | undefined): Html[] {
  const short = (at: unknown): string => day(at).replace(/ \d{4}$/, '');
  const since = now.observed_from === null ? undefined : `since ${short(now.observed_from)}`;
  const amount = (value: unknown): string => (now.currency === null ? NONE : money(value, now.currency));
  const points = (share: unknown): string => `${(Number(share) * 100).toFixed(1)} points`;
  const figure = (name: string, column: string, write = count, move = write, last = before): Html =>
    tile(name, write(now[column]), changeOf(now[column], last?.[column], move));
  /** Says which values there are, where they are too few for a figure. */
  const word = (name: string, value: string, change: string): Html => tile(name, value, change, 'word');
  const arrived = `New on ${short(now.run_at)}`;
  const through = `Sell-through${since === undefined ? ', 30 days' : ` ${since}`}`;
  const median = 'Median price, 30 days';
  return [
    figure('Active lots', 'active_lots'),
    now.new_lots === null
      ? word(arrived, 'first day', 'all lots are new')
      : tile(arrived, count(now.new_lots), `and ${count(now.left_lots)} left`),
    figure(`Sold ${since ?? 'in 30 days'}`, 'sold'),
    maybe(now.sell_through) === null
      ? word(through, 'too few', counted(now.offered, 'lot'))
      : figure(through, 'sell_through', percent, points),
    maybe(now.price_median) === null
      ? word(median, 'too few', counted(now.priced, 'price'))
      : // Amounts in two currencies have no difference.
        figure(median, 'price_median', amount, amount, now.currency === before?.currency ? before : {}),
    figure('Auctions to come', 'upcoming'),
  ];
}

function changeOf(now: unknown, before: unknown, write: (value: unknown) => string): string {
  const [value, last] = [maybe(now), maybe(before)];
  if (value === null || last === null) return '';
  if (value === last) return 'unchanged';
  return `${value < last ? '−' : '+'}${write(Math.abs(value - last))}`;
}

const tile = (name: string, value: string, change: string, kind = ''): Html =>
  html`<div><dt>${name}</dt><dd class="value ${kind}">${value}</dd><dd class="change">${change}</dd></div>`;
