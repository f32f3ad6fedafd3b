import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { count, counted, NONE, numberOrNull, printable, words } from '../../base/config/printable.js';
import { identifier, type Row, rows } from '../../base/duck/session.js';
import { day, instant, label, money, pageOfLot, percent, source } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { lotCards } from '../page/lot-card.js';
import { factsOf, section } from '../page/section.js';
import { readSql } from '../query/ask.js';
import { doubtsOf } from '../query/doubts.js';
import { follow, followedCars, meaning } from '../query/followed.js';
import { knownLots, type Value, valuesOf } from '../query/valuation.js';
import { amountsOf, carMap, readingsOf } from './car-charts.js';
import { costsPart } from './costs-part.js';
import { type Page, rowsLink } from './page-frame.js';
import { picturesForm } from './pictures.js';
import { PRICED_LOTS, type Shown } from './shown.js';
import { accuracyOf, alike, bidsOf, drivers, valueBar } from './value-parts.js';

/** Asks query files about one car, whatever its lot. Its id is a literal, since DuckDB plans a statement with parameters twice. */
export const askAbout =
  (connection: DuckDBConnection, id: number) =>
  (query: string): Promise<Row[]> =>
    rows(connection, readSql(query).replaceAll('$vehicle_id', String(id)).replaceAll('$lot', 'null'));

/** The page of a car; undefined if the lake has none of this id. What takes longer follows its head. */
export async function carPage(
  shown: Shown,
  config: Config,
  id: number,
  pictures: ReadonlySet<string>,
): Promise<Page | undefined> {
  const { connection } = shown;
  const leave = await takeCar(shown, id);
  const about = askAbout(connection, id);
  const [vehicle] = await about('cli/vehicle');
  if (vehicle === undefined) return archivedCar(connection, id);
  const groups = await about('explore/lot_currencies');
  const currencies = new Map(groups.map(({ lot_id, currency }) => [lot_id, currency]));
  const lots = (await about('cli/vehicle_lots')).map((lot) => ({
    ...lot,
    currency: currencies.get(lot.lot_id),
  }));
  const [seen] = await about('cli/vehicle_seen');
  const offers = await about('explore/offers');
  const name = [vehicle.year, vehicle.manufacturer_name, vehicle.model_name].filter((part) => part).join(' ');
  const title = name || printable(vehicle.title) || `Car ${id}`;
  return {
    title,
    place: 'lots',
    scripts: ['explore'],
    first: html`<h1>${title}</h1>
${offers.length === 0 && html`<p class="lead">${standing(vehicle, lots, await lastOf(about))}</p>`}
${lotCards(offers, { pageOf: pageOfLot, pictures })}
${offers.map(bidsPart)}
${picturesForm(
  lots.map((lot) => ({ ...lot, picture: true })),
  pictures,
  `/car/${id}`,
)}
${vehicleFacts(vehicle, seen, offers[0])}
${followForm(id, config, await namesOf(connection, id, lots))}
${section('lots', 'Lots', '', [lotsTable(lots), rowsLink(`from lots where vehicle_id = ${id}`)])}`,
    rest: restOf(shown, config, {
      id,
      pictures,
      offers,
      leave,
      isInspected: Number(vehicle.inspections) > 0,
    }),
  };
}

/** All that a page asks of every car. */
export const OF_CARS = [
  ...['cli/vehicle', 'cli/vehicle_lots', 'cli/vehicle_seen', 'explore/lot_currencies', 'explore/vin'],
  ...['explore/timeline', 'explore/estimates', 'value/last_sale', 'explore/not_sold'],
  ...['value/lot', 'value/vin', 'value/rollbacks'],
] as const;

/**
 * Reads the rows of a car once from each table that its page asks, into tables of the same names that only its connection has: the
 * timeline alone reads the lots four times. Returns what drops them again, since other statements ask for other cars too.
 */
export async function takeCar(
  { connection, catalog, lake }: Shown,
  id: number,
): Promise<() => Promise<unknown>> {
  const { views } = lake.manifest;
  const asked = [...OF_CARS.map(readSql), views.vehicle_timeline?.sql ?? ''].join('\n');
  const named = new Set(asked.match(/(?<!explore\.)\b\w+/g));
  const tables = catalog.filter(
    ({ name, columns }) =>
      named.has(name) &&
      !Object.hasOwn(views, name) &&
      columns.some((column) => column.name === 'vehicle_id'),
  );
  for (const { name, columns } of tables) {
    const used = columns.filter((column) => named.has(column.name)).map((column) => identifier(column.name));
    await connection.run(
      `create temp table ${identifier(name)} as select ${used.join(', ')} from ${identifier(name)} where vehicle_id = ${id}`,
    );
  }
  return () => connection.run(tables.map(({ name }) => `drop table temp.${identifier(name)}`).join('; '));
}

/** The last sale of a car, and its last auction that did not sell it. */
async function lastOf(about: ReturnType<typeof askAbout>) {
  const [[sale], [failed]] = [await about('value/last_sale'), await about('explore/not_sold')];
  return { sale, failed };
}

/** What became of a car that is not on offer: its last sale, unless an auction after it sold nothing. */
function standing(
  vehicle: Row,
  lots: readonly Row[],
  { sale, failed }: { readonly sale: Row | undefined; readonly failed: Row | undefined },
): string {
  const failedAt = failed && `Not sold on ${day(failed.day)} at ${source(failed.source)}.`;
  if (sale !== undefined)
    return failedAt !== undefined && String(failed?.day) > String(sale.sold_on ?? '')
      ? `${failedAt} Before, it was sold for ${saleWords(sale)}.`
      : `Sold for ${saleWords(sale)}.`;
  if (vehicle.archived_at)
    return `Gone: the service delivers it no more since ${day(vehicle.archived_at)}, and no sale is known.`;
  return failedAt ?? `Not on offer now: ${words(lots[0]?.status_name) || 'no lot'}.`;
}

function saleWords({ amount, currency, sold_on, source: at, doubt }: Row): string {
  const doubts = printable(doubt).replaceAll('_', ' ');
  return [
    amount === null ? 'an amount that is not known' : money(amount, currency),
    sold_on ? ` on ${day(sold_on)}` : '',
    ` at ${source(at)}`,
    doubts === '' ? '' : `; the amount is doubted: ${doubts}`,
  ].join('');
}

/** What of four such lots that are sold one, two and three go for at most. */
const bidsPart = (offer: Row): Html | false => {
  const between = { low_50: numberOrNull(offer.low_50), high_50: numberOrNull(offer.high_50) };
  const bids = bidsOf(between, numberOrNull(offer.estimate), String(offer.currency));
  return offer.market === 'auction' && bids !== '' && html`<p class="bids"><b>What to bid:</b> ${bids}.</p>`;
};

/** What is wrong with a VIN that many cars have. */
const SHARED: readonly unknown[] = ['length', 'characters', 'placeholder'];

/** What a car can be followed by: its VIN, if it is one, and its lots. */
async function namesOf(connection: DuckDBConnection, id: number, known: readonly Row[]) {
  const [facts] = await askAbout(connection, id)('explore/vin');
  const lots = known.flatMap(({ lot, domain_id }) => {
    const number = printable(lot).trim();
    return number === ''
      ? []
      : [{ lot: number, domain_id: typeof domain_id === 'number' ? domain_id : null }];
  });
  const vin = typeof facts?.vin === 'string' && !SHARED.includes(facts.reason) ? facts.vin : null;
  return { vin, lots };
}

type Names = Awaited<ReturnType<typeof namesOf>>;

/** The button that follows a car; none for a car that has neither a VIN nor the number of a lot. */
function followForm(id: number, config: Config, { vin, lots }: Names): Html | false {
  if (vin === null && lots.length === 0) return false;
  const isFollowed = meaning(followedCars(config), vin, lots).length > 0;
  return html`<form method="post" action="/car/${id}/follow"><p class="tools"><button>${isFollowed ? 'Follow it no longer' : 'Follow this car'}</button> ${isFollowed && html`<input type="hidden" name="stop" value="1">`}<span class="note">${isFollowed ? 'Its news are in Searches.' : 'Each night then tells a new date, bid, Buy Now price or result.'}</span></p></form>`;
}

/** Follows a car of the lake, or no longer. Returns whether that can be. Throws QUERY_PLACE. */
export async function followCar(
  { connection }: Shown,
  config: Config,
  id: number,
  isFollowed: boolean,
): Promise<boolean> {
  const { vin, lots } = await namesOf(connection, id, await askAbout(connection, id)('cli/vehicle_lots'));
  for (const car of isFollowed ? [] : meaning(followedCars(config), vin, lots)) follow(config, car, false);
  const [lot] = lots;
  if (isFollowed && vin !== null) follow(config, { vin }, true);
  else if (isFollowed && lot !== undefined)
    follow(config, { lot: lot.lot, ...(lot.domain_id === null ? {} : { domain_id: lot.domain_id }) }, true);
  return vin !== null || lot !== undefined;
}

/** The page of a car that only the archive feed and sales name; undefined if nothing does. */
async function archivedCar(connection: DuckDBConnection, id: number): Promise<Page | undefined> {
  const about = askAbout(connection, id);
  const timeline = await about('explore/timeline');
  if (timeline.length === 0) return undefined;
  const last = await lastOf(about);
  return {
    title: `Car ${id}`,
    place: '',
    first: html`<h1>Car ${id}</h1>
${(last.sale ?? last.failed) !== undefined && html`<p class="lead">${standing({}, [], last)}</p>`}
<p class="words">The service does not deliver this car any more. The lake has what the archive feed told of its lots.</p>
${section('prices', 'Prices', '', [amountsOf(timeline, undefined), rowsLink(`from archived_lots where vehicle_id = ${id}`)])}
${section('timeline', 'Timeline', '', [timelinePart(timeline), rowsLink(`from vehicle_timeline where vehicle_id = ${id} order by place`)])}`,
  };
}

function vehicleFacts(vehicle: Row, seen: Row | undefined, offer: Row | undefined): Html {
  const names = ['body_type', 'color', 'engine', 'transmission', 'drive_wheel', 'fuel'] as const;
  return factsOf([
    ['VIN', printable(vehicle.vin)],
    ['Generation', printable(vehicle.generation_name)],
    ...names.map((name) => [capital(name), printable(vehicle[`${name}_name`])] as const),
    ['Seller', printable(offer?.seller_name)],
    ['Branch', printable(offer?.branch_name)],
    ['Last delivered', seen?.seen_at ? instant(seen.seen_at) : ''],
    ['Archived', vehicle.archived_at ? day(vehicle.archived_at) : ''],
  ]);
}

const capital = (key: string): string => words(key).replace(/^./, (letter) => letter.toUpperCase());

const lotsTable = (lots: readonly Row[]): Html =>
  grid(
    [
      'Lot',
      'Source',
      'Status',
      'Auction',
      '>Bid',
      '>Final bid',
      '>Buy Now',
      'Damage',
      '>Odometer, km',
      'In the feed',
    ],
    lots.map((lot) => [
      atSource(lot, label(lot.lot)),
      source(lot.domain_name),
      words(lot.status_name),
      lot.sale_date ? instant(lot.sale_date) : NONE,
      ...[lot.bid, lot.final_bid, lot.buy_now].map((amount) => money(amount || null, lot.currency)),
      label(lot.damage_main_name),
      count(lot.odometer_km),
      lot.archived ? `until ${lot.archived_at ? day(lot.archived_at) : 'once'}` : 'yes',
    ]),
  );

/** A text that links to the page of a lot at its source. */
function atSource(lot: Row, text: string): Html {
  const page = pageOfLot(lot);
  return page === undefined ? html`${text}` : html`<a href="${page}" rel="noreferrer">${text}</a>`;
}

/** What a car's page shows after its head, of its lots on offer too. */
interface Following {
  readonly id: number;
  readonly pictures: ReadonlySet<string>;
  readonly offers: readonly Row[];
  readonly isInspected: boolean;
  /** Ends the tables of the car alone. */
  readonly leave: () => Promise<unknown>;
}

async function* restOf(
  shown: Shown,
  config: Config,
  { id, pictures, offers, isInspected, leave }: Following,
): AsyncGenerator<Html> {
  const { connection } = shown;
  const about = askAbout(connection, id);
  const estimates = await about('explore/estimates');
  const timeline = await about('explore/timeline');
  const lots = await knownLots(connection, estimates.slice(0, 1));
  await leave();
  const [value] = await valuesOf(connection, lots, { pricedLots: PRICED_LOTS });
  yield valuePart(id, value, estimates);
  const costs = await costsPart(shown, config, offers);
  if (costs !== undefined) yield costs;
  yield section(
    'prices',
    'Prices',
    'What was bid, asked and paid, in the order of time, and the estimate with the interval that holds 80 % of such prices.',
    [
      amountsOf(timeline, value),
      rowsLink(`from vehicle_timeline where vehicle_id = ${id} and amount > 0 order by place`),
    ],
  );
  yield section('odometer', 'Odometer', '', [
    readingsOf(timeline),
    rowsLink(
      `select occurred_local, event, odometer_km, odometer_rollback, evidence_table, evidence_id from vehicle_timeline where vehicle_id = ${id} and odometer_km is not null order by place`,
    ),
  ]);
  yield section('timeline', 'Timeline', '', [
    timelinePart(timeline),
    rowsLink(`from vehicle_timeline where vehicle_id = ${id} order by place`),
  ]);
  if (isInspected)
    yield inspectionPart(id, await about('explore/inspections'), await about('explore/inspected'));
  const claims = await about('explore/claims');
  if (claims.length > 0) yield claimsPart(id, claims);
  if (pictures.size > 0) yield html`${picturesPart(await about('explore/images'), pictures)}`;
}

function valuePart(id: number, value: Value | undefined, [, ...others]: readonly Row[]): Html {
  if (value === undefined)
    return section(
      'estimate',
      'Estimate',
      '',
      html`<p class="words">The lake has no price or offer of this car, so there is no estimate.</p>`,
    );
  return section('estimate', 'Estimate', value.of.replace(/_com$/, '.com'), [
    html`${doubtsOf(value).map((text) => html`<p class="alarm">${capital(text)}.</p>`)}${valueBar(value)}${estimateFacts(value)}
${value.note !== null && html`<p class="note">${value.note}</p>`}
${value.estimate !== null && html`<div class="columns"><div><h3>What moves it from the average lot</h3>${drivers(value)}</div><div><h3>${value.market === 'asking' ? 'Cars most like it, at their asking prices' : 'Sales most like it'}</h3>${alike(value)}</div></div>`}
${others.length > 0 && html`<h3>Its other lots</h3>${otherEstimates(others)}`}`,
    rowsLink(`from price_estimates where vehicle_id = ${id}`),
  ]);
}

const otherEstimates = (estimates: readonly Row[]): Html =>
  grid(
    ['Lot', 'Source', 'Priced on', '>Estimate', '>80% between', '>Price, or asked'],
    estimates.map((each) => [
      atSource(each, label(each.lot)),
      source(each.domain_name),
      printable(each.priced_on),
      money(each.estimate, each.currency),
      each.low_80 === null
        ? NONE
        : `${money(each.low_80, each.currency)} and ${money(each.high_80, each.currency)}`,
      money(each.price, each.price_currency),
    ]),
  );

function estimateFacts({ estimate, currency, odds, accuracy, ...value }: Value): Html {
  const between = (low: number | null, high: number | null): string =>
    low === null ? '' : `${money(low, currency)} to ${money(high, currency)}`;
  const share = (factor: number | null): string =>
    factor === null || Math.abs(factor - 1) < 0.005
      ? ''
      : `${factor > 1 ? '+' : '−'}${percent(Math.abs(factor - 1))}`;
  const own = value.is_currency_known ? currency : null;
  return factsOf([
    ['Estimate', estimate === null ? 'none' : money(estimate, currency)],
    ['Half of such prices', between(value.low_50, value.high_50)],
    ['80% of such prices', between(value.low_80, value.high_80)],
    ['Buy Now', value.buy_now === null ? '' : `${money(value.buy_now, own)}${takenOf(value)}`],
    [
      value.market === 'asking' ? 'Asking price' : 'Price',
      value.price === null ? '' : money(value.price, own),
    ],
    [
      'Sells at its next auction',
      odds?.sell_probability
        ? `${percent(odds.sell_probability)} (${percent(odds.sell_probability_low)} to ${percent(odds.sell_probability_high)})`
        : '',
    ],
    ['State and branch move it by', share(value.place_factor)],
    ['The seller moves it by', share(value.seller_factor)],
    ['Such estimates', estimate === null ? '' : accuracyOf({ accuracy })],
  ]);
}

/** How likely a Buy Now price is taken. */
const takenOf = ({ buy_now_share: share }: Pick<Value, 'buy_now_share'>): string =>
  share === null
    ? ''
    : `; of lots sold with one at this ratio to the estimate, ${percent(share)} went for it`;

/** The events, a line each. What several lots or reports say of one day stands once, with their number. */
function timelinePart(timeline: readonly Row[]): Html {
  const lines = new Map<
    string,
    {
      readonly event: Row;
      readonly at: string;
      readonly facts: string;
      readonly lots: Set<string>;
      many: number;
    }
  >();
  for (const event of timeline) {
    const at =
      event.occurred_local === null && event.occurred_at
        ? instant(event.occurred_at)
        : `${printable(event.occurred_local ?? 'undated')}${/T\d\d:\d\d(:[\d.]+)?$/.test(String(event.occurred_local)) ? ', local time' : ''}`;
    const isBack = event.odometer_rollback === true;
    const said = words(event.description).replace(`${words(event.event)}, `, '');
    const facts = [
      event.amount === null
        ? ''
        : `${event.currency === null ? '¤' : ''}${count(event.amount)} ${printable(event.currency)}`.trim(),
      event.odometer_km === null ? '' : `${count(event.odometer_km)} km${isBack ? ', rolled back' : ''}`,
      said === words(event.event) ? '' : said,
    ]
      .filter((part) => part !== '')
      .join(', ');
    const key = JSON.stringify([at, event.event, facts]);
    const line = lines.get(key) ?? { event, at, facts, lots: new Set(), many: 0 };
    line.many++;
    if (event.lot !== null) line.lots.add(printable(event.lot));
    lines.set(key, line);
  }
  const lotsIn = (lots: ReadonlySet<string>): string =>
    lots.size === 0 ? '' : lots.size === 1 ? `, lot ${[...lots].join('')}` : `, ${lots.size} lots`;
  return html`<ol class="timeline">${[...lines.values()].map(
    ({ event, at, facts, lots, many }) =>
      html`<li class="${event.odometer_rollback ? 'alarm' : ''}"><time>${at.replace(/(\d)T(\d)/, '$1 $2')}</time> <b>${words(event.event)}</b> ${facts}${lotsIn(lots)}${many > 1 && html` <span class="note">×${many}</span>`}</li>`,
  )}</ol>`;
}

function inspectionPart(id: number, inspections: readonly Row[], items: readonly Row[]): Html {
  const parts = inspections.map((each) => {
    const own = items.filter(({ report_id }) => report_id === each.report_id);
    const said = ['result', 'accident', 'water', 'fire'].map(
      (name) => [capital(name), words(each[name])] as const,
    );
    const head = factsOf([
      ...said,
      ['Odometer', each.km === null ? '' : `${count(each.km)} km`],
      ['Trouble codes', printable(each.codes)],
      ['The source says', printable(each.claims)],
      ['Parts without a result', Number(each.unchecked) > 0 ? count(each.unchecked) : ''],
      ['Notes', printable(each.notes)],
    ]);
    const cells = own.map((item) => [
      printable(item.visual_marker_label),
      words(item.part),
      words(item.place),
      words(item.issues || item.result_key),
      ...[words(item.severity_key), words(item.recommendation_key), printable(item.words)],
    ]);
    return html`<h3>${each.inspected_at ? day(each.inspected_at) : 'Undated'}</h3>${head}<div class="columns">${carMap(own)}<div>${
      cells.length > 0
        ? grid(['Mark', 'Part', 'Place', 'Issue', 'Severity', 'To do', 'In words'], cells)
        : html`<p class="note">The list of parts names no issue.</p>`
    }</div></div>`;
  });
  return section('inspections', 'Inspections', '', [
    ...parts,
    rowsLink(`from checked_items where vehicle_id = ${id} order by report_id, position`),
  ]);
}

function claimsPart(id: number, claims: readonly Row[]): Html {
  const cells = claims.map((claim) => [
    ...[printable(claim.occurred), words(claim.type_key), words(claim.subtype_key), words(claim.status_key)],
    ...[
      count(claim.mileage_km),
      claim.amount_total === null
        ? NONE
        : `${count(claim.amount_total)} ${printable(claim.currency).toUpperCase()}`,
    ],
    count(claim.reports),
  ]);
  return section('claims', 'Claims and other events of history reports', '', [
    grid(['Date', 'Kind', 'More', 'Status', '>km', '>Amount', '>Reports'], cells),
    rowsLink(`from claim_history where vehicle_id = ${id} order by event_number`),
  ]);
}

/** The pictures of the lots of a car at the sources that the reader allowed. */
function picturesPart(images: readonly Row[], allowed: ReadonlySet<string>): Html | string {
  const addresses = images
    .flatMap(({ pictures, domain_name }) =>
      Array.isArray(pictures) && allowed.has(String(domain_name)) ? pictures.map(String) : [],
    )
    .filter((url) => /^https:\/\//.test(url));
  return addresses.length === 0
    ? ''
    : section(
        'pictures',
        'Pictures',
        counted(addresses.length, 'picture'),
        html`<div class="pictures">${addresses.map((url, i) => html`<a href="${url}" rel="noreferrer"><img src="${url}" alt="Picture ${i + 1}" loading="lazy" referrerpolicy="no-referrer"></a>`)}</div>`,
      );
}
