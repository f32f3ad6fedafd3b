import type { DuckDBConnection } from '@duckdb/node-api';
import { html, raw } from 'hono/html';
import { NONE } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import type { Html } from '../docs/html.js';
import { ask } from '../query/ask.js';
import type { Drawing } from './draw.js';
import { AXES, dateOf, fill, valueIn } from './format.js';
import { overTime } from './line-charts.js';
import { dotMap, placesOf } from './map.js';
import { againstEstimate } from './point-chart.js';
import { bars, ranges } from './row-charts.js';
import { type ChartSpec, type FigureSpec, type SectionSpec, spec, specQueries } from './spec.js';

/** Rows by the name of their query. */
type Answers = ReadonlyMap<string, readonly Row[]>;

/** Runs the queries of the report's sections and of "What changed" on a snapshot. */
export async function readAnswers(connection: DuckDBConnection): Promise<Answers> {
  const answers = new Map<string, readonly Row[]>();
  for (const query of specQueries) answers.set(query, await ask(connection, `report/${query}`));
  return answers;
}

/** The list "What changed", a line for each row; false if there is none. */
export function changesOf(answers: Answers): Html | false {
  const lines = spec.changes.flatMap(({ query, text }) =>
    (answers.get(query) ?? []).map((row) => html`<li>${fill(text, row)}</li>`),
  );
  return lines.length > 0 && html`<ul class="changes">${lines}</ul>`;
}

/**
 * The sections of the report as parts of the page.
 * @param facts values that notes quote
 */
export const sectionsOf = (answers: Answers, facts: Row): Html[] =>
  spec.sections.map(
    (section) => html`
<section id="${section.id}"><header><h2>${section.title}</h2><p>${section.lead}</p></header>
${blocksOf(section, answers, facts)}</section>`,
  );

/** The figures of a section. With `each` they are repeated for each of its rows, folded but for the first. */
function blocksOf({ figures, each }: SectionSpec, answers: Answers, facts: Row): Html[] {
  const rowsOf = (query: string, level: string | undefined): readonly Row[] =>
    (answers.get(query) ?? []).filter((row) => level === undefined || row.level === level);
  if (each === undefined)
    return figures.map((figure) => figureOf(figure, rowsOf(figure.query, figure.level), facts));
  const found = rowsOf(each.query, each.level);
  if (found.length === 0) return [html`<p class="words">${each.none}</p>`];
  return found.map((row, i) => {
    const isSame = (other: Row): boolean => other[each.column] === row[each.column];
    const parts = figures.map(({ chart, ...figure }) => {
      const repeated = { ...figure, chart: chart && { ...chart, id: `${chart.id}-${i + 1}` } };
      return figureOf(repeated, rowsOf(figure.query, figure.level).filter(isSame), facts);
    });
    return html`<details class="each" ${i === 0 ? 'open' : ''}><summary>${fill(each.title, row)}</summary><div>${parts}</div></details>`;
  });
}

/** A chart with its numbers, or a text that says why there is none. Without a chart the numbers are not folded. */
function figureOf(figure: FigureSpec, found: readonly Row[], facts: Row): Html {
  const { title, chart } = figure;
  const all = found.map((row) => withTexts(row, chart));
  const rows = chart?.kind === 'map' ? placesOf(all) : all;
  const drawn = chart === undefined ? undefined : chartOf(chart, title, all);
  const isWhole = chart === undefined ? rows.length > 0 : drawn !== undefined;
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

const TEXTS = ['name', 'short', 'series', 'panel', 'text', 'description'] as const;

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
  points: againstEstimate,
  map: dotMap,
};

/** Draws a chart; undefined if too few rows have a value. */
function chartOf(chart: ChartSpec, title: string, rows: readonly Row[]): Html | undefined {
  const [first = {}] = rows;
  const format = (value: number): string => AXES[chart.axis](value, first);
  return CHARTS[chart.kind]({ chart, title, rows, format });
}

/** The rows as a table, folded if it is behind a chart. */
function numbersOf(
  { numbers, folded, newest_first }: FigureSpec,
  rows: readonly Row[],
  isBehind: boolean,
): Html {
  const shown = newest_first
    ? rows.toSorted((a, b) => dateOf(b.moment).getTime() - dateOf(a.moment).getTime())
    : rows;
  const heads = Object.keys(numbers);
  const isNumber = (i: number): boolean => heads[i]?.startsWith('>') ?? false;
  const classOf = (i: number): Html | '' => (isNumber(i) ? raw(' class="number"') : '');
  const cell = (template: string, i: number, row: Row): Html => {
    const text = fill(template, row) || NONE;
    const value = valueIn(template, row);
    const data = value === null || String(value) === text ? '' : html` data-value="${value}"`;
    return i === 0 ? html`<th scope="row"${data}>${text}</th>` : html`<td${classOf(i)}${data}>${text}</td>`;
  };
  const table = html`<div class="scroll" tabindex="0"><table><thead><tr>${heads.map(
    (name, i) => html`<th scope="col"${classOf(i)}>${fill(name.replace(/^>/, ''), rows[0] ?? {})}</th>`,
  )}</tr></thead><tbody>${shown.map(
    (row) => html`<tr>${Object.values(numbers).map((template, i) => cell(template, i, row))}</tr>`,
  )}</tbody></table></div>`;
  if (!isBehind && !folded) return table;
  const summary = isBehind ? 'The numbers behind it' : 'Show the numbers';
  return html`<details><summary>${summary}</summary>${table}</details>`;
}
