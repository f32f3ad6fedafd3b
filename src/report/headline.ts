import { html } from 'hono/html';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import { count, counted, maybe, NONE } from '../query/printable.js';
import { day, money, percent } from './format.js';

/**
 * The figures at the top, each with its change since the run before, if its snapshot is kept.
 * @param now,before rows of `sql/report/headline.sql`
 */
export function headlineTiles(now: Row, before: Row | undefined): Html[] {
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
  /** Says which values there are, where they are too few for a figure. */
  const word = (name: string, value: string, change: string): Html => tile(name, value, change, 'word');
  const arrived = `New on ${short(now.run_at)}`;
  const through = `Sell-through${since === undefined ? ', 30 days' : ` ${since}`}`;
  const median = 'Median price, 30 days';
  return [
    figure('Active lots', 'active_lots'),
    now.new_lots === null
      ? word(arrived, 'first day', 'all lots are new')
      : tile(arrived, count(now.new_lots), `and ${count(now.left_lots)} left`),
    figure(`Sold ${since ?? 'in 30 days'}`, 'sold'),
    maybe(now.sell_through) === null
      ? word(through, 'too few', counted(now.offered, 'lot'))
      : figure(through, 'sell_through', percent, points, before, `of ${counted(now.offered, 'lot')}`),
    maybe(now.price_median) === null
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
  const [value, last] = [maybe(now), maybe(before)];
  if (value === null || last === null) return '';
  const change = write(Math.abs(value - last));
  return change === write(0) ? 'unchanged' : `${value < last ? '−' : '+'}${change}`;
}

const tile = (name: string, value: string, change: string, kind = ''): Html =>
  html`<div><dt>${name}</dt><dd class="value ${kind}">${value}</dd><dd class="change">${change}</dd></div>`;
