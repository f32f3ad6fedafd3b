import { count, NONE, words } from '../../base/config/printable.js';
import { literal } from '../../base/duck/session.js';
import { list, money, percent, unique } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { factsOf, section } from '../page/section.js';
import { ask, failOlder } from '../query/ask.js';
import { type Value, valueOfCar } from '../query/valuation.js';
import { meantChoice, meantName } from './names.js';
import { numberIn } from './number-in.js';
import { type Page, rowsLink } from './page-frame.js';
import { PRICED_LOTS, type Shown } from './shown.js';
import { accuracyOf, alike, bidsOf, drivers, valueBar } from './value-parts.js';

/** The fields of the form by their names in an address. */
const FIELDS = {
  make: 'Make',
  model: 'Model',
  year: 'Model year',
  km: 'Odometer',
  damage: 'Damage',
  title: 'Title',
  state: 'State',
} as const;

type Given = Readonly<Record<keyof typeof FIELDS, string>>;

const NEEDED = ['make', 'model', 'year'] as const;

/** The page that says what any car is worth, with a form whose values are its address. */
export async function valuePage(shown: Shown, query: Readonly<Record<string, string>>): Promise<Page> {
  const texts = Object.keys(FIELDS).map((name) => [name, (query[name] ?? '').trim().slice(0, 100)]);
  const given = Object.fromEntries(texts) as Given;
  const { meant, models } = await meantBy(shown, given).catch(failOlder);
  const [year, km] = [wholeIn(given.year, 1940, 2100), wholeIn(given.km, 0, 5_000_000)];
  const missing = NEEDED.filter((name) => given[name] === '').map((name) => FIELDS[name].toLowerCase());
  const isKnown = missing.length === 0 && year !== undefined;
  const title = isKnown ? `${year} ${meant.make} ${meant.model}` : 'What any car is worth';
  const alarms = [
    missing.length > 0 &&
      Object.values(given).some((text) => text !== '') &&
      `An estimate needs make, model and model year. Give the ${list(missing)}, too.`,
    given.year !== '' &&
      year === undefined &&
      `${given.year} is no model year that can be used. Write four digits, such as 2019.`,
    given.km !== '' &&
      km === undefined &&
      `${given.km} is no distance that can be used, and is left out. Write whole kilometres, such as 80,000 or 80k.`,
  ];
  return {
    title,
    place: 'value',
    first: html`<h1>${title}</h1>
${(['make', 'model'] as const).filter((name) => meant[name].toLowerCase() !== given[name].toLowerCase()).map((name) => html`<p class="note">Showing ${meant[name]} for ${given[name]}.</p>`)}
${form(shown, meant, models)}
${alarms.map((text) => text !== false && html`<p class="alarm">${text}</p>`)}
${!isKnown && html`<p class="note">Or type make, model, year and what else you know into the field at the top, and choose “What such a car is worth”.</p>${await examples(shown)}`}`,
    ...(isKnown && { rest: answer(shown, { ...meant, year, km }) }),
  };
}

/** A whole number as people type it; undefined for any other text. */
function wholeIn(text: string, least: number, most: number): number | undefined {
  const number = Number(numberIn(text));
  return Number.isInteger(number) && number >= least && number <= most ? number : undefined;
}

/** What a car is given by as the lake names it, where that is like any name of it, and the models of the make. */
async function meantBy({ connection, names }: Shown, given: Given) {
  const makes = given.make === '' ? [] : await ask(connection, 'value/makes');
  const make = meantChoice('make', given.make, { ...names, makes: makes.map(({ name }) => String(name)) });
  const id = makes.find(({ name }) => name === make)?.id;
  const found = typeof id === 'number' ? await ask(connection, 'value/models', { make: id }) : [];
  const models = found.map(({ name }) => String(name));
  const { damage, title, state } = given;
  const meant: Given = {
    ...given,
    make: make ?? given.make,
    model: meantName(given.model, models) ?? given.model,
    damage: meantChoice('damage', damage, names) ?? damage,
    title: meantChoice('title', title, names) ?? title,
    state: names.states.get(state.toLowerCase()) ?? state,
  };
  return { meant, models };
}

function form({ names }: Shown, meant: Given, models: readonly string[]): Html {
  const text = (name: keyof Given, more: Html | string): Html =>
    html`<label>${FIELDS[name]}${name === 'km' && html` <small>km</small>`}<input name="${name}" value="${meant[name]}" maxlength="100" autocomplete="off" ${more}></label>`;
  // A name that is no choice stays what it is.
  const choice = (name: 'damage' | 'title' | 'state'): Html =>
    html`<label>${FIELDS[name]}<select name="${name}"><option value="">not known</option>${unique([
      ...names.choices[name],
      meant[name],
    ])
      .filter((each) => each !== '')
      .map(
        (each) =>
          html`<option value="${each}"${each === meant[name] ? ' selected' : ''}>${words(each)}</option>`,
      )}</select></label>`;
  const offered = (id: string, all: readonly string[]): Html =>
    html`<datalist id="${id}">${all.slice(0, 500).map((name) => html`<option value="${name}"></option>`)}</datalist>`;
  return html`<form class="filters" action="/value">
<div class="fields">${text('make', html`list="makes" required`)}${text('model', html`list="models" required`)}${text('year', html`inputmode="numeric" required`)}${text('km', html`inputmode="numeric"`)}${choice('damage')}${choice('title')}${choice('state')}</div>
<p class="tools"><button class="main">What is it worth?</button> <a href="/value">Clear</a></p>
${offered('makes', names.makes)}${offered('models', models)}</form>`;
}

async function examples({ connection }: Shown): Promise<Html> {
  const cars = await ask(connection, 'explore/examples');
  return html`<p class="words">Whatever you do not know counts as it is on average, and makes the interval wider.${cars.length > 0 && ' For example:'} ${cars.map(({ make, model, year }) => html`<a href="/value?${new URLSearchParams({ make: String(make), model: String(model), year: String(year) })}">${year} ${make} ${model}</a> `)}</p>`;
}

interface Car extends Omit<Given, 'year' | 'km'> {
  readonly year: number;
  readonly km: number | undefined;
}

/** What a car is worth, the verdict first. */
async function* answer({ connection }: Shown, given: Car): AsyncGenerator<Html> {
  const { make, model, year, km } = given;
  const [damage, title, state] = [given.damage, given.title, given.state].map((text) => text || undefined);
  const value = await valueOfCar(
    connection,
    { make, model, year, km, damage, title, state },
    { pricedLots: PRICED_LOTS },
  );
  const like = { make, model, year_from: String(year - 2), year_to: String(year + 2) };
  yield section('worth', `Worth ${money(value.estimate, value.currency)} at auction`, value.of, [
    verdict(value),
    html`<p class="rows"><a href="/lots?${new URLSearchParams(like)}">Lots on offer like it</a></p>`,
  ]);
  yield section(
    'reasons',
    'Why',
    '',
    html`<div class="columns"><div><h3>What moves it from the average lot</h3>${drivers(value)}</div><div><h3>Sales most like it</h3>${alike(value)}</div></div>`,
  );
  yield otherwise(value);
}

function verdict(value: Value): Html {
  const { estimate, currency, place_factor: place, evidence, note } = value;
  const between = (low: number | null, high: number | null): string =>
    low === null ? '' : `${money(low, currency)} to ${money(high, currency)}`;
  return html`${valueBar(value)}${factsOf([
    ['8 of 10 like it go for', between(value.low_80, value.high_80)],
    ['Half of them go for', between(value.low_50, value.high_50)],
    ['What to bid', bidsOf(value, estimate, currency)],
    ['The state moves it by', place === null ? '' : against(place)],
    [
      'Rests on',
      evidence &&
        `${count(evidence.prices)} auction prices, ${count(evidence.like_prices)} of them of the model and at most two model years apart`,
    ],
    ['Such estimates', accuracyOf(value)],
  ])}${note !== null && html`<p class="note">${note}.</p>`}`;
}

/** A factor as a change, such as +12.0%. */
const against = (factor: number): string => `${factor < 1 ? '−' : '+'}${percent(Math.abs(factor - 1))}`;

/** What the very car would bring with each other damage, and with each other title. */
function otherwise({ evidence, estimate, currency }: Value): Html {
  const table = (what: 'damage' | 'title'): Html =>
    grid(
      [FIELDS[what], '>It would bring', '>8 of 10 between', '>Against this car', '>Prices'],
      (evidence?.otherwise ?? [])
        .filter((each) => each.what === what)
        .map(({ level, prices, ...each }) => [
          level === 'unknown' ? 'not stated' : words(level),
          each.estimate === null ? 'too few prices' : money(each.estimate, currency),
          each.low_80 === null
            ? NONE
            : `${money(each.low_80, currency)} and ${money(each.high_80, currency)}`,
          each.is_own
            ? 'this car'
            : each.estimate === null || !estimate
              ? NONE
              : against(each.estimate / estimate),
          count(prices),
        ]),
    );
  const factors = `from price_factors where market = 'auction' and currency = ${literal(String(currency))} and factor in ('damage_main_group', 'damage_by_age', 'title_brand')`;
  return section(
    'otherwise',
    'Damaged against sound',
    'What this very car would bring with another damage or title, by the factors of its estimate. Prices are those with the damage or title, of any car.',
    [
      html`<div class="columns"><div>${table('damage')}</div><div>${table('title')}</div></div>`,
      rowsLink(factors),
    ],
  );
}
