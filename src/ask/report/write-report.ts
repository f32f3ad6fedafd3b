import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { ownNamed } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { count, counted, NONE, numberOrNull } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type Layout, layoutOf } from '../../core/lake/layout.js';
import { allNames, type Manifest } from '../../core/lake/manifest.js';
import { listSnapshots, olderThan } from '../../core/lake/snapshots.js';
import { modellingOf } from '../../core/model/own-models.js';
import { followedList } from '../page/followed-list.js';
import { day, fill, instant, list, money, percent, source, unique } from '../page/format.js';
import { type Html, html, raw } from '../page/html.js';
import type { CardOptions } from '../page/lot-card.js';
import type { Links } from '../page/numbers-table.js';
import { section } from '../page/section.js';
import { watchedList } from '../page/watched-list.js';
import { ask, tablesOf } from '../query/ask.js';
import { type FollowedCar, readFollowed } from '../query/followed.js';
import { readLake } from '../query/open-lake.js';
import { assertOurs, assertOutside, writeWhole } from '../query/places.js';
import { readWatched, type Watched, watchedText } from '../query/watched.js';
import { alarmText, driftText, readPublished, rejectedText, type Standing, standingNow } from './alarms.js';
import {
  type Answers,
  type Context,
  changesOf,
  homeFigures,
  readAnswers,
  type Section,
  sectionsOf,
} from './figures.js';
import { spec, specQueries } from './spec.js';

/** Texts that every report contains, whichever version wrote it. */
const MARKS = ['<section id="reading"><header><h2>How to read this</h2></header>', 'Data health'];

/** The section that comes before "What changed". */
const FIRST = 'coming';

/** The sections that the explorer shows as a page of their own. */
const ANSWERS: readonly string[] = ['again', 'often', 'repair'];

/** Queries of the report outside its sections. */
const QUERIES = ['headline', 'standing', 'sources', 'observed', 'currencies'];

/** A ratio over several models needs this many times the values of `minimum_group`. */
const POOLED_GROUPS = 4;

/**
 * Writes the report of the published snapshot as one HTML file that needs nothing else, and returns its path. Throws
 * QUERY_NO_SNAPSHOT if nothing is published, QUERY_NO_TABLE if the snapshot lacks a mart, and QUERY_PLACE if the path is
 * inside the lake or holds another file.
 * @param to path of the file; `report.html` in the output folder by default
 */
export async function writeReport(config: Config, to = join(config.output, 'report.html')): Promise<string> {
  assertOutside(to, config.output);
  assertOurs(to, MARKS);
  writeWhole(ownNamed(to), await readReport(config));
  return to;
}

/** Where the parts of a report stand, and for whom. */
interface PageOptions {
  /** Where the cells of tables lead to; to the sources by default. */
  readonly links?: Links;
  /** Whether it is for others than the user, who learn nothing of the cars that the user follows, nor of the user's costs. */
  readonly isForOthers?: boolean;
}

/** A snapshot with all that the report asks. */
interface Lake {
  readonly manifest: Manifest;
  readonly connection: DuckDBConnection;
}

/** What a snapshot says in the report, the page of answers and the first page of the explorer. */
export interface Figures {
  readonly manifest: Manifest;
  readonly answers: Answers;
  readonly watched: readonly Watched[];
  /** Rows of `sql/report/headline.sql`, of the snapshot and of the one before it. */
  readonly headline: Row;
  readonly before: Row | undefined;
  /** Without the alarms that are raised while it is published. */
  readonly standing: Standing;
  readonly context: Context;
  /** Those of the report, drawn. */
  readonly sections: readonly Section[];
}

/** Reads what a snapshot says. What may change while it is published, its alarms and the followed cars, is not in it. */
export async function readFigures(
  config: Config,
  { manifest, connection }: Lake,
  { links, isForOthers = false }: PageOptions = {},
): Promise<Figures> {
  const [headline = {}] = await ask(connection, 'report/headline');
  const before = await readBefore(config, connection, manifest.snapshot_id);
  const answers = await readAnswers(connection, specQueries);
  // What the user pays, and may bid at most, is not for others.
  const destination = isForOthers ? null : (answers.get('coming_up')?.[0]?.cost_destination ?? null);
  const facts = {
    ...(await readFacts(connection, Number(headline.minimum_group))),
    cost_destination: destination,
  };
  const context = { facts, links, cards: { pageOf: links?.car, isForOthers } };
  const sections = sectionsOf(answers, context);
  const standing = await readPublished(connection, layoutOf(config.output), manifest);
  const watched = await readWatched(config);
  return { manifest, answers, watched, headline, before, standing, context, sections };
}

/** The parts of `site` that the report and the first page of the explorer have. The alarms are those of now. */
const partsOf = (
  { manifest, headline, before, answers, standing, sections, context }: Figures,
  layout: Layout,
) => ({
  meta: `As of ${instant(headline.run_at)}. Snapshot ${manifest.snapshot_id}, ${manifest.pipeline}.`,
  since: before === undefined ? 'The first run that is kept.' : `Since the run of ${instant(before.run_at)}.`,
  ...standingParts(standingNow(layout, standing)),
  changes: changesOf(answers),
  tiles: headlineTiles(headline, before),
  unknown: unknownPart(
    sections.filter(({ part }) => part === undefined),
    context.facts,
  ),
});

/**
 * The first page of the explorer.
 * @param pictures names of the sources whose pictures cards show
 */
export function homeOf(figures: Figures, layout: Layout, pictures: ReadonlySet<string>): string {
  const { answers, watched, context } = figures;
  const news = watched.map(
    (each) => html`<li><a href="/searches#w-${each.name}">${watchedText(each)}</a></li>`,
  );
  return fillPage('home.html', {
    ...partsOf(figures, layout),
    news: news.length > 0 && html`<ul class="changes">${news}</ul>`,
    figures: homeFigures(answers, { ...context, cards: { ...context.cards, pictures } }),
  });
}

/** The sections that the explorer shows as a page of their own, with the words of those that have nothing to show. */
export const answersOf = ({ sections }: Figures): Html =>
  html`${sections
    .filter(({ id }) => ANSWERS.includes(id))
    .map(
      ({ id, title, part, words }) =>
        part ?? section(id, title, '', html`<p class="words">${words.join(' ')}</p>`),
    )}`;

/**
 * The report as one HTML document.
 * @param cars that the user follows
 */
export function reportOf(figures: Figures, layout: Layout, cars: readonly FollowedCar[]): string {
  const { manifest, watched, context } = figures;
  const parts = partsOf(figures, layout);
  const news = [
    watched.length > 0 && watchedPart(watched, context.cards),
    cars.length > 0 && followedPart(cars, context.links),
  ];
  const sections = figures.sections.filter(({ part }) => part !== undefined);
  const first = sections.filter(({ id }) => id === FIRST);
  const later = sections.filter(({ id }) => id !== FIRST);
  const named = (part: readonly Section[]) => part.map(({ id, title }) => [id, title] as const);
  const contents = [
    ...named(first),
    ...(watched.length > 0 ? [['watched', 'Watched searches'] as const] : []),
    ...(cars.length > 0 ? [['cars', 'Followed cars'] as const] : []),
    ['changed', 'What changed'],
    ...named(later),
    ...(parts.unknown === false ? [] : [['unknown', 'Not known yet']]),
    ['reading', 'How to read this'],
  ];
  const script = `${packageFile('site/report.js')}\n${packageFile('dist/site/report.js')}`;
  return fillPage('report.html', {
    ...parts,
    style: raw(packageFile('site/report.css')),
    script: raw(script),
    scriptHash: `sha256-${createHash('sha256').update(script).digest('base64')}`,
    contents: contents.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`),
    first: [...first.map(({ part }) => part), ...news],
    sections: later.map(({ part }) => part),
    reading: spec.reading.map((text) => html`<p>${fill(text, context.facts)}</p>`),
    own: ownModels(manifest),
  });
}

/** Makes the report of the published snapshot as one HTML document. Throws QUERY_NO_TABLE if the snapshot lacks a mart. */
export function readReport(config: Config, options: PageOptions = {}): Promise<string> {
  let tables: readonly string[] = [];
  const named = async (connection: DuckDBConnection) => {
    const read = await tablesOf(
      connection,
      [...QUERIES, ...specQueries].map((name) => `report/${name}`),
    );
    tables = unique(['runs', 'passes', ...read]);
    return { needed: (names: readonly string[]) => names.filter((name) => tables.includes(name)) };
  };
  return readLake(config, { named }, async ({ manifest, session: { connection } }) => {
    const missing = lackingIn(manifest, tables);
    if (missing !== undefined)
      throw new LotlakeError('QUERY_NO_TABLE', `the published snapshot has no ${missing}`, {
        hint: 'run lotlake run rebuild, or wait for the next run',
      });
    const figures = await readFigures(config, { manifest, connection }, options);
    const cars = options.isForOthers === true ? [] : await readFollowed(config);
    return reportOf(figures, layoutOf(config.output), cars);
  });
}

/** A page of the folder `site` whose names in braces are replaced by values. Texts are escaped. */
function fillPage(name: string, values: Readonly<Record<string, unknown>>): string {
  const page = packageFile(`site/${name}`);
  return page.replaceAll(/\{(\w+)\}/g, (_, value: string) => String(html`${values[value]}`));
}

/** Lists the user's own models, which have no figures in the report. */
function ownModels(manifest: Manifest): Html | false {
  const own = modellingOf(manifest).models.filter(({ isOwn }) => isOwn);
  const lines = own.map(({ name, description }) => {
    const size = Object.hasOwn(manifest.views, name) ? 'a view' : counted(manifest.marts[name]?.rows, 'row');
    return html`<li><code>${name}</code>, ${size}: ${description}</li>`;
  });
  return lines.length > 0 && html`<p>Your own models:</p><ul>${lines}</ul>`;
}

/** What is new in each watched search, and what left it. */
const watchedPart = (watched: readonly Watched[], cards: CardOptions): Html =>
  section(
    'watched',
    'Watched searches',
    'What each search finds that it did not find the night before, and what left.',
    watched.map(
      (each) =>
        html`<figure><figcaption><h3>${each.name}</h3><p>${each.description}${each.matches !== null && html` ${counted(each.matches, 'match', 'matches')}.`}</p></figcaption>${watchedList(each, cards)}</figure>`,
    ),
  );

/** What happened to the cars that the user follows. */
const followedPart = (cars: readonly FollowedCar[], links: Links | undefined): Html =>
  section(
    'cars',
    'Followed cars',
    'What happened to them since the night before.',
    followedList(cars, links && ((id) => `/car/${id}`)),
  );

/** What no section can show yet, a line each, and since when it is watched; false if every one shows something. */
function unknownPart(sections: readonly Section[], { observed_auctions }: Row): Html | false {
  const lines = sections.map(({ title, words }) => html`<li>${title}: ${words.join(' ')}</li>`);
  const lead = `${String(observed_auctions)} What follows rests on results since then.`;
  return lines.length > 0 && section('unknown', 'Not known yet', lead, html`<ul>${lines}</ul>`);
}

/** The head of the page: alarms, rejects and drift. */
function standingParts(standing: Standing) {
  const alarms = standing.alarms.map((alarm) => html`<li class="alarm">${alarmText(alarm)}.</li>`);
  const [rejected, drift] = [rejectedText(standing), driftText(standing)];
  return {
    state: alarms.length === 0 ? 'fine' : 'alarm',
    alarmed: alarms.length === 0 ? 'No alarms' : counted(alarms.length, 'alarm'),
    alarms: alarms.length > 0 && html`<ul class="alarms">${alarms}</ul>`,
    notes: [
      rejected !== undefined && html`<p class="note">Rejected and not loaded: ${rejected}.</p>`,
      drift !== undefined && html`<p class="note">In the feed and unknown to lotlake: ${drift}.</p>`,
    ],
  };
}

/** The first of some tables and marts that a snapshot lacks. */
const lackingIn = (manifest: Manifest, names: readonly string[]): string | undefined =>
  names.find((name) => !allNames(manifest).includes(name));

/** The headline of the newest earlier snapshot that is kept and has the tables for it. */
async function readBefore(
  config: Config,
  connection: DuckDBConnection,
  current: string,
): Promise<Row | undefined> {
  const published = await ask(connection, 'report/published');
  const ids = new Set(published.map(({ snapshot_id }) => String(snapshot_id)));
  const tables = await tablesOf(connection, ['report/headline']);
  const found = olderThan(listSnapshots(layoutOf(config.output)), current).findLast(
    ({ id, manifest }) => ids.has(id) && manifest !== undefined && !lackingIn(manifest, tables),
  );
  if (found === undefined) return undefined;
  const reading = { named: tables.join(' '), choice: { snapshot: found.id } };
  return readLake(
    config,
    reading,
    async ({ session }) => (await ask(session.connection, 'report/headline'))[0],
  );
}

/** Facts of a snapshot for notes and paragraphs. */
async function readFacts(connection: DuckDBConnection, minimumGroup: number): Promise<Row> {
  const sources = await ask(connection, 'report/sources');
  const currencies = await ask(connection, 'report/currencies');
  const known = currencies.flatMap(({ currency }) => (currency === null ? [] : [String(currency)]));
  const unknown = currencies.find(({ currency }) => currency === null)?.lots ?? 0;
  const observed = await ask(connection, 'report/observed');
  return {
    sources: list(sources.map((row) => source(row.domain_name))) || 'none yet',
    currencies: list(known) || 'none',
    lots_without_currency: unknown === 0 ? null : counted(unknown, 'lot'),
    observed: observedText(observed),
    observed_auctions: observedText(observed.filter(({ has_auctions }) => has_auctions)),
    minimum_group: minimumGroup,
    pooled_group: minimumGroup * POOLED_GROUPS,
  };
}

/** Since when sources are observed, as a sentence. */
function observedText(sources: readonly Row[]): string {
  if (sources.length === 0) return 'No source is observed yet.';
  const named = sources.map((row) => ({ ...row, name: source(row.domain_name), since: day(row.since) }));
  const texts = unique(named.map(({ since }) => since)).map((from) => {
    const names = named.filter(({ since }) => since === from).map(({ name }) => name);
    return `${list(names)} ${names.length === 1 ? 'is' : 'are'} observed since ${from}`;
  });
  const broken = sources.filter(({ is_broken }) => is_broken).map((row) => source(row.domain_name));
  return `${texts.join('; ')}${broken.length === 0 ? '' : `, with breaks at ${list(broken)}`}.`;
}

/**
 * The figures at the top, each with its change since the run before if that snapshot is kept.
 * @param now,before rows of `sql/report/headline.sql`
 */
function headlineTiles(now: Row, before: Row | undefined): Html[] {
  const short = (at: unknown): string => day(at).replace(/ \d{4}$/, '');
  const since = now.observed_from === null ? undefined : `since ${short(now.observed_from)}`;
  const amount = (value: unknown): string => (now.currency === null ? NONE : money(value, now.currency));
  const points = (share: unknown): string => `${(Number(share) * 100).toFixed(1)} points`;
  const figure = (name: string, column: string, write = count, move = write, last = before, of = ''): Html =>
    tile(
      name,
      write(now[column]),
      [of, changeOf(now[column], last?.[column], move)].filter((part) => part).join(', '),
    );
  /** A word in place of a figure, such as `too few`. */
  const word = (name: string, value: string, change: string): Html => tile(name, value, change, 'word');
  const arrived = `New on ${short(now.run_at)}`;
  const through = `Sell-through${since === undefined ? ', 30 days' : ` ${since}`}`;
  const median = 'Median price, 30 days';
  return [
    figure('Active lots, on offer or not', 'active_lots'),
    now.new_lots === null
      ? word(arrived, 'first day', 'all lots are new')
      : tile(arrived, count(now.new_lots), `and ${count(now.left_lots)} left`),
    figure(`Sold ${since ?? 'in 30 days'}`, 'sold'),
    numberOrNull(now.sell_through) === null
      ? word(through, 'too few', counted(now.offered, 'attempt'))
      : figure(through, 'sell_through', percent, points, before, `of ${counted(now.offered, 'attempt')}`),
    numberOrNull(now.price_median) === null
      ? word(median, 'too few', counted(now.priced, 'price'))
      : // Amounts in two currencies have no difference.
        figure(
          median,
          'price_median',
          amount,
          amount,
          now.currency === before?.currency ? before : {},
          `of ${counted(now.priced, 'price')}`,
        ),
    figure('Auctions to come', 'upcoming'),
  ];
}

function changeOf(now: unknown, before: unknown, write: (value: unknown) => string): string {
  const [value, last] = [numberOrNull(now), numberOrNull(before)];
  if (value === null || last === null) return '';
  const change = write(Math.abs(value - last));
  return change === write(0) ? 'unchanged' : `${value < last ? '−' : '+'}${change}`;
}

const tile = (name: string, value: string, change: string, kind = ''): Html =>
  html`<div><dt>${name}</dt><dd class="value ${kind}">${value}</dd><dd class="change">${change}</dd></div>`;
