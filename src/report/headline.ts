import type { Row } from '../duck/session.js';
import { count, counted, maybe, NONE } from '../query/printable.js';
import { day, money, percent } from './format.js';
import type { Tile } from './page.js';

/**
 * The figures at the top, each with its change since the run before, if its snapshot is kept.
 * @param now,before rows of `sql/report/headline.sql`
 */
export function headlineTiles(now: Row, before: Row | undefined): Tile[] {
  const short = (at: unknown): string => day(at).replace(/ \d{4}$/, '');
  const since = now.observed_from === null ? undefined : `since ${short(now.observed_from)}`;
  const amount = (value: unknown): string => (now.currency === null ? NONE : money(value, now.currency));
  /** A figure with its change; the values that there are, where they are too few for it. */
  const tile = (name: string, figure: string, write = count, move = write, values?: string): Tile => {
    const [value, last] = [maybe(now[figure]), maybe(before?.[figure])];
    if (value === null && values !== undefined)
      return { name, value: 'too few', isWord: true, change: values };
    const sign = value !== null && last !== null && value < last ? '−' : '+';
    const moved =
      value === null || last === null
        ? ''
        : value === last
          ? 'unchanged'
          : `${sign}${move(Math.abs(value - last))}`;
    return { name, value: write(now[figure]), isWord: false, change: moved };
  };
  const arrived = `New on ${short(now.run_at)}`;
  const median = tile('Median price, 30 days', 'price_median', amount, amount, counted(now.priced, 'price'));
  return [
    tile('Active lots', 'active_lots'),
    now.new_lots === null
      ? { name: arrived, value: 'first day', isWord: true, change: 'all lots are new' }
      : { ...tile(arrived, 'new_lots'), change: `and ${count(now.left_lots)} left` },
    tile(`Sold ${since ?? 'in 30 days'}`, 'sold'),
    tile(
      `Sell-through${since === undefined ? ', 30 days' : ` ${since}`}`,
      'sell_through',
      percent,
      (share) => `${(Number(share) * 100).toFixed(1)} points`,
      counted(now.offered, 'lot'),
    ),
    // Amounts in two currencies have no difference.
    median.isWord || now.currency === before?.currency ? median : { ...median, change: '' },
    tile('Auctions to come', 'upcoming'),
  ];
}
