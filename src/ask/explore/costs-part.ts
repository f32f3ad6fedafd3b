import type { Config } from '../../base/config/config.js';
import { printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { cents, label, source } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { factsOf, section } from '../page/section.js';
import { changedSince, type Landed, type LandedTotal, landedLot, readSchedule } from '../query/landed.js';
import { rowsLink } from './page-frame.js';
import type { Shown } from './shown.js';

/**
 * What each lot of a car that is on offer costs at each destination, the default one first; undefined without tables of costs.
 * @param offers rows of `lots_on_offer`
 */
export async function costsPart(
  { connection, names }: Shown,
  config: Config,
  offers: readonly Row[],
): Promise<Html | undefined> {
  const costs = names.costs && offers.length > 0 ? await readSchedule(connection) : undefined;
  if (costs === undefined) return undefined;
  const changed = await changedSince(config, costs);
  const parts: Html[] = [];
  for (const lot of offers) {
    parts.push(html`<h3>Lot ${label(lot.lot)} at ${source(lot.domain_name)}</h3>`);
    const landed = await landedLot(connection, costs, Number(lot.lot_id));
    parts.push(...landed.map((each, i) => destinationPart(each, lot, i === 0)));
    parts.push(rowsLink(`from landed_costs where lot_id = ${lot.lot_id}`));
  }
  return section('costs', 'Costs in the end', `By your tables of costs, as of ${costs.schedule.day}.`, [
    html`${changed !== undefined && html`<p class="alarm">${printable(changed).replace(/^./, (letter) => letter.toUpperCase())}.</p>`}`,
    ...parts,
  ]);
}

/** The parts and totals of a lot at a destination, folded unless it is the first. */
function destinationPart(landed: Landed, { bid, market }: Row, isOpen: boolean): Html {
  const { destination, currency, lot_currency, totals, parts, missing } = landed;
  const [first] = totals;
  const prices = market === 'asking' ? { ...PRICES, buy_now: 'at the asking price' } : PRICES;
  const head = first === undefined ? '' : `: ${totalOf(first, currency)} ${prices[first.at]}`;
  const facts = factsOf([
    ['Target', landed.target === null ? '' : `${cents(landed.target, currency)} (${landed.target_row})`],
    ['Most to bid', landed.most_to_bid === null ? '' : cents(landed.most_to_bid, lot_currency)],
    ['Bid so far', landed.most_to_bid === null || bid === null ? '' : cents(bid, lot_currency)],
    ['No most to bid', printable(landed.bid_missing)],
  ]);
  return html`<details class="each costs"${isOpen ? ' open' : ''}><summary>In ${printable(destination)}${head}</summary><div>
${missing.map((what) => html`<p class="note">Missing: ${printable(what)}.</p>`)}
${facts}
${parts.length > 0 && partsTable(landed)}
${totals.length > 1 && totalsTable(landed, prices)}</div></details>`;
}

const totalOf = ({ total }: LandedTotal, currency: string): string =>
  total === null ? 'not known' : cents(total, currency);

/** Prices of a lot, in words. */
const PRICES: Readonly<Record<LandedTotal['at'], string>> = {
  given: 'at a price',
  bid: 'at the bid so far',
  estimate: 'at the estimate',
  low_80: 'at the low end of 80% of such prices',
  high_80: 'at the high end of 80% of such prices',
  buy_now: 'at Buy Now',
};

/** The parts of the first total, each with the row of the table that gave it. */
function partsTable({ currency, parts, totals: [first] }: Landed): Html {
  const total = first?.total ?? null;
  return grid(
    ['Part', '>Amount', `>In ${currency}`, 'Row', 'Note'],
    [
      ...parts.map((part) => [
        printable([part.part, part.name].filter((name) => name !== null).join(': ')),
        cents(part.amount, part.currency),
        cents(part.converted, currency),
        printable(part.row),
        printable(part.note),
      ]),
      ...(total === null ? [] : [['Total', '', cents(total, currency), '', '']]),
    ],
  );
}

const totalsTable = ({ currency, lot_currency, totals }: Landed, prices: typeof PRICES): Html =>
  grid(
    ['If it goes', '>For', '>Total'],
    totals.map((each) => [prices[each.at], cents(each.price, lot_currency), totalOf(each, currency)]),
  );
