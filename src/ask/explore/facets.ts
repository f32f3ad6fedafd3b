import type { DuckDBConnection } from '@duckdb/node-api';
import { count, counted } from '../../base/config/printable.js';
import { rows } from '../../base/duck/session.js';
import { money, source } from '../page/format.js';
import { type Html, html } from '../page/html.js';
import {
  addressOf,
  COST,
  conditionOf,
  FACETS,
  type Facet,
  type FilterName,
  type Search,
} from './lot-filters.js';
import type { Names } from './names.js';

/** Values of a facet that are shown at once; the others are folded. */
const FIRST = 6;

/** Most values of a facet. */
const MOST = 200;

/** Counts that are kept. */
const MOST_KEPT = 3000;

/** A search without some of its filters, on its first page. */
export const without = (search: Search, names: readonly FilterName[]): Search => ({
  ...search,
  page: 1,
  filters: Object.fromEntries(
    Object.entries(search.filters).filter(([name]) => !names.includes(name as FilterName)),
  ),
});

const ownOf = ({ filter, others = [] }: Facet): readonly FilterName[] => [filter, ...others];

/** Numbers of lots by value. */
type Counts = ReadonlyMap<string, number>;

/** What lots are counted in: a snapshot that is shown. */
interface Counted {
  readonly connection: DuckDBConnection;
  readonly names: Names;
  /** Numbers of lots that were counted, by facet and condition. */
  readonly counts: Map<string, Counts>;
}

/**
 * The lots by each value of each facet, under all filters but those of the facet itself. Facets of one condition are counted in one scan.
 * Counts of a condition are kept as long as the snapshot is shown.
 */
async function countsOf(
  { connection, counts }: Counted,
  search: Search,
  facets: readonly Facet[],
): Promise<ReadonlyMap<Facet, Counts>> {
  if (counts.size > MOST_KEPT) counts.clear();
  const found = new Map<Facet, Counts>();
  const open = new Map<string, Facet[]>();
  for (const facet of facets) {
    const where = conditionOf(without(search, ownOf(facet)));
    const known = counts.get(`${facet.filter} ${where}`);
    if (known === undefined) open.set(where, [...(open.get(where) ?? []), facet]);
    else found.set(facet, known);
  }
  for (const [where, some] of open)
    for (const [facet, values] of await scan(connection, where, some)) {
      found.set(facet, values);
      counts.set(`${facet.filter} ${where}`, values);
    }
  return found;
}

async function scan(
  connection: DuckDBConnection,
  where: string,
  facets: readonly Facet[],
): Promise<ReadonlyMap<Facet, Counts>> {
  const names = facets.map((_, i) => `f${i}`);
  const values = facets.map(({ value }, i) => `${value} as f${i}`);
  const lots = `from explore.lots_on_offer where ${where}`;
  const sets = await rows(
    connection,
    `select grouping_id(${names.join(', ')}) as id, coalesce(${names.map((name) => `cast(${name} as varchar)`).join(', ')}) as value, count(*) as lots
     from (select ${values.join(', ')} ${lots}) group by grouping sets (${names.map((name) => `(${name})`).join(', ')})`,
  );
  const all = 2 ** facets.length - 1;
  const counts = new Map<Facet, Map<string, number>>();
  for (const [i, facet] of facets.entries()) {
    const own = sets.filter(
      ({ id, value }) => value !== null && Number(id) === all - 2 ** (facets.length - 1 - i),
    );
    const seconds =
      facet.second === undefined
        ? []
        : await rows(
            connection,
            `select ${facet.second} as value, count(*) as lots ${lots} and ${facet.second} is distinct from ${facet.value} group by all`,
          );
    const sums = new Map<string, number>();
    for (const { value, lots } of [...own, ...seconds])
      if (value !== null) sums.set(String(value), (sums.get(String(value)) ?? 0) + Number(lots));
    counts.set(facet, sums);
  }
  return counts;
}

/** The values of a facet with their lots: the most first, or the steps of a number with all that they let in. */
function valuesOf({ steps }: Facet, counts: Counts): (readonly [value: string, lots: number])[] {
  if (steps === undefined)
    return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).slice(0, MOST);
  const [side, ...bounds] = steps;
  return bounds.flatMap((bound) => {
    let lots = 0;
    for (const [value, some] of counts)
      if (side === 'from' ? Number(value) >= bound : Number(value) <= bound) lots += some;
    return lots === 0 ? [] : [[String(bound), lots] as const];
  });
}

/** A value in words. */
const worded = ({ filter, steps }: Facet, value: string): string =>
  filter === 'source'
    ? source(value)
    : filter === 'buyable' || filter === 'rollback'
      ? 'yes'
      : steps !== undefined && filter !== 'year_from'
        ? count(Number(value))
        : value.replaceAll('_', ' ');

function part(facet: Facet, counts: Counts, search: Search): Html | undefined {
  const chosen = search.filters[facet.filter];
  const bare = without(search, ownOf(facet));
  const values = valuesOf(facet, counts);
  if (values.length === 0) return undefined;
  const line = ([value, lots]: readonly [string, number]): Html =>
    html`<li><a href="/lots?${addressOf(bare, { [facet.filter]: value })}"${value === chosen ? html` aria-current="true"` : ''}>${worded(facet, value)}</a> <data value="${lots}">${count(lots)}</data></li>`;
  // What is chosen is not folded.
  const sorted =
    facet.steps === undefined
      ? values.toSorted(([a], [b]) => Number(b === chosen) - Number(a === chosen))
      : values;
  const [first, more] = [sorted.slice(0, FIRST), sorted.slice(FIRST)];
  return html`<section data-facet="${facet.filter}"><h3>${facet.label}</h3><ul>${first.map(line)}</ul>${more.length > 0 && html`<details><summary>${count(more.length)} more</summary><ul>${more.map(line)}</ul></details>`}</section>`;
}

/** The bars of each power of ten end at these multiples of it. */
const ENDS = [1, 1.5, 2, 3, 5, 7, 10];

/** SQL of the upper end of the bar that an amount stands in, from its power of ten and the multiple of it. */
const BAR = `power * case ${ENDS.map((end) => `when multiple <= ${end} then ${end}`).join(' ')} end`;

/** The lower end of the bar from its upper one. */
function beginOf(end: number): number {
  const power = 10 ** Math.floor(Math.log10(end) - 1e-9);
  const before = ENDS.findLast((each) => each * power < end * 0.999) ?? 1;
  return Number((before * power).toPrecision(3));
}

/** Numbers of lots by the upper end of the bar of their likely cost. */
async function barsOf({ connection, counts }: Counted, where: string): Promise<Counts> {
  const known = counts.get(`bars ${where}`);
  if (known !== undefined) return known;
  const found = await rows(
    connection,
    `select ${BAR} as bar, count(*) as lots
     from (select pow(10, floor(log10(cost))) as power, cost / power as multiple from (select ${COST} as cost from explore.lots_on_offer where ${where}) where cost > 0)
     group by all order by bar`,
  );
  const bars = new Map(
    found.map(({ bar, lots }) => [String(Number(Number(bar).toPrecision(3))), Number(lots)]),
  );
  counts.set(`bars ${where}`, bars);
  return bars;
}

/** How the likely costs of the lots are spread, in one currency. Each bar is a search; a script lets the reader brush over several. */
async function histogram(shown: Counted, search: Search): Promise<Html | undefined> {
  const currency = search.filters.currency ?? shown.names.choices.currency[0];
  if (currency === undefined) return undefined;
  const bare = without(search, ['price', 'price_from', 'currency']);
  const of = { ...bare, filters: { ...bare.filters, currency } };
  const bars = await barsOf(shown, conditionOf(of));
  const ends = [...bars.keys()].map(Number);
  if (ends.length < 2) return undefined;
  const most = Math.max(...bars.values());
  const [from, to] = [Number(search.filters.price_from ?? 0), Number(search.filters.price ?? Infinity)];
  const line = ([end, lots]: readonly [string, number]): Html => {
    const low = beginOf(Number(end));
    const words = `${money(low, currency)} to ${money(Number(end), currency)}: ${counted(lots, 'lot')}`;
    const kind = low >= from && Number(end) <= to ? '' : 'out';
    return html`<li><a href="/lots?${addressOf(of, { price_from: String(low), price: end })}" style="height:${((100 * lots) / most).toFixed(1)}%" class="${kind}" title="${words}" aria-label="${words}" data-from="${low}" data-to="${end}" data-lots="${lots}"></a></li>`;
  };
  return html`<section data-facet="price"><h3>Likely cost, ${currency}</h3><ol class="histogram">${[...bars].map(line)}</ol><p class="note"><span>${money(beginOf(Math.min(...ends)), currency)}</span><span>${money(Math.max(...ends), currency)}</span></p></section>`;
}

/** The facets of a search, and how its costs are spread. */
export async function facetsOf(shown: Counted, search: Search): Promise<readonly Html[]> {
  // Models of all makes together would be a list of thousands.
  const facets = FACETS.filter(({ filter }) => filter !== 'model' || search.filters.make !== undefined);
  const counts = await countsOf(shown, search, facets);
  const spread = await histogram(shown, search);
  const parts = facets.map((facet) => part(facet, counts.get(facet) ?? new Map(), search));
  return [spread, ...parts].filter((each) => each !== undefined);
}
