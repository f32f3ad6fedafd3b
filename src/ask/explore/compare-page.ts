import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { count, NONE, numberOrNull, printable } from '../../base/config/printable.js';
import { literal, type Row, rows } from '../../base/duck/session.js';
import { chartSpec } from '../page/chart-spec.js';
import { days, list, money, month, percent, ratio, source, tenths } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { overTime } from '../page/line-charts.js';
import { factsOf, section } from '../page/section.js';
import { ask } from '../query/ask.js';
import { frequentNames } from './examples.js';

import { addressOf, conditionOf, searchIn } from './lot-filters.js';
import { meantChoice, type Names } from './names.js';
import type { Page } from './page-frame.js';
import type { Shown } from './shown.js';
import { makeIn } from './typed-search.js';

/** Most that stand beside each other. */
const MOST = 4;

type Values = Record<string, DuckDBValue>;

/** What can be compared: how it is named, which lots on offer it has, and the queries of its figures. */
interface Kind {
  readonly label: string;
  readonly one: string;
  readonly hint: string;
  /** The filters of its lots on offer. */
  readonly filters: (name: string) => Readonly<Record<string, string>>;
  readonly queries: (name: string) => readonly (readonly [query: string, values: Values])[];
  /** A query that tells the same of one make or model. */
  readonly ofCar?: (name: string) => readonly [query: string, values: Values];
}

/** A make, and a model of it, to which a comparison keeps. */
interface Car {
  readonly make: string;
  readonly model: string | null;
}

const factor = (name: string, of: string): readonly [string, Values] => [
  'explore/compare/factor',
  { factor: of, name },
];
const party =
  (level: string) =>
  (named: string): readonly (readonly [string, Values])[] => {
    const [name = '', source = ''] = named.split(' | ');
    return [['explore/compare/party', { level, name, source }]];
  };
/** The lots of a seller or branch, which is one of a source. */
const partyLots =
  (level: 'seller' | 'branch') =>
  (named: string): Readonly<Record<string, string>> => {
    const [name = '', source = ''] = named.split(' | ');
    return { [level]: name, source };
  };

const KINDS = {
  model: {
    label: 'Models',
    one: 'model',
    hint: 'Toyota Camry',
    filters: (name) => splitModel(name),
    queries: (name) => {
      const { make = '', model = null } = splitModel(name);
      return [['explore/compare/model', { make, model }]];
    },
  },
  make: {
    label: 'Makes',
    one: 'make',
    hint: 'Toyota',
    filters: (make) => ({ make }),
    queries: (make) => [['explore/compare/model', { make, model: null }]],
  },
  place: {
    label: 'Places',
    one: 'state',
    hint: 'TX',
    filters: (state) => ({ state }),
    queries: (name) => [['explore/compare/place', { name }], factor(name, 'state')],
    ofCar: (name) => ['explore/compare/car_in_place', { name }],
  },
  branch: {
    label: 'Branches',
    one: 'branch',
    hint: 'Dallas',
    filters: partyLots('branch'),
    queries: party('branch'),
  },
  seller: {
    label: 'Sellers',
    one: 'seller',
    hint: 'Geico',
    filters: partyLots('seller'),
    queries: party('seller'),
  },
  damage: {
    label: 'Damages',
    one: 'damage',
    hint: 'front',
    filters: (damage) => ({ damage }),
    queries: (name) => [factor(name, 'damage_main_group')],
    ofCar: (name) => ['explore/compare/level', { name, factor: 'damage_main_group' }],
  },
  title: {
    label: 'Titles',
    one: 'title',
    hint: 'salvage',
    filters: (title) => ({ title }),
    queries: (name) => [factor(name, 'title_brand')],
    ofCar: (name) => ['explore/compare/level', { name, factor: 'title_brand' }],
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
  ofCar = '',
): Promise<Page> {
  const kind: KindName = given !== undefined && Object.hasOwn(KINDS, given) ? (given as KindName) : 'model';
  const asked = [...new Set(wanted.map((name) => name.trim()).filter((name) => name !== ''))].slice(0, MOST);
  const compared: string[] = [];
  const notes: string[] =
    given === undefined || given === kind ? [] : [`Nothing is compared by ${given}; these are models.`];
  for (const name of asked) {
    const meant = await namedBy(connection, kind, name, names);
    if (meant === undefined) notes.push(`The lake has no ${KINDS[kind].one} like ${name}.`);
    else if (!compared.includes(meant)) compared.push(meant);
    if (meant !== undefined && shortly(meant).toLowerCase() !== name.toLowerCase())
      notes.push(`${shortly(meant)} for ${name}.`);
  }
  const isOfCar = kind !== 'model' && kind !== 'make' && ofCar.trim() !== '';
  const found = isOfCar ? makeIn(ofCar.trim().split(/\s+/), names) : undefined;
  const car = found?.make === undefined ? undefined : { make: found.make, model: found.model ?? null };
  if (isOfCar && car === undefined) notes.push(`The lake has no make or model like ${ofCar}.`);
  if (car !== undefined && shortly(nameOf(car)).toLowerCase() !== ofCar.trim().toLowerCase())
    notes.push(`${shortly(nameOf(car))} for ${ofCar}.`);
  if (car !== undefined)
    notes.push(
      `What is on offer, and the lines that name ${shortly(nameOf(car))}, are of it alone; lines of all cars say so.`,
    );
  const columns = [];
  for (const name of compared) columns.push(await figuresOf(connection, KINDS[kind], name, car));
  const title = compared.length === 0 ? 'Compare' : compared.map(heading).join(', ');
  return {
    title,
    place: 'compare',
    first: html`<h1>${title}</h1>
${form(kind, compared.length > 0 ? compared : asked, car === undefined ? ofCar : shortly(nameOf(car)))}
${notes.map((text) => html`<p class="note">${text}</p>`)}
${asked.length === 0 && (await readyLinks(connection))}
${compared.length > 0 && table(compared, columns)}
${compared.length > 0 && html`<p class="note">In brackets stands on how many prices or lots a figure rests. An interval of 95% holds the true figure in 19 of 20 such cases. Rates of sellers and branches lean on the average of their source, the more the fewer lots they rest on.</p>`}`,
    rest: trends(connection, kind, compared),
  };
}

/** Comparisons of the two most frequent of each kind. */
async function readyLinks(connection: DuckDBConnection): Promise<Html> {
  const frequent = await frequentNames(connection);
  const links = Object.entries(KINDS).map(([kind, { label }]) => {
    const names = frequent.get(kind) ?? [];
    const query = new URLSearchParams({ kind });
    for (const name of names) query.append('of', shortly(name));
    const words = names.map((name) => heading(name).replaceAll('_', ' ')).join(' and ');
    return [label, names.length < 2 ? '' : html`<a href="/compare?${query}">${words}</a>`] as const;
  });
  return section('examples', 'For example', '', factsOf(links));
}

const nameOf = ({ make, model }: Car): string => (model === null ? make : `${make} | ${model}`);

/** The name of a thing as people type it, and as they read it. */
const shortly = (name: string): string => name.replace(' | ', ' ');
const heading = (name: string): string => shortly(name).replace(/ (\w+)_com$/, ', $1.com');

/** A name as the lake has it; undefined if it is like none. */
async function namedBy(
  connection: DuckDBConnection,
  kind: KindName,
  name: string,
  names: Names,
): Promise<string | undefined> {
  if (kind === 'make' || kind === 'damage' || kind === 'title') return meantChoice(kind, name, names);
  if (kind === 'model') {
    const { make, model } = makeIn(name.replace(' | ', ' ').split(/\s+/), names) ?? {};
    const makeOf = names.makes.find(
      (each) => model !== undefined && names.models.get(each.toLowerCase())?.includes(model),
    );
    return model === undefined ? undefined : `${make ?? makeOf} | ${model}`;
  }
  if (kind === 'place')
    return (
      names.states.get(name.toLowerCase()) ??
      names.choices.state.find((code) => code.toLowerCase() === name.toLowerCase())
    );
  const [found] = await ask(connection, 'explore/compare/party_name', { level: kind, name });
  return found === undefined ? undefined : `${String(found.party_name)} | ${String(found.domain_name)}`;
}

const form = (
  kind: KindName,
  compared: readonly string[],
  ofCar: string,
): Html => html`<form class="filters" action="/compare">
<div class="fields"><label>What<select name="kind">${Object.entries(KINDS).map(([name, { label }]) => html`<option value="${name}"${name === kind ? ' selected' : ''}>${label}</option>`)}</select></label>
${Array.from({ length: MOST }, (_, i) => html`<label>${i === 0 ? 'This' : 'and'}<input name="of" value="${shortly(compared[i] ?? '')}" maxlength="100"${i === 0 ? html` placeholder="${KINDS[kind].hint}"` : ''}></label>`)}${kind !== 'model' && kind !== 'make' && html`<label>Of one make or model<input name="car" value="${ofCar}" maxlength="100" placeholder="Toyota Camry"></label>`}</div>
<p class="tools"><button class="main">Compare</button></p></form>`;

/** Figures of one that is compared, by their names, with the search for its lots. */
interface Column {
  readonly figures: ReadonlyMap<string, string>;
  readonly search: string;
}

async function figuresOf(
  connection: DuckDBConnection,
  { filters, queries, ofCar }: Kind,
  name: string,
  car?: Car,
): Promise<Column> {
  const wanted = {
    ...filters(name),
    ...(car && { make: car.make }),
    ...(car?.model && { model: car.model }),
  };
  const search = searchIn(wanted);
  const conditions = Object.entries(wanted).map(([filter, value]) => {
    const column = EXACT[filter];
    return column === undefined
      ? conditionOf(searchIn({ [filter]: value }))
      : `${column} = lower(${literal(value)})`;
  });
  const lots = `from explore.lots_on_offer where ${conditions.join(' and ')}`;
  const [offer = {}] = await rows(
    connection,
    `select count(*) as lots, count(*) filter (where sale_date <= (select as_of from dim_settings) + interval 7 day) as soon ${lots}`,
  );
  const figures = new Map([
    ['On offer', count(offer.lots)],
    ['Auctions of the next seven days', count(offer.soon)],
  ]);
  // What sellers ask for is no price, so that the two are never one figure; nor are two currencies.
  const estimates = await rows(
    connection,
    `select market, currency, median(estimate) as value, count(estimate) as based_on, 'money' as unit
     ${lots} and estimate is not null group by market, currency having enough(count(*)) order by market desc, based_on desc, currency`,
  );
  for (const row of estimates) {
    const market = row.market === 'asking' ? 'asking prices' : 'at auction';
    const many = estimates.filter((other) => other.market === row.market).length;
    figures.set(`Median estimate, ${market}${many > 1 ? `, ${String(row.currency)}` : ''}`, written(row));
  }
  const tell = async ([query, values]: readonly [string, Values], whose = ''): Promise<void> => {
    for (const row of await ask(connection, query, values))
      figures.set(`${printable(row.figure)}${whose}`, written(row));
  };
  if (car !== undefined && ofCar !== undefined) {
    const [query, values] = ofCar(name);
    await tell([query, { ...values, ...car, car: shortly(nameOf(car)) }]);
  }
  for (const query of queries(name)) await tell(query, car === undefined ? '' : ', of all cars');
  return { figures, search: addressOf(search) };
}

/** Columns that a name is compared with as a whole; what has none is compared as the search does. */
const EXACT: Readonly<Record<string, string>> = {
  make: 'lower(manufacturer_name)',
  model: 'lower(model_name)',
  state: 'lower(state_code)',
  branch: 'lower(branch_name)',
  seller: 'lower(seller_name)',
  title: 'lower(title_brand)',
  source: 'lower(domain_name)',
};

const UNITS: Readonly<Record<string, (value: unknown, row: Row) => string>> = {
  money: (value, { currency }) => money(value, currency),
  share: percent,
  days,
  tenths,
  ratio,
  count,
};

/** A figure with its interval and the number of values that it rests on. */
function written(row: Row): string {
  const write = UNITS[String(row.unit)] ?? count;
  if (numberOrNull(row.value) === null) return `not known (${count(row.based_on ?? 0)})`;
  const between = numberOrNull(row.low) === null ? '' : `, ${write(row.low, row)} to ${write(row.high, row)}`;
  return `${write(row.value, row)}${between} (${count(row.based_on)})`;
}

function table(compared: readonly string[], columns: readonly Column[]): Html {
  const figures = [...new Set(columns.flatMap(({ figures }) => [...figures.keys()]))];
  const lines: (readonly (Html | string)[])[] = figures.map((figure) => [
    inWords(figure),
    ...columns.map((column) => column.figures.get(figure) ?? NONE),
  ]);
  lines.push(['', ...columns.map(({ search }) => html`<a href="/lots?${search}">Show its lots</a>`)]);
  return grid(['Figure', ...compared.map((name) => `>${heading(name)}`)], lines, 'compared');
}

/** A figure with the names of sources as people write them. */
const inWords = (figure: string): string => figure.replaceAll(/\b(\w+)_com\b/g, (name) => source(name));

/** The figures of a make and its price level. */
export async function makeParts(connection: DuckDBConnection, make: string): Promise<readonly Html[]> {
  const { figures } = await figuresOf(connection, KINDS.make, make);
  const parts = [factsOf([...figures].map(([name, value]) => [inWords(name), value] as const))];
  for await (const part of trends(connection, 'make', [make])) parts.push(part);
  return parts;
}

/** The source with most of the prices of some rows. */
function mostPrices(level: readonly Row[]): unknown {
  const prices = new Map<unknown, number>();
  for (const { domain_id, based_on } of level)
    prices.set(domain_id, (prices.get(domain_id) ?? 0) + Number(based_on));
  return [...prices].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** The price level of the makes or models by month, at the source with most prices that all of them have, or each at its own. */
async function* trends(
  connection: DuckDBConnection,
  kind: KindName,
  compared: readonly string[],
): AsyncGenerator<Html> {
  if ((kind !== 'model' && kind !== 'make') || compared.length === 0) return;
  const levels: Row[][] = [];
  for (const name of compared) {
    const { make = '', model = null } = splitModel(name);
    levels.push(await ask(connection, 'explore/trend', { make, model }));
  }
  const isShared = ({ domain_id }: Row): boolean =>
    levels.every((level) => level.some((row) => row.domain_id === domain_id));
  const shared = mostPrices(levels.flat().filter(isShared));
  const lines: Row[] = [];
  for (const [i, name] of compared.entries()) {
    const level = levels[i] ?? [];
    const at = shared ?? mostPrices(level);
    for (const row of level.filter(({ domain_id }) => domain_id === at)) {
      const series = `${shortly(name)} at ${source(row.domain_name)}`;
      const description = `${series}, ${month(row.moment)}: ${Number(row.value).toFixed(1)}`;
      // With several, a colour is one of them, not a source.
      lines.push({
        ...row,
        domain_id: compared.length > 1 ? LINES[i] : row.domain_id,
        series,
        description,
      });
    }
  }
  const asMarket = compared.filter((_, i) => {
    const level = levels[i] ?? [];
    return level.length > 0 && level.every((row) => Number(row.index_own_weight) === 0);
  });
  const chart = chartSpec.parse({ kind: 'lines', id: 'level', axis: 'whole', reference: 100 });
  const title = 'Price level';
  const drawn = overTime({ chart, title, rows: lines, format: (value) => String(value) });
  const lead =
    'What lots bring that are alike, so that the mix does not move it; 100 is the average of the base year.';
  yield section('level', title, lead, [
    drawn ?? html`<p class="words">There are not enough auction prices in two months.</p>`,
    html`${drawn && asMarket.length > 0 && html`<p class="note">Of ${list(asMarket.map(shortly))} the prices tell no move apart from that of all cars: the line is that of the source.</p>`}`,
  ]);
}

/** Marks of lines: those of the three sources, and the mark of any other. */
const LINES = [1, 3, 12, 0];
