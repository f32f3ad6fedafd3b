import type { DuckDBConnection } from '@duckdb/node-api';
import { html } from 'hono/html';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { NONE } from '../query/printable.js';
import type { Drawing } from './draw.js';
import { AXES, dateOf, fill } from './format.js';
import { overTime } from './line-charts.js';
import { dotMap, placesOf } from './map.js';
import { ask } from './query.js';
import { bars, ranges } from './row-charts.js';
import { type ChartSpec, type FigureSpec, figureQueries, spec } from './spec.js';

/**
 * Reads the sections of the report from a snapshot, as parts of the page.
 * @param facts values that notes tell
 */
export async function readSections(connection: DuckDBConnection, facts: Row): Promise<Html[]> {
  const answers = new Map<string, readonly Row[]>();
  for (const query of figureQueries) answers.set(query, await ask(connection, query));
  return spec.sections.map(
    ({ id, title, lead, figures }) => html`
<section id="${id}"><header><h2>${title}</h2><p>${lead}</p></header>
<div>${figures.map((figure) => figureOf(figure, answers.get(figure.query) ?? [], facts))}</div></section>`,
  );
}

/** A picture with its numbers, or the words that say why there is none. Without a chart the numbers stand open. */
function figureOf(figure: FigureSpec, found: readonly Row[], facts: Row): Html {
  const { title, chart } = figure;
  const all = found.map((row) => withTexts(row, chart));
  const rows = chart?.kind === 'map' ? placesOf(all) : all;
  const drawn = chart === undefined ? undefined : chartOf(chart, title, all);
  const isWhole = chart === undefined || drawn !== undefined;
  const note = isWhole || figure.stays.includes('note') ? figure.note : undefined;
  const words = isWhole ? undefined : ((rows.length === 0 ? figure.empty : undefined) ?? figure.none);
  const hasNumbers = isWhole || (figure.stays.includes('numbers') && rows.length > 0);
  return html`
<figure><figcaption><h3>${title}</h3>${note !== undefined && html`<p>${fill(note, facts)}</p>`}</figcaption>
${drawn ?? '\n'}
${words !== undefined && html`<p class="words">${words}</p>`}
${hasNumbers && numbersOf(figure, rows, drawn !== undefined)}
</figure>`;
}

const TEXTS = ['name', 'short', 'series', 'panel', 'text', 'said'] as const;

function withTexts(row: Row, chart: ChartSpec | undefined): Row {
  const texts: Record<string, unknown> = { ...row };
  for (const text of TEXTS) {
    const template = chart?.[text];
    if (template !== undefined) texts[text] = fill(template, texts);
  }
  return texts;
}

const CHARTS: Readonly<Record<ChartSpec['kind'], (drawing: Drawing) => Html | undefined>> = {
  bars,
  ranges,
  lines: overTime,
  panels: overTime,
  map: dotMap,
};

/** Draws a chart; undefined if too few rows have a value. */
function chartOf(chart: ChartSpec, title: string, rows: readonly Row[]): Html | undefined {
  const [first = {}] = rows;
  const format = (value: number): string => AXES[chart.axis](value, first);
  return CHARTS[chart.kind]({ chart, title, rows, format });
}

/** The rows as a table, which a reader unfolds if it is behind a chart. */
function numbersOf(
  { numbers, folded, newest_first }: FigureSpec,
  rows: readonly Row[],
  isBehind: boolean,
): Html {
  const shown = newest_first
    ? rows.toSorted((a, b) => dateOf(b.moment).getTime() - dateOf(a.moment).getTime())
    : rows;
  const heads = Object.keys(numbers);
  const classOf = (i: number): string => (heads[i]?.startsWith('>') ? 'number' : '');
  const cell = (template: string, i: number, row: Row): Html => {
    const text = fill(template, row) || NONE;
    return i === 0 ? html`<th scope="row">${text}</th>` : html`<td class="${classOf(i)}">${text}</td>`;
  };
  const table = html`<div class="scroll" tabindex="0"><table><thead><tr>${heads.map(
    (name, i) => html`<th scope="col" class="${classOf(i)}">${name.replace(/^>/, '')}</th>`,
  )}</tr></thead><tbody>${shown.map(
    (row) => html`<tr>${Object.values(numbers).map((template, i) => cell(template, i, row))}</tr>`,
  )}</tbody></table></div>`;
  if (!isBehind && !folded) return table;
  const summary = isBehind ? 'The numbers behind it' : 'Show the numbers';
  return html`<details><summary>${summary}</summary>${table}</details>`;
}
