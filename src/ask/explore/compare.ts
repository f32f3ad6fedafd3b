import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { html } from 'hono/html';
import { count, NONE, numberOrNull, printable } from '../../base/config/printable.js';
import { literal, type Row, rows } from '../../base/duck/session.js';
import type { Html } from '../docs/html.js';
import { ask } from '../query/ask.js';
import { money, month, percent, source } from '../report/format.js';
import { overTime } from '../report/line-charts.js';
import { chartSpec } from '../report/spec.js';
import { addressOf, searchIn } from './filters.js';
import { grid } from './grid.js';
import { meantName, type Names } from './names.js';
import { factsOf, type Page, section } from './page.js';
import type { Shown } from './shown.js';

/** Most that stand beside each other. */
const MOST = 4;

type Values = Record<string, DuckDBValue>;

/** What can be compared: how it is named, which lots on offer it has, and the queries of its figures. */
interface Kind {
  readonly label: string;
  readonly hint: string;
  /** The filters of its lots on offer. */
  readonly filters: (name: string) => Readonly<Record<string, string>>;
  readonly queries: (name: string) => readonly (readonly [query: string, values: Values])[];
}

const factor = (name: string, of: string): readonly [string, Values] => [
  'explore/compare/factor',
  { factor: of, name },
];
const party =
  (level: string) =>
  (name: string): readonly (readonly [string, Values])[] => [['explore/compare/party', { level, name }]];

const KINDS = {
  model: {
    label: 'Models',
    hint: 'Toyota Camry',
    filters: (name) => splitModel(name),
    queries: (name) => {
      const { make = '', model = null } = splitModel(name);
      return [['explore/compare/model', { make, model }]];
    },
  },
  make: {
    label: 'Makes',
    hint: 'Toyota',
    filters: (make) => ({ make }),
    queries: (make) => [['explore/compare/model', { make, model: null }]],
  },
  place: {
    label: 'Places',
    hint: 'TX',
    filters: (state) => ({ state }),
    queries: (name) => [['explore/compare/place', { name }], factor(name, 'state')],
  },
  branch: { label: 'Branches', hint: 'Dallas', filters: (branch) => ({ branch }), queries: party('branch') },
  seller: { label: 'Sellers', hint: 'Geico', filters: (seller) => ({ seller }), queries: party('seller') },
  damage: {
    label: 'Damages',
    hint: 'front',
    filters: (damage) => ({ damage }),
    queries: (name) => [factor(name, 'damage_main_group')],
  },
  title: {
    label: 'Titles',
    hint: 'salvage',
    filters: (title) => ({ title }),
    queries: (name) => [factor(name, 'title_brand')],
  },
} as const satisfies Readonly<Record<string, Kind>>;

type KindName = keyof typeof KINDS;

/** A model is named with its make; a bar divides them where a name has a space. */
function splitModel(name: string): { readonly make?: string; readonly model?: string } {
  const [make = '', model] = name.split(' | ');
  return model === undefined ? { make } : { make, model };
}

/** Up to four of a kind beside each other: what is on offer of them, prices, shares sold and days, with intervals. */
export async function comparePage(
  { connection, names }: Shown,
  given: string | undefined,
  wanted: readonly string[],
): Promise<Page> {
  const kind: KindName = given !== undefined && given in KINDS ? (given as KindName) : 'model';
  const asked = [...new Set(wanted.map((name) => name.trim()).filter((name) => name !== ''))].slice(0, MOST);
  const compared = asked.map((name) => asNamed(kind, name, names));
  const columns = [];
  for (const name of compared) columns.push(await figuresOf(connection, KINDS[kind], name));
  const title =
    compared.length === 0 ? 'Compare' : compared.map((name) => name.replace(' | ', ' ')).join(', ');
  return {
    title,
    place: 'compare',
    first: html`<h1>${title}</h1>
${form(kind, compared)}
${compared.length > 0 && table(compared, columns)}
${compared.length > 0 && html`<p class="note">In brackets stands on how many prices or lots a figure rests. An interval of 95% holds the true figure in 19 of 20 such cases.</p>`}`,
    rest: trends(connection, kind, compared),
  };
}

/** A name as the lake has it, if it is like one. */
function asNamed(kind: KindName, name: string, names: Names): string {
  if (kind === 'make') return meantName(name, names.makes) ?? name;
  if (kind === 'damage' || kind === 'title' || kind === 'place') {
    const choices = names.choices[kind === 'place' ? 'state' : kind];
    return meantName(name.replaceAll(' ', '_'), choices) ?? name;
  }
  if (kind !== 'model' || name.includes(' | ')) return name;
  const make =
    names.makes.find((each) => name.toLowerCase().startsWith(`${each.toLowerCase()} `)) ??
    meantName(name.split(' ')[0] ?? '', names.makes);
  if (make === undefined) return name;
  const rest = name.toLowerCase().startsWith(make.toLowerCase())
    ? name.slice(make.length).trim()
    : name.split(' ').slice(1).join(' ');
  const model = meantName(rest, names.models.get(make.toLowerCase()) ?? []) ?? rest;
  return model === '' ? make : `${make} | ${model}`;
}

const form = (
  kind: KindName,
  compared: readonly string[],
): Html => html`<form class="filters" action="/compare">
<div class="fields"><label>What<select name="kind">${Object.entries(KINDS).map(([name, { label }]) => html`<option value="${name}"${name === kind ? ' selected' : ''}>${label}</option>`)}</select></label>
${Array.from({ length: MOST }, (_, i) => html`<label>${i === 0 ? 'This' : 'and'}<input name="of" value="${(compared[i] ?? '').replace(' | ', ' ')}" maxlength="100"${i === 0 ? html` placeholder="${KINDS[kind].hint}"` : ''}></label>`)}</div>
<p class="tools"><button class="main">Compare</button></p></form>`;

/** Figures of one that is compared, by their names, with the search for its lots. */
interface Column {
  readonly figures: ReadonlyMap<string, string>;
  readonly search: string;
}

async function figuresOf(
  connection: DuckDBConnection,
  { filters, queries }: Kind,
  name: string,
): Promise<Column> {
  const search = searchIn(filters(name));
  const conditions = Object.entries(filters(name)).map(
    ([filter, value]) => `${EXACT[filter] ?? ''} = lower(${literal(value)})`,
  );
  const [offer = {}] = await rows(
    connection,
    `select count(*) as lots, count(*) filter (where sale_date <= (select as_of from dim_settings) + interval 7 day) as soon,
       mode(currency) as currency, median(estimate) filter (where currency = 'USD') as usd, median(estimate) as estimate
     from explore.lots_on_offer where ${conditions.join(' and ')}`,
  );
  const figures = new Map([
    ['On offer', count(offer.lots)],
    ['Auctions of the next seven days', count(offer.soon)],
    [
      'Median estimate',
      money(offer.currency === 'USD' ? offer.usd : offer.estimate, offer.currency ?? 'USD'),
    ],
  ]);
  for (const [query, values] of queries(name))
    for (const row of await ask(connection, query, values)) figures.set(printable(row.figure), written(row));
  return { figures, search: addressOf(search) };
}

/** Columns that a name is compared with as a whole. */
const EXACT: Readonly<Record<string, string>> = {
  make: 'lower(manufacturer_name)',
  model: 'lower(model_name)',
  state: 'lower(state_code)',
  branch: 'lower(branch_name)',
  seller: 'lower(seller_name)',
  damage: 'lower(damage_main_group)',
  title: 'lower(title_brand)',
};

const UNITS: Readonly<Record<string, (value: unknown, row: Row) => string>> = {
  money: (value, { currency }) => money(value, currency),
  share: percent,
  days: (value) => (numberOrNull(value) === null ? NONE : `${Math.round(Number(value))} d`),
  tenths: (value) => (numberOrNull(value) === null ? NONE : Number(value).toFixed(1)),
  ratio: (value) => (numberOrNull(value) === null ? NONE : Number(value).toFixed(2)),
  count,
};

/** A figure with its interval and the number of values that it rests on. */
function written(row: Row): string {
  const write = UNITS[String(row.unit)] ?? count;
  if (numberOrNull(row.value) === null) return `not known yet (${count(row.based_on ?? 0)})`;
  const between = numberOrNull(row.low) === null ? '' : `, ${write(row.low, row)} to ${write(row.high, row)}`;
  return `${write(row.value, row)}${between} (${count(row.based_on)})`;
}

function table(compared: readonly string[], columns: readonly Column[]): Html {
  const figures = [...new Set(columns.flatMap(({ figures }) => [...figures.keys()]))];
  const lines: (readonly (Html | string)[])[] = figures.map((figure) => [
    figure.replaceAll(/\b(\w+)_com\b/g, (name) => source(name)),
    ...columns.map((column) => column.figures.get(figure) ?? NONE),
  ]);
  lines.push(['', ...columns.map(({ search }) => html`<a href="/?${search}">Its lots</a>`)]);
  return grid(['Figure', ...compared.map((name) => `>${name.replace(' | ', ' ')}`)], lines);
}

/** The figures of a make and its price level. */
export async function makeParts(connection: DuckDBConnection, make: string): Promise<readonly Html[]> {
  const { figures } = await figuresOf(connection, KINDS.make, make);
  const parts = [factsOf([...figures].map(([name, value]) => [name, value] as const))];
  for await (const part of trends(connection, 'make', [make])) parts.push(part);
  return parts;
}

/** The price level of each make or model by month. */
async function* trends(
  connection: DuckDBConnection,
  kind: KindName,
  compared: readonly string[],
): AsyncGenerator<Html> {
  if (kind !== 'model' && kind !== 'make') return;
  for (const [i, name] of compared.entries()) {
    const { make = '', model = null } = splitModel(name);
    const found = await ask(connection, 'explore/trend', { make, model });
    const title = `Price level of ${name.replace(' | ', ' ')}`;
    const shown = found.map((row) => ({
      ...row,
      series: source(row.domain_name),
      description: `${source(row.domain_name)} ${month(row.moment)}: ${Number(row.value).toFixed(1)}`,
    }));
    const chart = chartSpec.parse({ kind: 'lines', id: `level-${i}`, axis: 'whole', reference: 100 });
    const drawn = overTime({ chart, title, rows: shown, format: (value) => String(value) });
    yield section(
      `level-${i}`,
      title,
      'Lots that are alike, so that the mix does not move it; 100 is the average of the base year.',
      drawn ?? html`<p class="words">There are not enough prices in two months yet.</p>`,
    );
  }
}
