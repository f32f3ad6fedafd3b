import { count, counted, numberOrNull, printable, words } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { dealBar, dealWords } from './deal-bar.js';
import { chance, dateOf, instant, label, money, pageOfLot, source, titled } from './format.js';
import { type Html, html } from './html.js';

/** What cards may show beside a lot. */
export interface CardOptions {
  /** Address of the page of a car; of the lot at its source in a document without other pages. */
  readonly pageOf?: ((row: Row) => string | undefined) | undefined;
  /** Names of the sources whose pictures the reader allowed; undefined where pictures have no place. */
  readonly pictures?: ReadonlySet<string> | undefined;
  /** Leaves out what the lot costs by the reader's own tables. */
  readonly isForOthers?: boolean;
}

/** An amount with its value as a number, for those who read the page by a program. */
const amount = (name: string, value: unknown, text: string): Html =>
  html`<data class="${name}" value="${value}">${text}</data>`;

/** The name of the car of a row. */
const carName = ({ year, manufacturer_name, model_name }: Row): string =>
  [year, manufacturer_name, model_name]
    .map(printable)
    .filter((part) => part !== '')
    .join(' ') || 'Car without a name';

/** When a lot is sold: in UTC; the script of the page writes the zone of the reader before it. */
const auctionAt = (at: unknown): Html =>
  html`<time class="at" datetime="${dateOf(at).toISOString()}">${instant(at)}</time>`;

/** Share by which a Buy Now price must lie below the estimate to be told. */
const LEAST_UNDER = 0.05;

/** How far the Buy Now or asking price lies below the estimate; empty if not so far, or if the estimate is in doubt. */
function underEstimate({ buy_now, bid, estimate, weak, market }: Row): string {
  const [price, value] = [numberOrNull(buy_now), numberOrNull(estimate)];
  if (price === null || value === null || weak !== null || price <= Number(bid ?? 0)) return '';
  const under = 1 - price / value;
  return under < LEAST_UNDER
    ? ''
    : `${market === 'asking' ? 'Asks' : 'Buy Now'} ${Math.round(under * 100)}% under estimate`;
}

/** Whether it lies so far below that it may stand for another price, so that the mart compares it with no prices. */
const isFarUnder = (row: Row): boolean => row.prices_above === null && underEstimate(row) !== '';

/** What speaks for a lot. */
const badgesOf = (row: Row): string[] =>
  [
    isFarUnder(row) ? '' : underEstimate(row),
    printable(row.stands_out),
    row.inspection === 'no accident' ? 'inspected: no accident' : '',
  ].filter((text) => text !== '');

/** The doubt of an estimate that a chip of its own says. */
const SET_BACK = 'an odometer reading of the car is below an earlier one';

/** Fewest prices of like cars that an estimate leans on without a word. */
const FEW = 5;

/** Statuses in which a lot with a date cannot be bought yet. */
const NOT_ON_SALE: readonly unknown[] = ['not_checked', 'not_on_sale', 'on_approval', 'failed'];

/** What a buyer must know first. */
function warningsOf(row: Row): string[] {
  const few = numberOrNull(row.comparable_prices);
  return [
    isFarUnder(row) && `${underEstimate(row)}: ask whether it is meant`,
    row.odometer_rollback === true && 'odometer rolled back',
    typeof row.vin_reason === 'string' && `VIN doubted: ${words(row.vin_reason)}`,
    row.year_origin === 'doubted' && 'model year doubted',
    row.inspection === 'accident' && 'inspected: accident',
    NOT_ON_SALE.includes(row.status_name) && words(row.status_name),
    row.currency === null && 'currency unknown',
    typeof row.weak === 'string' && row.weak !== SET_BACK && row.weak,
    row.weak === null && few !== null && few < FEW && `estimate leans on ${counted(few, 'price')}`,
  ].filter((text) => text !== false);
}

/** The car, place and auction of a lot, in a line of facts. */
const factsOf = (row: Row): Html[] => {
  const second = row.damage_second_group;
  const isOther = ![undefined, null, 'unknown', 'none', row.damage_main_group].includes(
    second as string | null | undefined,
  );
  const damage = [row.damage_main_group, ...(isOther ? [second] : [])];
  const texts = [
    row.odometer_km == null
      ? 'no usable odometer reading'
      : `${count(Math.round(Number(row.odometer_km)))} km`,
    row.damage_main_group === 'none' ? 'no damage' : `damage ${damage.map(words).join(' and ')}`,
    `title ${words(row.title_brand)}`,
    [row.city_name == null ? '' : titled(row.city_name), printable(row.state_code)]
      .filter((part) => part !== '')
      .join(', '),
    Number(row.attempt) > 1 ? `put up ${count(Number(row.attempt) - 1)}× before` : '',
  ].filter((text) => text !== '');
  const at = pageOfLot(row);
  const lot = `${source(row.domain_name)} ${label(row.lot)}`;
  return [
    ...texts.map((text) => html`<li>${text}</li>`),
    html`<li>${at === undefined ? lot : html`<a href="${at}" rel="noreferrer">${lot}</a>`}</li>`,
  ];
};

/** The amounts of a lot, with the marks that they have on the bar. */
function amountsOf(row: Row, isForOthers: boolean): Html {
  const { currency, market } = row;
  const rounded = (value: unknown): string => money(value, currency);
  const facts: (readonly [kind: string, name: string, value: unknown, text: string])[] = [
    ['estimate', 'Estimate', row.estimate, rounded(row.estimate)],
    ['bid', 'Bid', row.bid, rounded(row.bid)],
    ['buy', market === 'asking' ? 'Asks' : 'Buy Now', row.buy_now, rounded(row.buy_now)],
    ['odds', 'Sells', row.sell_probability, chance(row.sell_probability)],
  ];
  if (!isForOthers)
    facts.push(
      ['cost', 'In the end', row.cost, money(row.cost, row.cost_currency)],
      ['most', 'Most to bid', row.most_to_bid, rounded(Math.floor(Number(row.most_to_bid)))],
    );
  const known = facts.filter(([, , value]) => numberOrNull(value) !== null);
  return html`<dl class="amounts">${known.map(([kind, name, value, text]) => html`<div><dt class="${kind}">${name}</dt><dd>${amount(kind, value, text)}</dd></div>`)}</dl>`;
}

const listed = (kind: string, texts: readonly string[]): Html =>
  html`${texts.map((text) => html`<li class="${kind}">${text}</li>`)}`;

/** The first picture, if the reader allowed those of its source. */
function pictureOf({ picture, domain_name }: Row, allowed: ReadonlySet<string>): Html {
  const shown =
    typeof picture === 'string' && /^https:\/\//.test(picture) && allowed.has(String(domain_name));
  return html`<div class="picture">${shown && html`<img src="${picture}" alt="" loading="lazy" referrerpolicy="no-referrer">`}</div>`;
}

/**
 * A lot on offer as every page shows it: the car, what speaks for and against it, and its prices on the bar of what such lots bring.
 * @param row of `lots_on_offer`; `became` says what a lot is now that is no longer on offer
 */
function lotCard(row: Row, { pageOf = pageOfLot, pictures, isForOthers = false }: CardOptions = {}): Html {
  const page = pageOf(row);
  const name = carName(row);
  const bar = dealBar(row, [
    { kind: 'estimate', name: 'Estimate', amount: numberOrNull(row.estimate) },
    { kind: 'bid', name: 'Bid', amount: numberOrNull(row.bid) },
    { kind: 'buy', name: row.market === 'asking' ? 'Asks' : 'Buy Now', amount: numberOrNull(row.buy_now) },
  ]);
  const when =
    row.sale_date === null || row.sale_date === undefined
      ? row.market === 'asking'
        ? 'on sale at its asking price'
        : 'no auction announced'
      : auctionAt(row.sale_date);
  return html`<article class="lot">${pictures !== undefined && pictureOf(row, pictures)}
<div class="about"><h3>${page === undefined ? name : html`<a href="${page}" rel="noreferrer">${name}</a>`}</h3>
<ul class="line">${factsOf(row)}</ul>
<p class="when">${typeof row.became === 'string' ? html`<b>Now ${printable(row.became)}</b>` : when}</p>
<ul class="chips">${listed('good', badgesOf(row))}${listed('warn', warningsOf(row))}</ul></div>
<div class="worth">${amountsOf(row, isForOthers)}${bar}${bar !== false && html`<p class="note">${dealWords(row)}</p>`}</div></article>`;
}

/** Lots as cards. */
export const lotCards = (lots: readonly Row[], options?: CardOptions): Html =>
  html`<div class="cards">${lots.map((row) => lotCard(row, options))}</div>`;
