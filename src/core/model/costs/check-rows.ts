import { join } from 'node:path';
import { quoted } from '../../../base/config/folder.js';
import { ConfigError } from '../../../base/config/lotlake-error.js';
import { didYouMean } from '../../../base/config/nearest.js';
import {
  ANY,
  type CostRow,
  type CostTable,
  cell,
  costTables,
  plainName,
  sourceOf,
  tableOf,
} from './columns.js';

/** A problem of a row: what is wrong, and what to do about it. */
class RowProblem extends Error {
  constructor(
    readonly row: Pick<CostRow, 'table' | 'line'>,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/**
 * Checks what the cells of rows say together: days, bands without overlaps and gaps, and names that other tables make. Throws ConfigError
 * for the first problem, which names the later of two rows.
 */
export function checkRows(rows: readonly CostRow[], folder: string): void {
  try {
    for (const row of rows) checkRanges(row);
    for (const table of costTables)
      checkTable(
        table,
        rows.filter((row) => row.table === table),
      );
    checkNames(rows);
    checkTaxes(rows);
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error;
    const { row, message, hint } = error;
    throw new ConfigError(
      `costs: line ${row.line} of ${join(folder, `${row.table}.csv`)}: ${message}`,
      hint ?? 'docs/ask/costs.md describes the tables',
    );
  }
}

/** A range of numbers: from the first one, up to before the second one. */
type Range = readonly [from: number, to: number];

const DAY = 86_400_000;

const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY;

/** The days of a row. */
export function daysOf(row: CostRow): Range {
  const [from, to] = [cell(row, 'valid_from'), cell(row, 'valid_to')];
  return [from === '' ? -Infinity : dayNumber(from), to === '' ? Infinity : dayNumber(to) + 1];
}

/** The columns of a band. */
const endsOf = (band: string): readonly [string, string] =>
  band === '' ? ['from', 'to'] : [`${band}_from`, `${band}_to`];

/** The range of a band of a row. Both years belong to a band of years; of others, the end does not. */
export function rangeOf(row: CostRow, band: string): Range {
  const [from, to] = endsOf(band).map((column) => cell(row, column));
  const end = to === '' ? Infinity : Number(to);
  return [from === '' ? 0 : Number(from), band === 'year' ? end + 1 : end];
}

function checkRanges(row: CostRow): void {
  const [first, last] = daysOf(row);
  if (last <= first) throw new RowProblem(row, 'valid_to is before valid_from');
  for (const band of tableOf(row.table).bands) {
    const [from, to] = rangeOf(row, band);
    const names = endsOf(band);
    if (to <= from) throw new RowProblem(row, `${names[1]} is not above ${names[0]}`);
  }
}

/** The names by which a row is chosen, as they are compared. */
export const namesOf = (row: CostRow, columns: readonly string[]): string[] =>
  columns.map((column) => {
    const text = cell(row, column);
    return column === 'source' ? sourceOf(text) : plainName(text);
  });

/** Rows by what a function says of them, in their order. */
export function groupsOf(
  rows: readonly CostRow[],
  of: (row: CostRow) => string,
): ReadonlyMap<string, CostRow[]> {
  const groups = new Map<string, CostRow[]>();
  for (const row of rows) {
    const group = groups.get(of(row));
    if (group === undefined) groups.set(of(row), [row]);
    else group.push(row);
  }
  return groups;
}

function checkTable(table: CostTable, rows: readonly CostRow[]): void {
  const { series, keys, bands } = tableOf(table);
  const groups = groupsOf(rows, (row) => JSON.stringify(namesOf(row, [...series, ...keys])));
  for (const group of groups.values()) {
    const boxes = group.map((row) => ({
      row,
      ranges: [daysOf(row), ...bands.map((band) => rangeOf(row, band))],
    }));
    checkOverlaps(boxes);
    checkGaps(boxes, ['', ...bands], table === 'buyer_fees');
    if (table === 'buyer_fees' || table === 'taxes')
      checkAlike(boxes, ['currency', ...(table === 'taxes' ? ['base'] : [])]);
  }
}

/** A row with its days and bands. */
interface Box {
  readonly row: CostRow;
  readonly ranges: readonly Range[];
}

const meet = ([from, to]: Range, [other, end]: Range): boolean => from < end && other < to;

function checkOverlaps(boxes: readonly Box[]): void {
  for (const [i, box] of boxes.entries())
    for (const before of boxes.slice(0, i))
      if (box.ranges.every((range, dim) => meet(range, before.ranges[dim] ?? [0, 0])))
        throw new RowProblem(
          box.row,
          `it says the same as line ${before.row.line}, for the same names, bands and days`,
          'a band ends before its to, so that the next one begins there; leave one of the rows out',
        );
}

/** Looks for values between the first and the last one of each dimension that no row has. Days come first. */
function checkGaps(boxes: readonly Box[], names: readonly string[], beginsAtZero: boolean, dim = 0): void {
  if (dim === names.length) return;
  const ranges = boxes.map((box) => box.ranges[dim] ?? [0, 0]);
  const edges = [...new Set(ranges.flat())].sort((a, b) => a - b);
  const [least] = edges;
  const name = names[dim] === '' && dim > 0 ? 'price' : (names[dim] ?? '');
  for (const [i, from] of edges.slice(0, -1).entries()) {
    const within = boxes.filter((_, at) => (ranges[at]?.[0] ?? 0) <= from && (ranges[at]?.[1] ?? 0) > from);
    if (within.length === 0) throw gapBefore(boxes, dim, from, edges[i + 1] ?? from, name);
    if (dim > 0 && from === least && beginsAtZero && from > 0)
      throw new RowProblem(
        within[0]?.row ?? { table: 'buyer_fees', line: 1 },
        `no row has prices from 0 to ${from}`,
        'the first band of a fee begins at 0',
      );
    checkGaps(within, names, beginsAtZero, dim + 1);
  }
}

function gapBefore(boxes: readonly Box[], dim: number, from: number, to: number, name: string): RowProblem {
  const next = boxes.find((box) => box.ranges[dim]?.[0] === to) ?? boxes[0];
  const shown = (value: number): string =>
    dim === 0 ? new Date(value * DAY).toISOString().slice(0, 10) : String(value);
  const what =
    dim === 0
      ? `no row is valid from ${shown(from)} to the day before ${shown(to)}`
      : `no row has the ${name} from ${shown(from)} to ${shown(to)}`;
  return new RowProblem(
    next?.row ?? { table: 'buyer_fees', line: 1 },
    `${what}, for the same names`,
    dim === 0
      ? 'the last day of a row is valid_to itself'
      : `to does not belong to a band: write ${shown(to)} in place of ${shown(from)}, or add a row`,
  );
}

/** Rows whose bands are compared with one value have one currency and one base. */
function checkAlike(boxes: readonly Box[], columns: readonly string[]): void {
  for (const [i, { row, ranges }] of boxes.entries())
    for (const before of boxes.slice(0, i)) {
      const other = columns.find(
        (column) => plainName(cell(row, column)) !== plainName(cell(before.row, column)),
      );
      if (other !== undefined && meet(ranges[0] ?? [0, 0], before.ranges[0] ?? [0, 0]))
        throw new RowProblem(
          row,
          `${other} is ${quoted(cell(row, other))}, and in line ${before.row.line} ${quoted(cell(before.row, other))}; bands of the same names are compared with one amount`,
        );
    }
}

/** Names of parts that a base may sum. */
const PARTS = ['price', 'fees', 'charges', 'inland', 'ocean'] as const;

/** The columns that name the parts of a total, by their table. */
const PART_NAMES = { buyer_fees: 'fee', charges: 'charge', taxes: 'tax' } as const;

/** The names of a column in a table, as they are compared. */
const valuesIn = (rows: readonly CostRow[], table: CostTable, column: string): ReadonlySet<string> =>
  new Set(
    rows.flatMap((row) =>
      row.table === table && cell(row, column) !== '' ? [plainName(cell(row, column))] : [],
    ),
  );

function checkNames(rows: readonly CostRow[]): void {
  const of = (table: CostTable, column: string) => valuesIn(rows, table, column);
  const destinations = of('destinations', 'destination');
  const countries = of('destinations', 'country');
  const arrivals = new Set([...of('destinations', 'arrives'), ...countries]);
  const checks: readonly [CostTable, string, ReadonlySet<string>, string][] = [
    ['charges', 'destination', destinations, 'destinations.csv has no such destination'],
    ['targets', 'destination', destinations, 'destinations.csv has no such destination'],
    ...(['charges', 'inland', 'ocean', 'repairs'] as const).map(
      (table): [CostTable, string, ReadonlySet<string>, string] => [
        table,
        'size',
        of('sizes', 'size'),
        'sizes.csv has no such size',
      ],
    ),
    [
      'inland',
      'to',
      new Set([...of('ocean', 'from'), ...destinations]),
      'it is neither a port of ocean.csv nor a destination',
    ],
    ['ocean', 'to', arrivals, 'no destination has it as arrives or country'],
  ];
  for (const row of rows)
    for (const [table, column, known, problem] of checks) {
      const name = plainName(cell(row, column));
      if (row.table === table && name !== '' && name !== ANY && !known.has(name))
        throw new RowProblem(
          row,
          `${column} is ${quoted(cell(row, column))}: ${problem}${didYouMean(name, [...known])}`,
        );
    }
  const ships = of('ocean', 'to');
  for (const row of rows) checkRow(row, of('buyer_fees', 'member'), ships);
  checkDefault(rows.filter(({ table }) => table === 'destinations'));
  checkPartNames(rows);
}

/** What columns of one row say together. */
function checkRow(row: CostRow, members: ReadonlySet<string>, ships: ReadonlySet<string>): void {
  const has = (column: string): boolean => cell(row, column) !== '';
  if (row.table === 'destinations') {
    const goals = [cell(row, 'arrives'), cell(row, 'country')].map(plainName);
    if (has('arrives') && !goals.some((goal) => ships.has(goal)))
      throw new RowProblem(
        row,
        `arrives is ${quoted(cell(row, 'arrives'))}: no ship of ocean.csv goes there, or to ${cell(row, 'country')}`,
      );
    const member = plainName(cell(row, 'member'));
    const named = [...members].filter((name) => name !== ANY);
    if (named.length > 0 && !members.has(member) && (member !== '' || !members.has(ANY)))
      throw new RowProblem(
        row,
        `member is ${quoted(cell(row, 'member'))}: buyer_fees.csv has no such member`,
        `members there: ${named.join(', ')}`,
      );
  }
  if (row.table === 'exchange' && cell(row, 'from') === cell(row, 'to'))
    throw new RowProblem(row, 'from and to are the same currency');
  if (row.table !== 'targets') return;
  if (cell(row, 'market_source') === ANY) throw new RowProblem(row, 'market_source must name one source');
  if (has('market_source') !== has('market_country'))
    throw new RowProblem(row, 'market_source and market_country belong together');
  if (has('price') === has('market_source'))
    throw new RowProblem(
      row,
      has('price') ? 'it has both a price and a market' : 'it has neither a price nor a market',
    );
}

function checkDefault(rows: readonly CostRow[]): void {
  const names = new Set(rows.map((row) => plainName(cell(row, 'destination'))));
  const chosen = rows.filter((row) => cell(row, 'is_default') === 'yes');
  const [first] = chosen;
  const other = chosen.find(
    (row) => plainName(cell(row, 'destination')) !== plainName(cell(first ?? row, 'destination')),
  );
  if (other !== undefined) throw new RowProblem(other, `is_default is yes, as in line ${first?.line}`);
  const last = rows.at(-1);
  if (names.size > 1 && first === undefined && last !== undefined)
    throw new RowProblem(
      last,
      'none of the destinations is the default',
      'write yes in is_default of one of them',
    );
}

function checkPartNames(rows: readonly CostRow[]): void {
  const taken = new Map<string, CostTable>();
  for (const row of rows) {
    const column = Reflect.get(PART_NAMES, row.table) as string | undefined;
    if (column === undefined) continue;
    const name = plainName(cell(row, column));
    if (name.includes('+')) throw new RowProblem(row, `${column} has a +, which a base reads as a sum`);
    if ([...PARTS, 'taxes'].includes(name))
      throw new RowProblem(row, `${column} is ${quoted(name)}, which means all of a kind in a base`);
    const other = taken.get(name) ?? row.table;
    if (other !== row.table)
      throw new RowProblem(row, `${other}.csv has the name ${quoted(name)}, too, and a base would mean both`);
    taken.set(name, row.table);
  }
}

/** The parts that a base sums, as they are compared. */
export const baseOf = (row: CostRow): string[] =>
  cell(row, 'base') === '' ? [] : cell(row, 'base').split('+').map(plainName);

function checkTaxes(all: readonly CostRow[]): void {
  const rows = all.filter(({ table }) => table === 'taxes');
  const others = new Set<string>([
    ...PARTS,
    ...valuesIn(all, 'buyer_fees', 'fee'),
    ...valuesIn(all, 'charges', 'charge'),
  ]);
  for (const row of rows) {
    const needs = ['share', 'value_from', 'value_to'].find((column) => Number(cell(row, column)) > 0);
    if (needs !== undefined && baseOf(row).length === 0) throw new RowProblem(row, `${needs} needs a base`);
    const ofCountry = rows.filter((other) => cell(other, 'country') === cell(row, 'country'));
    const taxes = valuesIn(ofCountry, 'taxes', 'tax');
    const parts = baseOf(row);
    const unknown = parts.find((part) => !others.has(part) && !taxes.has(part));
    if (unknown !== undefined)
      throw new RowProblem(
        row,
        `base has ${quoted(unknown)}, which is no part${didYouMean(unknown, [...others, ...taxes])}`,
      );
    const twice = parts.find((part, i) => parts.indexOf(part) !== i);
    if (twice !== undefined) throw new RowProblem(row, `base has ${quoted(twice)} twice`);
    for (const [kind, table, column] of [
      ['fees', 'buyer_fees', 'fee'],
      ['charges', 'charges', 'charge'],
    ] as const) {
      const one = parts.find((part) => valuesIn(all, table, column).has(part));
      if (parts.includes(kind) && one !== undefined)
        throw new RowProblem(row, `base has both ${kind} and ${quoted(one)}, which is one of them`);
    }
    const before = ofCountry.filter(({ line }) => line <= row.line);
    if (reaches(plainName(cell(row, 'tax')), plainName(cell(row, 'tax')), before))
      throw new RowProblem(row, `base of the tax ${quoted(cell(row, 'tax'))} leads back to itself`);
  }
}

/** Whether the base of a tax leads to a tax, through others. */
function reaches(from: string, to: string, rows: readonly CostRow[], path: readonly string[] = []): boolean {
  if (path.includes(from)) return false;
  const bases = rows.filter((row) => plainName(cell(row, 'tax')) === from).flatMap(baseOf);
  return bases.includes(to) || bases.some((next) => reaches(next, to, rows, [...path, from]));
}
