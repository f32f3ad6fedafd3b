import { count, numberOrNull, printable, words } from '../../base/config/printable.js';
import { enumerations } from '../../core/service/contract/enumerations.js';
import { dealBar } from '../page/deal-bar.js';
import { money, percent, source } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { FACTORS, nearWords, type Value } from '../query/valuation.js';

/** A factor with its level in words, such as `damage: all over`. */
function factorWords(factor: string): string {
  const [name = '', level] = factor.split(': ');
  const known = SHORT[name] ?? words(name);
  return level === undefined
    ? known
    : `${known}: ${name === 'domain_id' ? source(Reflect.get(enumerations.domain, level) ?? level) : words(level)}`;
}

/** Names of factors that a page shortens besides. */
const SHORT: Readonly<Record<string, string>> = {
  ...FACTORS,
  damage_main_group: 'damage',
  damage_second_group: 'second damage',
  title_brand: 'title',
  has_keys: 'keys',
};

/** How many of the judged prices lay where the estimates had said. */
const insideOf = (share: unknown): string =>
  share === null ? '' : `; ${percent(share)} of the prices lay within the interval of 80%`;

/** How far such estimates were off. */
export const accuracyOf = ({ accuracy }: Pick<Value, 'accuracy'>): string =>
  accuracy === null
    ? ''
    : `half of ${count(accuracy.prices)} were within ${percent(accuracy.error_median)} of the price${insideOf(accuracy.inside_80)}`;

/** The bar of a value: its intervals, and what the sales near it in all say of the car. */
export const valueBar = (value: Value): Html | false =>
  dealBar({ ...value }, [
    ...value.comparable_sales.map((sale) => ({
      kind: 'sale' as const,
      name: `Sale of ${printable(sale.sold_on)}, for this car`,
      amount: numberOrNull(sale.adjusted_price),
    })),
    { kind: 'estimate', name: 'Estimate', amount: value.estimate },
    { kind: 'buy', name: 'Buy Now', amount: value.is_currency_known ? value.buy_now : null },
  ]);

/** What of four such lots that are sold one, two and three go for at most at auction. */
export const bidsOf = (
  { low_50, high_50 }: Pick<Value, 'low_50' | 'high_50'>,
  estimate: number | null,
  currency: string | null,
): string =>
  low_50 === null || estimate === null
    ? ''
    : `of such lots that are sold, 1 in 4 go for at most ${money(low_50, currency)}, half for ${money(estimate, currency)}, 3 in 4 for ${money(high_50, currency)}, without fees; a seller who wants more does not sell`;

/** What moves an estimate from the average lot. */
export const drivers = ({ drivers: moving, currency }: Value): Html =>
  moving.every(({ amount }) => Math.abs(amount) < 1)
    ? html`<p class="note">Nothing much.</p>`
    : html`${grid(
        ['Factor', '>Amount'],
        moving
          .filter(({ amount }) => Math.abs(amount) >= 1)
          .map(({ factor, amount }) => [
            factorWords(factor),
            `${amount < 0 ? '−' : '+'}${money(Math.abs(amount), currency)}`,
          ]),
      )}<p class="note">A plus raises the estimate by this amount above that of a car which is average in this alone, a minus lowers it. They multiply, so they do not add up.</p>`;

/** The priced lots that are near a lot or car in all. */
export const alike = (value: Value): Html =>
  html`<p class="note">${nearWords(value).replace(/^n/, 'N')}.</p>${
    value.comparable_sales.length > 0 &&
    grid(
      ['Priced on', '>Year', '>km', 'Damage', 'Title', '>Price', '>For this car'],
      value.comparable_sales.map((sale) => [
        sale.link
          ? html`<a href="${sale.link}" rel="noreferrer">${sale.sold_on}</a>`
          : printable(sale.sold_on),
        ...[printable(sale.year), count(sale.km), words(sale.damage), words(sale.title)],
        money(sale.price, value.currency),
        sale.doubt ? words(sale.doubt) : money(sale.adjusted_price, value.currency),
      ]),
    )
  }`;
