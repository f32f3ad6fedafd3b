import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet';
import { lotCards } from '../../page/lot-card.js';
import { numberIn } from '../number-in.js';
import { localTimes } from './times.js';

/** A row of `data/auctions.parquet`. */
type Row = Readonly<Record<string, string | number | boolean | Date | null | undefined>>;

/** Lots that are shown. */
const SHOWN = 100;

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
    // The template escapes every text of the feed.
    list.innerHTML = String(lotCards(found.slice(0, SHOWN), { isForOthers: true }));
    localTimes(list);
  };
  form.addEventListener('input', show);
  form.addEventListener('submit', (event) => event.preventDefault());
  show();
}

begin().catch((error: unknown) => {
  if (tally !== null) tally.textContent += `; the others cannot be read: ${String(error)}`;
});
