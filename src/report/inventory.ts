import type { Row } from '../duck/session.js';
import { count, dateOf, day, maybe, source, unique } from './format.js';
import { lines } from './line-charts.js';
import { type Figure, legendOf, type Marts, numbersOf, type Section } from './page.js';

/** Lots by source at the end of each of the last 90 days. */
const DAYS = `
  select * from inventory_daily
  where day > (select max(day) from inventory_daily) - interval 90 day
  order by domain_id, day`;

/** The lots of a source at the end of a day. */
interface InventoryDay {
  readonly series: string;
  readonly at: Date;
  readonly value: number | null;
  readonly row: Row;
}

/** What is in the feed, day by day. */
export async function inventorySection({ ask }: Marts): Promise<Section> {
  const found = await ask(DAYS);
  const days = found.map((row) => ({
    series: source(row.domain_name),
    at: dateOf(row.day),
    value: maybe(row.active_lots),
    row,
  }));
  return {
    id: 'inventory',
    title: 'Inventory',
    lead: 'What is known and not archived, by source. On the first day of a source all its lots are new, so that none is counted as such.',
    figures: [inventory(days)],
  };
}

function inventory(days: readonly InventoryDay[]): Figure {
  const title = 'Lots in the feed at the end of each day';
  const numbers = numbersOf(
    days.toSorted((a, b) => b.at.getTime() - a.at.getTime()),
    {
      Day: ({ at }) => day(at),
      Source: ({ series }) => series,
      '>Active': ({ value }) => count(value),
      '>New': ({ row }) => count(row.new_lots),
      '>Left': ({ row }) => count(row.archived_lots),
      '>Returned': ({ row }) => count(row.returned_lots),
      '>Offered again': ({ row }) => count(row.relisted_lots),
    },
  );
  if (new Set(days.map(({ at }) => at.getTime())).size < 2)
    return {
      title,
      words: 'The lake has seen one day so far. A line begins with the second.',
      numbers: days.length === 0 ? undefined : numbers,
    };
  const sources = unique(days.map(({ series }) => series));
  const latest = sources.map(
    (name) => `${name}: ${count(days.findLast(({ series }) => series === name)?.value)} on the last day.`,
  );
  return {
    title,
    legend: legendOf(sources),
    chart: lines(days, {
      id: 'chart-inventory',
      title,
      description: latest.join(' '),
      format: count,
      unit: 'day',
    }),
    numbers,
  };
}
