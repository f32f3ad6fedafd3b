import { numberOrNull } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { money } from './format.js';
import { type Html, html } from './html.js';

/** An amount on the bar: its kind, which is its class, and its name in words. */
export interface Tick {
  readonly kind: 'estimate' | 'bid' | 'buy' | 'sale';
  readonly name: string;
  readonly amount: number | null;
}

/** What the bar tells, in words. */
export function dealWords({ low_80, high_80, currency, market }: Row): string {
  if (numberOrNull(low_80) === null) return '';
  const go = market === 'asking' ? 'ask' : 'went for';
  return `8 of 10 like it ${go} ${money(low_80, currency)} to ${money(high_80, currency)}`;
}

/**
 * The prices of such lots as a bar: the wide band holds 80 % of them, the narrow one 50 %, and each amount is a tick. An amount far
 * from the band stands at the end. Nothing without an interval.
 * @param row low_80, low_50, high_50, high_80, currency and market
 */
export function dealBar(row: Row, ticks: readonly Tick[]): Html | false {
  const [low, from, to, high] = [row.low_80, row.low_50, row.high_50, row.high_80].map(numberOrNull);
  if (low == null || from == null || to == null || high == null) return false;
  const known = ticks.flatMap((tick) => (tick.amount === null ? [] : [{ ...tick, amount: tick.amount }]));
  const room = high - low;
  const amounts = known.map(({ amount }) => amount);
  const least = Math.max(Math.min(low, ...amounts), low - room, 0);
  const most = Math.min(Math.max(high, ...amounts), high + room);
  const at = (amount: number): string =>
    (3 + (94 * (Math.min(Math.max(amount, least), most) - least)) / (most - least || 1)).toFixed(1);
  const band = (kind: string, start: number, end: number): Html =>
    html`<i class="${kind}" style="left:${at(start)}%;width:${(Number(at(end)) - Number(at(start))).toFixed(1)}%"></i>`;
  const beyond = (amount: number): string => (amount < least ? ' under' : amount > most ? ' over' : '');
  const label = [
    dealWords(row),
    ...known
      .filter(({ kind }) => kind !== 'sale')
      .map(({ name, amount }) => `${name} ${money(amount, row.currency)}`),
  ].join('; ');
  return html`<div class="deal" role="img" aria-label="${label}">${band('b80', low, high)}${band('b50', from, to)}${known.map(
    ({ kind, name, amount }) =>
      html`<b class="${kind}${beyond(amount)}" style="left:${at(amount)}%" title="${name} ${money(amount, row.currency)}"></b>`,
  )}</div>`;
}
