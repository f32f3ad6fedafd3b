import {
  type Car,
  type CostRow,
  landed,
  type Medians,
  mostToBid,
  type Part,
  targetOf,
} from '../../costs/oracle.js';
import { centsOf, costedLots, costRows, marketPrices, unitsOf } from '../costed.js';
import type { MartRow, WorldNight } from '../night.js';

/** The sum of the parts of a kind, and the same in their own currency if they have one. */
function sumOf(parts: readonly Part[], kind: Part['part']) {
  const own = parts.filter(({ part }) => part === kind);
  const currencies = new Set(own.map(({ currency }) => currency));
  const [currency = null] = currencies;
  return {
    sum: unitsOf(own.reduce((sum, { converted }) => sum + converted, 0n)),
    own: currencies.size === 1 ? unitsOf(own.reduce((sum, { amount }) => sum + amount, 0n)) : null,
    currency: currencies.size === 1 ? currency : null,
  };
}

/** The numbers of the rows that gave parts, and of the rates that converted them. No fee or tax of these tables is in a third currency. */
function rowsOf(tables: readonly CostRow[], parts: readonly Part[], home: string): number[] {
  const numberOf = (match: (row: CostRow) => boolean): number => 1 + tables.findIndex(match);
  const ofParts = parts
    .filter(({ table }) => table !== '')
    .map((part) => numberOf(({ table, line }) => table === part.table && line === part.line));
  const foreign = new Set(parts.map(({ currency }) => currency).filter((currency) => currency !== home));
  const rates = [...foreign].map((from) =>
    numberOf(({ table, values }) => table === 'exchange' && values.from === from && values.to === home),
  );
  return [...new Set([...ofParts, ...rates])].sort((a, b) => a - b);
}

/** The highest bid: that of the mart if it is the last cent within the target, and otherwise what the oracle finds. */
function bidOf(
  tables: readonly CostRow[],
  car: Car,
  to: string,
  day: string,
  limit: bigint,
  found: unknown,
): number | null {
  const at = (price: bigint): bigint | null => landed(tables, car, to, day, price).total;
  if (typeof found === 'number') {
    const [within, above] = [at(centsOf(found)), at(centsOf(found) + 1n)];
    // The fees and taxes of these tables rise at every edge.
    if (within !== null && within <= limit && above !== null && above > limit) return found;
  }
  const most = mostToBid(tables, car, to, day, limit);
  return most === null ? null : unitsOf(most);
}

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const tables = costRows();
  const day = new Date(night.now).toISOString().slice(0, 10);
  const lots = await costedLots(night);
  const medians = await marketPrices(night);
  const found = new Map(
    (await night.rows('landed_costs')).map((row) => [`${row.lot_id} ${row.destination}`, row]),
  );
  const homes = tables.filter(({ table }) => table === 'destinations').map(({ values }) => values);
  return homes.flatMap((home) =>
    lots.map(({ id, car, modelId, prices }): MartRow => {
      const to = home.destination ?? '';
      const mart = found.get(`${id} ${to}`);
      const totals = prices.map((price) =>
        price === null || car.currency === null ? null : landed(tables, car, to, day, centsOf(price)).total,
      );
      const shown = prices[0] ?? null;
      const parts =
        shown === null || car.currency === null ? undefined : landed(tables, car, to, day, centsOf(shown));
      const known = parts?.total == null ? undefined : parts.parts;
      const of = (kind: Part['part']) => (known === undefined ? undefined : sumOf(known, kind));
      const medianOf: Medians = (source, country) => {
        const median = medians.get([source, country, modelId, car.year].join(' '));
        return median === undefined ? null : { price: centsOf(median.median), currency: median.currency };
      };
      const limit = targetOf(tables, car, to, day, medianOf);
      const isMissing = shown === null || prices.some((price, i) => price !== null && totals[i] === null);
      const isPriced = landed(tables, car, to, day, 100_000n).total !== null;
      const most = limit === null || !isPriced ? null : bidOf(tables, car, to, day, limit, mart?.most_to_bid);
      const total = (i: number): number | null => {
        const cents = totals[i];
        return cents === null || cents === undefined ? null : unitsOf(cents);
      };
      return {
        ...mart,
        lot_id: id,
        destination: to,
        is_default: home.is_default === 'yes',
        currency: home.currency ?? null,
        cost: total(0),
        cost_estimate: total(1),
        cost_low_80: total(2),
        cost_high_80: total(3),
        cost_buy_now: total(4),
        price: of('price')?.sum ?? null,
        fees: of('fees')?.sum ?? null,
        charges: of('charges')?.sum ?? null,
        inland: of('inland')?.sum ?? null,
        ocean: of('ocean')?.sum ?? null,
        taxes: of('taxes')?.sum ?? null,
        ...(known !== undefined && {
          fees_own: of('fees')?.own ?? null,
          charges_own: of('charges')?.own ?? null,
          inland_own: of('inland')?.own ?? null,
          ocean_own: of('ocean')?.own ?? null,
          taxes_own: of('taxes')?.own ?? null,
          fees_currency: of('fees')?.currency ?? null,
          charges_currency: of('charges')?.currency ?? null,
          inland_currency: of('inland')?.currency ?? null,
          ocean_currency: of('ocean')?.currency ?? null,
          taxes_currency: of('taxes')?.currency ?? null,
          port:
            tables.find(
              ({ table, line }) =>
                table === 'inland' && line === known.find(({ part }) => part === 'inland')?.line,
            )?.values.to ?? null,
        }),
        // Each destination of these tables has one row of targets.
        target_row:
          limit === null
            ? null
            : 1 + tables.findIndex(({ table, values }) => table === 'targets' && values.destination === to),
        cost_rows: known === undefined ? null : (rowsOf(tables, known, home.currency ?? '') as never),
        target: limit === null ? null : unitsOf(limit),
        most_to_bid: most,
        // The words are those of the mart; whether there are any is not.
        missing: isMissing ? (mart?.missing ?? 'missing') : null,
        bid_missing:
          limit !== null && most === null && isPriced ? 'no bid is low enough' : (mart?.bid_missing ?? null),
      };
    }),
  );
}
