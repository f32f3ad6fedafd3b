import type { DuckDBConnection } from '@duckdb/node-api';
import type { Row } from '../../base/duck/session.js';
import type { ChartSpec } from '../page/chart-spec.js';
import type { Drawing } from '../page/draw.js';
import { AXES, dateOf, fill, unique } from '../page/format.js';
import { type Html, html } from '../page/html.js';
import { overTime } from '../page/line-charts.js';
import { type CardOptions, lotCards } from '../page/lot-card.js';
import { dotMap, placesOf } from '../page/map.js';
import { type Links, numbersTable } from '../page/numbers-table.js';
import { againstEstimate } from '../page/point-chart.js';
import { bars, ranges } from '../page/row-charts.js';
import { section } from '../page/section.js';
import { ask } from '../query/ask.js';
import { type FigureSpec, type SectionSpec, spec } from './spec.js';

/** Rows by the name of their query. */
export type Answers = ReadonlyMap<string, readonly Row[]>;

/** Runs queries of the report on a snapshot. */
export async function readAnswers(
  connection: DuckDBConnection,
  queries: readonly string[],
): Promise<Answers> {
  const answers = new Map<string, readonly Row[]>();
  for (const query of queries) answers.set(query, await ask(connection, `report/${query}`));
  return answers;
}

/** The list "What changed", a line for each row; false if there is none. */
export function changesOf(answers: Answers): Html | false {
  const lines = spec.changes.flatMap(({ query, text }) =>
    (answers.get(query) ?? []).map((row) => html`<li>${fill(text, row)}</li>`),
  );
  return lines.length > 0 && html`<ul class="changes">${lines}</ul>`;
}

/** A section of the report. */
export interface Section {
  readonly id: string;
  readonly title: string;
  /** The section as a part of the page; undefined if none of its figures has anything to show. */
  readonly part: Html | undefined;
  /** What its figures say instead, each text once. */
  readonly words: readonly string[];
}

/** What the figures of a report share. */
export interface Context {
  /** Values that notes quote. */
  readonly facts: Row;
  /** Where cells lead to; to the sources if undefined. */
  readonly links: Links | undefined;
  /** What cards of lots show. */
  readonly cards: CardOptions;
}

/** The sections of the report. What is not known yet comes last in a section, a line for each reason. */
export const sectionsOf = (answers: Answers, context: Context): Section[] =>
  spec.sections.flatMap((described): Section[] => {
    const { id, title, lead, costs } = described;
    if (costs && context.cards.isForOthers === true) return [];
    const blocks = blocksOf(described, answers, context);
    const unknown = blocks.filter(({ part }) => part === undefined);
    const words = unique(unknown.flatMap((block) => block.words ?? []));
    if (unknown.length === blocks.length) return costs ? [] : [{ id, title, part: undefined, words }];
    const lines = words.map((reason) => {
      const titles = unknown.filter((block) => block.words === reason).map((block) => block.title);
      return html`<li>${titles.join('; ')}. ${reason}</li>`;
    });
    const unknownList =
      lines.length > 0 && html`<div class="unknown"><h3>Not known yet</h3><ul>${lines}</ul></div>`;
    const part = section(id, title, lead, html`${blocks.map((block) => block.part ?? '')}${unknownList}`);
    return [{ id, title, part, words }];
  });

/** The figures that the first page of the explorer shows. */
export const homeFigures = (answers: Answers, context: Context): Html[] =>
  spec.sections.flatMap(({ figures }) =>
    figures.flatMap((figure) => {
      const { home } = figure;
      if (home === undefined) return [];
      const { title = figure.title, rows, only } = home;
      const found = rowsOf(answers, figure).filter((row) => only === undefined || row[only] !== null);
      const { part } = figureOf({ ...figure, title }, found.slice(0, rows), context);
      return part === undefined ? [] : [part];
    }),
  );

const rowsOf = (
  answers: Answers,
  { query, level }: { readonly query: string; readonly level?: string | undefined },
): readonly Row[] => (answers.get(query) ?? []).filter((row) => level === undefined || row.level === level);

/** A figure as a part of the page, or only the words that say why there is none. */
interface Block {
  readonly title: string;
  readonly part?: Html;
  readonly words?: string;
}

/** The figures of a section. With `each` they are repeated for each of its rows, folded but for the first. */
function blocksOf({ title, figures, each }: SectionSpec, answers: Answers, context: Context): Block[] {
  if (each === undefined) return figures.map((figure) => figureOf(figure, rowsOf(answers, figure), context));
  const found = rowsOf(answers, each);
  if (found.length === 0) return [{ title, words: each.none }];
  return found.map((row, i) => {
    const isSame = (other: Row): boolean => other[each.column] === row[each.column];
    const parts = figures.map(({ chart, ...figure }) => {
      const repeated = { ...figure, chart: chart && { ...chart, id: `${chart.id}-${i + 1}` } };
      const block = figureOf(repeated, rowsOf(answers, figure).filter(isSame), context);
      return block.part ?? html`<p class="words">${block.title}: ${block.words}</p>`;
    });
    const part = html`<details class="each" ${i === 0 ? 'open' : ''}><summary>${fill(each.title, row)}</summary><div>${parts}</div></details>`;
    return { title, part };
  });
}

/** A chart with its numbers, or the words that say why there is none. Without a chart the numbers are not folded. */
function figureOf(figure: FigureSpec, found: readonly Row[], context: Context): Block {
  const { title, chart } = figure;
  const all = found.map((row) => withTexts(row, chart));
  const rows = chart?.kind === 'map' ? placesOf(all) : all;
  const drawn = chart === undefined ? undefined : chartOf(chart, title, all);
  const isWhole = chart === undefined ? rows.length > 0 : drawn !== undefined;
  const note = isWhole || figure.stays.includes('note') ? figure.note : undefined;
  const words = isWhole ? undefined : ((rows.length === 0 ? figure.empty : undefined) ?? figure.none);
  const hasNumbers = isWhole || (figure.stays.includes('numbers') && rows.length > 0);
  if (!isWhole && !hasNumbers) return { title, words: words ?? '' };
  const part = html`
<figure><figcaption><h3>${title}</h3>${note !== undefined && html`<p>${fill(note, context.facts)}</p>`}</figcaption>
${drawn ?? '\n'}
${words !== undefined && html`<p class="words">${words}</p>`}
${hasNumbers && numbersOf(figure, rows, drawn !== undefined, context)}
</figure>`;
  return { title, part };
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
  { links, cards }: Context,
): Html {
  const shown = newest_first
    ? rows.toSorted((a, b) => dateOf(b.moment).getTime() - dateOf(a.moment).getTime())
    : rows;
  const table = numbers === 'lots' ? lotCards(shown, cards) : numbersTable(numbers, shown, links);
  if (!isBehind && !folded) return table;
  const summary = isBehind ? 'The numbers behind it' : 'Show the numbers';
  return html`<details><summary>${summary}</summary>${table}</details>`;
}
