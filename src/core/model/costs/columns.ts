import { sources } from '../../../base/config/settings.js';

/** What a cell may hold; a column whose kind has a `?` may be empty. */
type Kind =
  /** A name that the table makes. */
  | 'name'
  /** A name, or `*` for all that no other row names. */
  | 'any'
  /** A code. */
  | 'country'
  | 'currency'
  /** A name of a list, see NAMES, or `*`. */
  | 'source'
  | 'title'
  | 'damage'
  | 'state'
  | 'vehicle_type'
  | 'body_type'
  | 'fuel'
  /** A number of at most two decimals. */
  | 'amount'
  /** A number of at most six decimals. */
  | 'number'
  /** A number from 0 to 1 of at most six decimals. */
  | 'share'
  /** A number above 0 of at most eight decimals. */
  | 'rate'
  | 'whole'
  | 'year'
  | 'day'
  | 'flag'
  | 'base'
  | 'text';

/** A table of costs: its columns, and what makes its rows one of a kind. */
interface Table {
  readonly columns: Readonly<Record<string, Kind | `${Kind}?`>>;
  /** Columns of which each pair of values is a series of its own, such as a fee. */
  readonly series: readonly string[];
  /** Columns by whose names the rows of a series are chosen, the first one first. */
  readonly keys: readonly string[];
  /** Names of the bands within rows of the same names: `x` has the columns x_from and x_to, and '' the columns from and to. */
  readonly bands: readonly string[];
}

const VALID = { valid_from: 'day?', valid_to: 'day?', note: 'text?' } as const;

/** The tables of costs, as docs/ask/costs.md describes them. */
export const COST_TABLES = {
  destinations: {
    columns: {
      destination: 'name',
      country: 'country',
      currency: 'currency',
      arrives: 'name?',
      member: 'name?',
      is_default: 'flag?',
      ...VALID,
    },
    series: ['destination'],
    keys: [],
    bands: [],
  },
  buyer_fees: {
    columns: {
      fee: 'name',
      source: 'source',
      member: 'any',
      title: 'title',
      from: 'amount?',
      to: 'amount?',
      fixed: 'amount?',
      share: 'share?',
      minimum: 'amount?',
      currency: 'currency',
      ...VALID,
    },
    series: ['fee'],
    keys: ['source', 'member', 'title'],
    bands: [''],
  },
  charges: {
    columns: {
      charge: 'name',
      source: 'source',
      destination: 'any',
      size: 'any',
      amount: 'amount',
      currency: 'currency',
      ...VALID,
    },
    series: ['charge'],
    keys: ['source', 'destination', 'size'],
    bands: [],
  },
  inland: {
    columns: {
      source: 'source',
      branch: 'any',
      postal: 'any',
      state: 'state',
      to: 'name',
      size: 'any',
      amount: 'amount',
      currency: 'currency',
      ...VALID,
    },
    series: ['to'],
    keys: ['branch', 'postal', 'state', 'source', 'size'],
    bands: [],
  },
  ocean: {
    columns: {
      from: 'name',
      to: 'name',
      size: 'any',
      amount: 'amount',
      currency: 'currency',
      ...VALID,
    },
    series: ['from', 'to'],
    keys: ['size'],
    bands: [],
  },
  sizes: {
    columns: { vehicle_type: 'vehicle_type', body_type: 'body_type', size: 'name', ...VALID },
    series: [],
    keys: ['vehicle_type', 'body_type'],
    bands: [],
  },
  taxes: {
    columns: {
      country: 'country',
      tax: 'name',
      fuel: 'fuel',
      age_from: 'whole?',
      age_to: 'whole?',
      cm3_from: 'whole?',
      cm3_to: 'whole?',
      value_from: 'amount?',
      value_to: 'amount?',
      base: 'base?',
      fixed: 'amount?',
      share: 'share?',
      per_cm3: 'number?',
      per_cm3_year: 'number?',
      minimum: 'amount?',
      minimum_per_cm3: 'number?',
      currency: 'currency',
      ...VALID,
    },
    series: ['country', 'tax'],
    keys: ['fuel'],
    bands: ['age', 'cm3', 'value'],
  },
  exchange: {
    columns: { day: 'day', from: 'currency', to: 'currency', rate: 'rate', note: 'text?' },
    series: ['day', 'from', 'to'],
    keys: [],
    bands: [],
  },
  targets: {
    columns: {
      destination: 'any',
      make: 'any',
      model: 'any',
      year_from: 'year?',
      year_to: 'year?',
      price: 'amount?',
      market_source: 'source?',
      market_country: 'country?',
      margin: 'amount?',
      margin_share: 'share?',
      currency: 'currency',
      ...VALID,
    },
    series: [],
    keys: ['destination', 'make', 'model'],
    bands: ['year'],
  },
  /** What repair takes, for the report alone: no total has it. */
  repairs: {
    columns: {
      damage: 'damage',
      title: 'title',
      size: 'any',
      amount: 'amount',
      currency: 'currency',
      ...VALID,
    },
    series: [],
    keys: ['damage', 'title', 'size'],
    bands: [],
  },
} as const satisfies Readonly<Record<string, Table>>;

/** Name of a table of costs, which is its file without `.csv`. */
export type CostTable = keyof typeof COST_TABLES;

export const costTables = Object.keys(COST_TABLES) as CostTable[];

/** A table with its members as the widest types, for code over all tables. */
export const tableOf = (name: CostTable): Table => COST_TABLES[name];

/** A row of a table of costs: where it stands, and its cells as texts. */
export interface CostRow {
  readonly table: CostTable;
  /** Line in its file; the names of the columns are in line 1. */
  readonly line: number;
  /** The cells by column, trimmed; '' if empty. */
  readonly values: Readonly<Record<string, string>>;
}

/** A cell; '' for a column that the row does not have. */
export const cell = ({ values }: CostRow, column: string): string => values[column] ?? '';

/** Where a row stands, such as `buyer_fees.csv:12`. */
export const placeOf = ({ table, line }: Pick<CostRow, 'table' | 'line'>): string => `${table}.csv:${line}`;

/** The name that stands for all others. */
export const ANY = '*';

/** A name as names are compared. */
export const plainName = (name: string): string => name.trim().toLowerCase();

/** The number of a source that a row names by number or name; `*` as it is. */
export const sourceOf = (name: string): string => {
  const plain = plainName(name);
  return Object.entries(sources).find(([, known]) => known === plain)?.[0] ?? plain;
};
