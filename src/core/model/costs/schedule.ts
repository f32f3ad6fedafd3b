import { baseOf, daysOf, groupsOf, namesOf } from './check-rows.js';
import { ANY, type CostRow, type CostTable, cell, plainName, tableOf } from './columns.js';
import { type Factor, factorOf } from './money.js';

/** A yard that cars come to. */
export interface Destination {
  readonly name: string;
  readonly country: string;
  /** The currency that totals are in. */
  readonly currency: string;
  readonly arrives: string;
  readonly member: string;
  readonly isDefault: boolean;
}

/** The rows of costs that are valid on a day. */
export interface Schedule {
  readonly day: string;
  readonly destinations: readonly Destination[];
  /** How the rows of a series are chosen, such as those of a fee; undefined without such rows. */
  readonly choices: (table: CostTable, series: readonly string[]) => Choice | undefined;
  /** All rows of a series. */
  readonly rowsOf: (table: CostTable, series: readonly string[]) => readonly CostRow[];
  /** The series of a table, each by its first row. */
  readonly series: (table: CostTable) => readonly CostRow[];
  /** The rate from one currency to another; undefined for a pair without one. */
  readonly rate: (from: string, to: string) => Rate | undefined;
  /** Whether a table names a size. */
  readonly needsSize: boolean;
}

/** A rate; without a row between amounts of one currency. */
export interface Rate {
  readonly factor: Factor;
  readonly row: CostRow | undefined;
}

/** Gives the rows for names in the order of the keys of a table; those that name the first key exactly come first. */
type Choice = (names: readonly (string | null)[]) => readonly CostRow[] | undefined;

/**
 * The rows that are valid on a day, by their names.
 * @param rows of tables that are right, see {@link checkRows}
 * @param day such as 2026-11-30
 */
export function scheduleOf(rows: readonly CostRow[], day: string): Schedule {
  const [today] = daysOf({ table: 'charges', line: 0, values: { valid_from: day } });
  const valid = rows.filter((row) => {
    const [from, to] = daysOf(row);
    return row.table === 'exchange' ? cell(row, 'day') <= day : from <= today && today < to;
  });
  const keyOf = (table: CostTable, names: readonly string[]): string =>
    JSON.stringify([table, ...names.map(plainName)]);
  const groups = groupsOf(valid, (row) => keyOf(row.table, namesOf(row, tableOf(row.table).series)));
  const chosen = new Map([...groups].map(([key, group]) => [key, choiceOf(group)]));
  const firsts = groupsOf(
    [...groups.values()].flatMap((group) => group.slice(0, 1)),
    ({ table }) => table,
  );
  const of = (table: CostTable): readonly CostRow[] => valid.filter((row) => row.table === table);
  const rates = ratesOf(of('exchange'));
  return {
    day,
    destinations: destinationsOf(of('destinations')),
    choices: (table, series) => chosen.get(keyOf(table, series)),
    rowsOf: (table, series) => groups.get(keyOf(table, series)) ?? [],
    series: (table) => firsts.get(table) ?? [],
    rate: (from, to) => (from === to ? SAME : rates.get(`${from} ${to}`)),
    // No total has repairs.
    needsSize: valid.some(
      (row) => row.table !== 'sizes' && row.table !== 'repairs' && ![ANY, ''].includes(cell(row, 'size')),
    ),
  };
}

/** The rate between amounts of one currency. */
export const SAME: Rate = { factor: { digits: 1, power: 1 }, row: undefined };

function destinationsOf(rows: readonly CostRow[]): Destination[] {
  return rows.map((row) => ({
    name: cell(row, 'destination'),
    country: cell(row, 'country'),
    currency: cell(row, 'currency'),
    arrives: plainName(cell(row, 'arrives')),
    member: plainName(cell(row, 'member')),
    isDefault: rows.length === 1 || cell(row, 'is_default') === 'yes',
  }));
}

/** The newest rate of each pair. */
function ratesOf(rows: readonly CostRow[]): ReadonlyMap<string, Rate> {
  const sorted = [...rows].sort((a, b) => cell(a, 'day').localeCompare(cell(b, 'day')));
  return new Map(
    sorted.map((row) => [
      `${cell(row, 'from')} ${cell(row, 'to')}`,
      { factor: factorOf(cell(row, 'rate')), row },
    ]),
  );
}

/** Place of the key `postal` of inland, which is the beginning of a code. */
const POSTAL = tableOf('inland').keys.indexOf('postal');

/** Rows by their names, a level for each key. */
interface Branch {
  readonly names: Map<string, Branch>;
  readonly rows: CostRow[];
}

/** How rows of one series are chosen by names. */
function choiceOf(rows: readonly CostRow[]): Choice {
  const { table = 'destinations' } = rows[0] ?? {};
  const { keys } = tableOf(table);
  const root: Branch = { names: new Map(), rows: [] };
  for (const row of rows) {
    let at = root;
    for (const name of namesOf(row, keys)) {
      const next = at.names.get(name) ?? { names: new Map(), rows: [] };
      at.names.set(name, next);
      at = next;
    }
    at.rows.push(row);
  }
  const find = (
    at: Branch,
    names: readonly (string | null)[],
    place: number,
  ): readonly CostRow[] | undefined => {
    if (place === keys.length) return at.rows;
    const name = names[place] ?? null;
    const isAnyAlone = name === null || (at.names.size === 1 && at.names.has(ANY));
    const wanted = isAnyAlone
      ? []
      : table === 'inland' && place === POSTAL
        ? beginningsOf(plainName(name))
        : [plainName(name)];
    for (const each of [...wanted, ANY]) {
      const next = at.names.get(each);
      const found = next && find(next, names, place + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return (names) => find(root, names, 0);
}

/** The beginnings of a code, the longest first. */
const beginningsOf = (code: string): string[] => Array.from(code, (_, i) => code.slice(0, code.length - i));

/** The taxes of a country, each by its first row, in an order in which each comes after those in its base. */
export function orderedTaxes({ series, rowsOf }: Schedule, country: string): readonly CostRow[] {
  const taxes = series('taxes').filter((row) => cell(row, 'country') === country);
  const ordered = new Set<CostRow>();
  const visit = (tax: CostRow): void => {
    if (ordered.has(tax)) return;
    const bases = rowsOf('taxes', [country, cell(tax, 'tax')]).flatMap(baseOf);
    for (const other of taxes)
      if (other !== tax && bases.includes(plainName(cell(other, 'tax')))) visit(other);
    ordered.add(tax);
  };
  for (const tax of taxes) visit(tax);
  return [...ordered];
}
