import type { DuckDBConnection } from '@duckdb/node-api';
import { count, counted, printable } from '../../base/config/printable.js';
import { type Row, rows } from '../../base/duck/session.js';
import { list } from '../page/format.js';
import { type Html, html } from '../page/html.js';
import { lotCards } from '../page/lot-card.js';
import { ask } from '../query/ask.js';
import { facetsOf, without } from './facets.js';
import {
  addressOf,
  COST_FIELDS,
  conditionOf,
  FILTERS,
  type FilterName,
  filterNames,
  ORDERS,
  type Search,
  wordsOf,
} from './lot-filters.js';
import { meantChoice, meantName, type Names, plain } from './names.js';
import { LINKS, type Page } from './page-frame.js';
import { picturesForm } from './pictures.js';
import type { Shown } from './shown.js';
import { partly, searchOf } from './typed-search.js';

/** Lots on a page of a list. */
const PAGE = 30;

/**
 * The lots on offer that a search finds: how many, and a page of them; then the counts of the facets.
 * @param typed the words that the search was read from
 * @param allowed sources whose pictures the reader allowed
 */
export async function lotsPage(
  shown: Shown,
  search: Search,
  typed: string,
  allowed: ReadonlySet<string>,
): Promise<Page> {
  const { connection, names } = shown;
  const meant = asMeant(search, names);
  const where = conditionOf(meant);
  const [total] = await rows(connection, `select count(*) as lots from explore.lots_on_offer where ${where}`);
  const lots = Number(total?.lots);
  // Past the last page, the last page.
  const page = Math.min(meant.page, Math.max(1, Math.ceil(lots / PAGE)));
  const found = await rows(connection, pageOf({ ...meant, page }));
  const sql = `from lots_on_offer\nwhere ${where}\norder by ${ORDERS[search.sort][1]}`;
  const isFiltered = Object.keys(search.filters).length > 0;
  const address = addressOf(meant);
  return {
    title: wordsOf(meant),
    place: 'lots',
    typed,
    scripts: ['explore'],
    first: html`<div class="results"><h1>${isFiltered ? wordsOf(meant) : 'What is on offer'}</h1>
${typed !== '' && html`<p class="note">“${typed}” is read as ${wordsOf(meant)}.</p>`}
${notes(search, meant, names)}
${chosen(meant, names)}
<p class="rows">${isFiltered && html`<a href="/searches?${address}">Watch this search</a> `}${worthLink(meant, typed)}</p>
<details class="rows"><summary>Save as CSV or Parquet, or ask in SQL</summary><a href="/lots.csv?${address}" download>CSV</a> <a href="/lots.parquet?${address}" download>Parquet</a> <a href="/sql?q=${encodeURIComponent(sql)}">SQL</a></details>
<p class="tally" role="status">${counted(lots, 'lot')}${lots > PAGE && `, ${count((page - 1) * PAGE + 1)} to ${count(Math.min(lots, page * PAGE))}`}</p>
${form(search, names)}
${found.length > 0 ? lotCards(found, { pageOf: LINKS.car, pictures: allowed }) : html`<p class="words">No lot on offer matches. Leave out a filter.</p>`}
${pager({ ...meant, page }, lots)}
${picturesForm(found, allowed, `/lots?${address}`)}
<p class="note">${LIST_NOTE}${costsNote(names)}</p>
<datalist id="makes">${names.makes.slice(0, 200).map((name) => html`<option value="${name}"></option>`)}</datalist></div>`,
    rest: facetsPart(shown, meant),
  };
}

/** A way to what a car is worth that the filters describe: a model of one year, with what else is given of it. */
function worthLink({ filters }: Search, typed: string): Html | false {
  const { make, model, year_from, year_to, km, damage, title, state } = filters;
  if (make === undefined || model === undefined || year_from === undefined || year_from !== year_to)
    return false;
  const car = new URLSearchParams({ make, model, year: year_from });
  // A facet gives the highest odometer, not that of a car.
  for (const [name, value] of Object.entries({ km: typed === '' ? undefined : km, damage, title, state }))
    if (value !== undefined) car.set(name, value);
  return html`<a href="/value?${car}">What such a car is worth</a> `;
}

/** What is said below each list of lots. */
const LIST_NOTE =
  'The bar is what such lots bring at auction: 8 of 10 in the wide band, half in the narrow one; at encar.com what they ask. ‹ and › mark an amount that lies beyond it. ¤ stands for a currency that is not known; the feed names none, so that others follow from source and country. A chance that is hardly known is left out. The likely cost is what a listing asks; at an auction, what the lot is likely to bring, or its Buy Now price where that is lower. Of many lots, those that stand out most are also those whose estimates err most: look at the pictures and the reports of a lot before you believe it.';

async function* facetsPart(shown: Shown, meant: Search): AsyncGenerator<Html> {
  yield html`<aside class="facets" id="facets" aria-label="Filters with their numbers of lots"><a class="close" href="#main">Close</a>${await facetsOf(shown, meant)}</aside>`;
}

/** Filters by an amount, which is one of the currency that the most lots have if none is chosen. */
const AMOUNTS = ['price', 'price_from', 'room', 'estimate_from', 'estimate_to'] as const;

/** Currencies by the filters whose amounts they are of. */
const CURRENCIES = { currency: AMOUNTS, cost_currency: ['cost'] } as const;

/**
 * The filters of a search, each with a link to the search without it. A currency goes with its last amount, and is no filter to leave
 * out where it would be taken again.
 */
function chosen(search: Search, names: Names): Html | false {
  const has = (some: readonly FilterName[], { filters }: Search): boolean =>
    some.some((name) => filters[name] !== undefined);
  const left = (name: FilterName): Search => {
    const others = without(search, [name]);
    const idle = (['currency', 'cost_currency'] as const).filter(
      (each) => has(CURRENCIES[each], search) && !has(CURRENCIES[each], others),
    );
    return without(others, idle);
  };
  const set = filterNames.filter((name) => {
    const value = search.filters[name];
    return value !== undefined && asMeant(left(name), names).filters[name] !== value;
  });
  return (
    set.length > 0 &&
    html`<ul class="chosen">${set.map((name) => {
      const words = wordsOf({ ...search, filters: { [name]: search.filters[name] } });
      return html`<li><a href="/lots?${addressOf(left(name))}" aria-label="Without ${words}">${words} ×</a></li>`;
    })}</ul>`
  );
}

/** What is said of the costs of the lots of a list. */
const costsNote = ({ costs }: Names): string =>
  costs === undefined
    ? ''
    : ` “In the end” is what it costs in ${costs.destination} then, by your tables of costs.`;

/** SQL of one page of a search. It sorts row numbers alone, which late pages need many of. */
function pageOf(search: Search): string {
  const order = `order by ${ORDERS[search.sort][1]}, lot_id`;
  const wanted = `select rowid from explore.lots_on_offer where ${conditionOf(search)} ${order} limit ${PAGE} offset ${(search.page - 1) * PAGE}`;
  return `select * from explore.lots_on_offer where rowid in (${wanted}) ${order}`;
}

/** SQL of the lots of a search in its order. */
export const listOf = (search: Search): string =>
  `select * from explore.lots_on_offer where ${conditionOf(search)} order by ${ORDERS[search.sort][1]}, lot_id`;

/** A search whose make and model are names of the lake, if they are like any, and whose amounts have a currency. */
export function asMeant(search: Search, names: Names): Search {
  const { costs } = names;
  const given: Search['filters'] = Object.fromEntries(
    Object.entries(search.filters).map(([name, value]) => [name, asSpelled(name, value, names)]),
  );
  const { make, model, currency = names.choices.currency[0], cost_currency = costs?.currency } = given;
  const makeName = make === undefined ? undefined : (meantChoice('make', make, names) ?? make);
  const models =
    makeName === undefined
      ? [...names.models.values()].flat()
      : (names.models.get(makeName.toLowerCase()) ?? []);
  const modelName = model === undefined ? undefined : (meantName(model, models) ?? model);
  const filters = {
    ...given,
    ...(makeName !== undefined && { make: makeName }),
    ...(modelName !== undefined && { model: modelName }),
    ...(currency !== undefined && AMOUNTS.some((name) => given[name] !== undefined) && { currency }),
    ...(cost_currency !== undefined && given.cost !== undefined && { cost_currency }),
  };
  return { ...search, filters };
}

/** A choice as the lake spells it. */
function asSpelled(name: string, value: string, { choices }: Names): string {
  const known = Object.hasOwn(choices, name) ? choices[name as keyof Names['choices']] : [];
  const given = value.toLowerCase().replaceAll('.', '_');
  return known.find((each) => [value.toLowerCase(), given].includes(each.toLowerCase())) ?? value;
}

/** What was read otherwise than it was typed, and what no lot on offer is called. */
function notes({ filters, sort, wrong }: Search, meant: Search, names: Names): Html[] {
  const said = (['make', 'model'] as const).flatMap((name): string[] => {
    const [given, used] = [filters[name], meant.filters[name]];
    if (given === undefined || used === undefined) return [];
    if (used.toLowerCase() !== given.toLowerCase()) return [`Showing ${used} for ${given}.`];
    const known = name === 'make' ? names.makes : [...names.models.values()].flat();
    return known.some((each) => each.toLowerCase() === used.toLowerCase())
      ? []
      : [`No ${name} on offer is called ${given}.`];
  });
  const lacks = names.costs === undefined;
  if (lacks && [...Object.keys(filters), sort].some((name) => COST_FIELDS.has(name)))
    said.push('The lake has no tables of costs, so the costs of no lot are known.');
  for (const name of filterNames) {
    const given = lacks && COST_FIELDS.has(name) ? undefined : filters[name];
    const known = FILTERS[name].kind === 'choice' ? names.choices[name as keyof Names['choices']] : undefined;
    if (given !== undefined && known?.includes(meant.filters[name] ?? '') === false)
      said.push(`No lot on offer has the ${FILTERS[name].label.toLowerCase()} ${given}.`);
  }
  if (Number(filters.year_from) > Number(filters.year_to))
    said.push('Year from is above Year to, so that no lot matches.');
  return [
    ...said.map((text) => html`<p class="note">${text}</p>`),
    ...wrong.map(
      (name) =>
        html`<p class="alarm">${FILTERS[name as FilterName].label} is not a number that can be used, and is left out.</p>`,
    ),
  ];
}

/** Whether a filter or order is in the form. The currency of costs is that of the default destination. */
const isShown = (name: string, { costs }: Names): boolean =>
  name !== 'cost_currency' && (costs !== undefined || !COST_FIELDS.has(name));

function form({ filters, sort }: Search, names: Names): Html {
  const orders = Object.entries(ORDERS).filter(([name]) => isShown(name, names));
  const fields = filterNames.filter((name) => isShown(name, names));
  const models = names.models.get((filters.make ?? '').toLowerCase()) ?? [];
  return html`<form class="filters" action="/lots">
<details><summary>All filters</summary><div class="fields">${fields.map((name) => field(name, filters[name] ?? '', names))}</div></details>
<p class="tools"><a class="to-facets" href="#facets">Filters with counts</a> <label>Order <select name="sort">${orders.map(([value, [label]]) => option(value, label, sort))}</select></label> <button class="main">Show lots</button></p>
<datalist id="models">${models.slice(0, 500).map((name) => html`<option value="${name}"></option>`)}</datalist>
</form>`;
}

const option = (value: string, label: string, chosen: string): Html =>
  html`<option value="${value}"${value === chosen ? ' selected' : ''}>${label}</option>`;

function field(name: FilterName, value: string, { choices, costs }: Names): Html {
  const { label, kind, hint } = {
    hint: name === 'cost' && costs ? `${costs.currency}, ${costs.destination}` : undefined,
    ...FILTERS[name],
  };
  const words = hint === undefined ? label : html`${label} <small>${hint}</small>`;
  if (kind === 'flag')
    return html`<label class="flag"><input type="checkbox" name="${name}" value="1"${value === '' ? '' : ' checked'}>${label}</label>`;
  if (kind === 'choice') {
    const values = choices[name as keyof Names['choices']];
    return html`<label>${words}<select name="${name}"><option value="">any</option>${values.map((each) => option(each, each.replaceAll('_', ' '), value))}</select></label>`;
  }
  if (kind === 'number')
    return html`<label>${words}<input name="${name}" value="${value}" inputmode="numeric" size="8"></label>`;
  const list = name === 'make' ? 'makes' : name === 'model' ? 'models' : undefined;
  return html`<label>${words}<input name="${name}" value="${value}" maxlength="100"${list !== undefined && html` list="${list}"`} autocomplete="off"></label>`;
}

function pager(search: Search, lots: number): Html | false {
  const { page } = search;
  const last = Math.ceil(lots / PAGE);
  const to = (number: number, label: string): Html =>
    html`<a rel="${number < page ? 'prev' : 'next'}" href="/lots?${addressOf(search, { page: String(number) })}">${label}</a>`;
  return (
    last > 1 &&
    html`<nav class="pager" aria-label="Pages of the list">${page > 1 && to(page - 1, 'Previous')} <span>Page ${count(page)} of ${count(last)}</span> ${page < last && to(page + 1, 'Next')}</nav>`
  );
}

/** Where a text leads to: the page of the one car that it names, a search, or a list of cars to choose from. */
export async function placeOf(
  { connection, names }: Shown,
  given: string,
): Promise<{ readonly to: string } | Page> {
  const text = given.trim();
  const { cars, areExact } = await carsOf(connection, text);
  const ids = new Set(cars.map(({ vehicle_id }) => String(vehicle_id)));
  const [only] = ids;
  if (areExact && ids.size === 1) return { to: `/car/${only}` };
  if (cars.length > 0)
    return {
      title: `Cars like ${text}`,
      place: '',
      typed: text,
      first: html`<h1>Cars like ${text}</h1><ul>${cars.map((car) => html`<li><a href="/car/${String(car.vehicle_id)}">${car.year} ${car.make} ${car.model}, ${printable(car.named).replace(/_com$/, '.com')}</a></li>`)}</ul>`,
    };
  const search = searchOf(text, names);
  if (search !== undefined) return { to: `/lots?${search}` };
  const models = text.length < 2 ? [] : modelsFrom(text, names).slice(0, 40);
  if (models.length > 0)
    return {
      title: `Models like ${text}`,
      place: '',
      typed: text,
      first: html`<h1>Models like ${text}</h1><ul>${models.map(({ make, model }) => html`<li><a href="/lots?${new URLSearchParams({ make, model })}">${make} ${model}</a></li>`)}</ul>`,
    };
  if (/^https?:\/\//i.test(text))
    return nothing(
      text,
      `${text} is no address of a lot that the lake has. Paste that of a lot of copart.com, iaai.com or encar.com.`,
    );
  const { left, search: others } = partly(text, names);
  const reason =
    left.length === 0
      ? 'the words do not belong together'
      : `${list(left.map((word) => `“${word}”`))} ${left.length === 1 ? 'is' : 'are'} no make, model, year, state, damage or title of a lot on offer`;
  return nothing(
    text,
    `No car has a VIN or lot number like ${text}, and ${reason}. Give all 17 letters of a VIN, its last six, a lot number or its address, or a make with a model, years, an amount such as $8k, and one state, damage or title.`,
    others !== undefined &&
      html`<a href="/lots?${others}">The search without ${left.length === 1 ? 'this word' : 'these words'}</a> `,
  );
}

const nothing = (text: string, words: string, way: Html | false = false): Page => ({
  title: `Nothing like ${text}`,
  place: '',
  typed: text,
  first: html`<h1>Nothing found</h1><p class="words">${words}</p><p class="ways">${way}<a href="/lots">All lots, with filters for the rest</a> <a href="/value">What any car is worth</a></p>`,
});

/** The number in the address of a lot at its source: a lot number, or at iaai.com the number before the country. */
const ADDRESS =
  /(copart|iaai|encar)\.com\/\S*?(?:lot\/|VehicleDetails?\/|detail\/|carid=|itemid=)(\d{5,12})/i;

/** Cars by VIN, its end, lot number, or the address of a lot; if none has it, those with one or two other letters. */
async function carsOf(connection: DuckDBConnection, text: string) {
  const [, site, at] = ADDRESS.exec(text) ?? [];
  const id =
    at ??
    text
      .replace(/^(lot|vin|stock|#)\s*(number|no\.?|#)?:?\s*/i, '')
      .toUpperCase()
      .replaceAll(/[\s-]/g, '');
  if (!/^[A-Z0-9]{5,17}$/.test(id) || !/\d{3}/.test(id)) return { cars: [], areExact: true };
  // A VIN has none of these letters, so they are digits that were misread.
  const asked = { id, vin: id.replaceAll(/[OQ]/g, '0').replaceAll('I', '1') };
  const exact = await ask(connection, 'explore/cars', asked);
  if (exact.length > 0) {
    // A number of five to twelve digits may be the number of one lot and stand in the address of another.
    const isMeant = ({ is_address, domain_name }: Row): boolean =>
      site === undefined
        ? is_address === false
        : is_address === (site.toLowerCase() === 'iaai') && domain_name === `${site.toLowerCase()}_com`;
    const meant = exact.filter(isMeant);
    return { cars: meant.length > 0 ? meant : exact, areExact: true };
  }
  return { cars: await ask(connection, 'explore/cars_like', asked), areExact: false };
}

/** Models whose names begin with a text, each with the make that stands before it or all that have it. */
function modelsFrom(
  text: string,
  { makes, models }: Names,
): { readonly make: string; readonly model: string }[] {
  const wanted = plain(text);
  return makes.flatMap((make) =>
    (models.get(make.toLowerCase()) ?? [])
      .filter((model) => [plain(model), plain(`${make} ${model}`)].some((name) => name.startsWith(wanted)))
      .map((model) => ({ make, model })),
  );
}
