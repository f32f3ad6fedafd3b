import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet';
import { numberIn } from '../number-in.js';

/** A row of `data/auctions.parquet`. */
type Row = Readonly<Record<string, string | number | Date | null | undefined>>;

/** Lots that are shown. */
const SHOWN = 200;

const form = document.querySelector<HTMLFormElement>('#filters');
const list = document.querySelector('#list');
const tally = document.querySelector('#tally');

const text = (value: Row[string]): string => String(value ?? '').toLowerCase();
const number = (value: Row[string]): number | null => (typeof value === 'number' ? value : null);

/** The currency that most lots have, in which amounts are asked for. */
function mainCurrency(rows: readonly Row[]): string {
  const lots = new Map<string, number>();
  for (const { currency } of rows)
    if (typeof currency === 'string') lots.set(currency, (lots.get(currency) ?? 0) + 1);
  return [...lots].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

/** Whether a text is no amount, so that it is no filter. */
const isNoAmount = (text: string): boolean => text === '' || Number.isNaN(numberIn(text));

/** Whether a lot passes the filters; an empty one passes all. */
function passes(row: Row, given: FormData, currency: string): boolean {
  const asked = (name: string): string =>
    String(given.get(name) ?? '')
      .trim()
      .toLowerCase();
  // Its Buy Now price, or what it brings at auction, but not less than its bid.
  const likely = Math.max(number(row.estimate) ?? 0, number(row.bid) ?? 0) || null;
  const buyNow = number(row.buy_now);
  const price =
    buyNow !== null && buyNow > (number(row.bid) ?? 0) ? Math.min(buyNow, likely ?? buyNow) : likely;
  const isOf = (name: string, holds: (amount: number) => boolean): boolean =>
    isNoAmount(asked(name)) || (row.currency === currency && holds(Number(numberIn(asked(name)))));
  return (
    text(row.manufacturer_name).startsWith(asked('make')) &&
    text(row.model_name).includes(asked('model')) &&
    (asked('state') === '' || text(row.state_code) === asked('state')) &&
    isOf('price', (most) => price !== null && price <= most) &&
    isOf('estimate', (least) => (number(row.estimate) ?? 0) >= least) &&
    (asked('stands') === '' || row.stands_out != null)
  );
}

const money = (value: Row[string], currency: Row[string]): string =>
  typeof value === 'number'
    ? new Intl.NumberFormat('en', {
        style: 'currency',
        currency: String(currency ?? 'XXX'),
        maximumFractionDigits: 0,
      }).format(value)
    : EMPTY;

const HEADS = [
  'Car',
  'Auction, UTC',
  '>Estimate',
  '>80% between',
  '>Bid so far',
  '>Buy Now',
  'What stands out',
  '>Sells',
  '>Odometer, km',
  'Damage',
  'Title',
  'Place',
  'Source',
];

const EMPTY = '–';

/** A place with capital letters. */
const titled = (value: Row[string]): string =>
  String(value ?? '').replaceAll(/\b\p{L}/gu, (letter) => letter.toUpperCase());

const cellsOf = (row: Row): string[] => [
  [row.year, row.manufacturer_name, row.model_name].filter((part) => part != null).join(' '),
  row.sale_date instanceof Date ? row.sale_date.toISOString().slice(5, 16).replace('T', ', ') : EMPTY,
  `${row.weak == null ? '' : '~'}${money(row.estimate, row.currency)}`,
  row.low_80 == null ? EMPTY : `${money(row.low_80, row.currency)} and ${money(row.high_80, row.currency)}`,
  ...[row.bid, row.buy_now].map((value) => money(value, row.currency)),
  String(row.stands_out ?? EMPTY),
  typeof row.sell_probability === 'number' ? `${Math.round(row.sell_probability * 100)}%` : EMPTY,
  typeof row.odometer_km === 'number' ? row.odometer_km.toLocaleString('en') : EMPTY,
  ...[row.damage_main_group, row.title_brand].map((value) => String(value ?? EMPTY).replaceAll('_', ' ')),
  [titled(row.city_name), row.state_code].filter((part) => part != null && part !== '').join(', '),
  String(row.domain_name ?? EMPTY).replace(/_com$/, '.com'),
];

/** Texts of the feed become text nodes. */
function element(name: string, content: string | Node, isNumber = false): HTMLElement {
  const made = document.createElement(name);
  if (isNumber) made.className = 'number';
  made.append(content);
  return made;
}

function tableOf(rows: readonly Row[]): HTMLElement {
  const isNumber = HEADS.map((head) => head.startsWith('>'));
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  for (const [i, name] of HEADS.entries()) head.append(element('th', name.replace('>', ''), isNumber[i]));
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [i, cell] of cellsOf(row).entries()) {
      const page = i === 0 ? row.link : undefined;
      const link = document.createElement('a');
      if (typeof page === 'string') Object.assign(link, { href: page, rel: 'noreferrer', textContent: cell });
      const made = element(i === 0 ? 'th' : 'td', typeof page === 'string' ? link : cell, isNumber[i]);
      made.dataset.label = HEADS[i]?.replace('>', '');
      if (cell === EMPTY) made.dataset.empty = '';
      line.append(made);
    }
  }
  const scroll = element('div', table);
  scroll.className = 'scroll lots';
  scroll.tabIndex = 0;
  return scroll;
}

/** Reads the file by ranges where the server gives them, and shows what passes the filters as they change. */
async function begin(): Promise<void> {
  if (form === null || list === null || tally === null) return;
  const url = new URL('data/auctions.parquet', location.href).href;
  const rows = (await parquetReadObjects({ file: await asyncBufferFromUrl({ url }) })) as Row[];
  const order = (row: Row): number => number(row.prices_above) ?? -1;
  const sorted = rows.toSorted((a, b) => order(b) - order(a));
  const currency = mainCurrency(rows);
  form.hidden = false;
  const show = (): void => {
    const given = new FormData(form);
    const found = sorted.filter((row) => passes(row, given, currency));
    const wrong = ['price', 'estimate']
      .map((name) => String(given.get(name) ?? '').trim())
      .filter((text) => text !== '' && isNoAmount(text));
    tally.textContent = `${wrong.map((text) => `“${text}” is no amount and is left out. `).join('')}${found.length.toLocaleString('en')} of ${rows.length.toLocaleString('en')} lots${found.length > SHOWN ? `, the first ${SHOWN}` : ''}, those that stand out most first`;
    list.replaceChildren(tableOf(found.slice(0, SHOWN)));
  };
  form.addEventListener('input', show);
  form.addEventListener('submit', (event) => event.preventDefault());
  show();
}

begin().catch((error: unknown) => {
  if (tally !== null) tally.textContent += `; the others cannot be read: ${String(error)}`;
});
