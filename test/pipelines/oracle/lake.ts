/** Reads a published lake in the form of the model, and compares the two. */
import { join } from 'node:path';
import { expect } from 'vitest';
import type { bareDuckDb } from '../support.js';
import { type Knowledge, MODELLED, type Modelled, type Row, type Rows, type Values } from './knowledge.js';

type Duck = Awaited<ReturnType<typeof bareDuckDb>>;

const ARCHIVED = ['archived', 'archived_at', 'archived_by', 'last_seen_at'];
const GONE = ['gone_at'];
const REPORT = ['domain_id', 'listing_id', 'report_id'];

/** Key, content and state of each table, by column. */
const COLUMNS: Readonly<Record<Modelled, readonly [key: string[], content: string[], state: string[]]>> = {
  vehicles: [['vehicle_id'], ['title', 'year'], ARCHIVED],
  lots: [
    ['lot_id'],
    [
      ...['vehicle_id', 'domain_id', 'lot', 'position', 'status_id', 'bid', 'buy_now', 'final_bid'],
      ...['seller_reserve_price', 'sale_date', 'odometer_km', 'odometer_mi', 'location_country_iso'],
      ...['location_state_code', 'location_city_name', 'location_location_name', 'created_at'],
    ],
    ARCHIVED,
  ],
  prices: [
    ['lot_id', 'price_id'],
    ['vehicle_id', 'domain_id', 'position', 'status_id', 'bid', 'sale_date'],
    GONE,
  ],
  lot_images: [['lot_id'], ['vehicle_id', 'domain_id', 'images_id', 'small'], []],
  listings: [['vehicle_id', 'position'], ['has_history_reports'], GONE],
  inspections: [REPORT, ['vehicle_id', 'position', 'language'], GONE],
  checked_items: [[...REPORT, 'position'], ['vehicle_id', 'part_key'], GONE],
  history_reports: [REPORT, ['vehicle_id', 'position', 'language'], GONE],
  archived_lots: [
    ['lot_id', 'archived_at'],
    ['vehicle_id', 'domain_id', 'bid', 'status_id', 'sale_date', 'final_bid'],
    [],
  ],
};

const CHANGE = ['lot_id', 'vehicle_id', 'domain_id', 'field', 'old_value', 'new_value', 'seen_at'];
const REJECT = [
  ...['list', 'page', 'position', 'record_id', 'path'],
  'case when table_name is not null then raw end as raw',
];

const SIGHTING = ['vehicle_id', 'lot_id', 'seen_at', 'seen_by', 'rejected_at'];

const INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/;

/** A stored value as the model writes it: instants as ISO texts. */
function plain(value: unknown): unknown {
  if (typeof value !== 'string' || !INSTANT.test(value)) return value;
  return new Date(value.replace(' ', 'T').replace('+00', 'Z')).toISOString();
}

/** Everything in a lake that the model follows. Fails if a key occurs twice. */
export async function readKnowledge(duck: Duck, output: string): Promise<Knowledge> {
  const read = async (table: string, columns: readonly string[]): Promise<Values[]> => {
    const glob = join(output, 'lake', 'current', table, '**', '*.parquet');
    const rows = await duck.query(`select ${columns.join(', ')} from '${glob}'`);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
    );
  };
  const tables: [string, Rows][] = [];
  for (const table of MODELLED) {
    const columns = [...COLUMNS[table].flat(), 'rejected', 'first_seen_at', 'changed_at'];
    const rows = (await read(table, columns)).map((row) => [keyOf(table, row), rowOf(table, row)] as const);
    expect(new Set(rows.map(([key]) => key)).size, `keys of ${table}`).toBe(rows.length);
    tables.push([table, new Map(rows)]);
  }
  return {
    tables: Object.fromEntries(tables) as Record<Modelled, Rows>,
    lotChanges: await read('lot_changes', CHANGE),
    rejects: await read('rejects', REJECT),
    sightings: new Map((await read('sightings', SIGHTING)).map(sightingOf)),
  };
}

const sightingOf = ({ vehicle_id, lot_id, ...seen }: Values): readonly [string, Values] => [
  lot_id === null ? `vehicle ${vehicle_id}` : `lot ${lot_id}`,
  seen,
];

const sorted = (values: ReadonlyMap<string, Values>): object =>
  Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)));

const keyOf = (table: Modelled, row: Values): string =>
  COLUMNS[table][0].map((name) => String(row[name])).join(' ');

const chosen = (row: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, row[name]]));

function rowOf(table: Modelled, row: Values): Row {
  const [key, content, state] = COLUMNS[table];
  return {
    content: chosen(row, [...key, ...content]),
    state: chosen(row, state),
    rejected: [row.rejected ?? []]
      .flat()
      .map(String)
      .filter((name) => content.includes(name)),
    first_seen_at: String(row.first_seen_at),
    changed_at: String(row.changed_at),
  };
}

/** Expects a lake to hold exactly what the model says. */
export function expectKnowledge(actual: Knowledge, known: Knowledge): void {
  for (const table of MODELLED) expect(flat(actual.tables[table]), table).toEqual(flat(known.tables[table]));
  expect(inOrder(actual.lotChanges), 'lot_changes').toEqual(inOrder(known.lotChanges.map(asText)));
  expect(inOrder(actual.rejects), 'rejects').toEqual(inOrder(known.rejects));
  expect(sorted(actual.sightings), 'sightings').toEqual(sorted(known.sightings));
}

const flat = (rows: Rows): object =>
  Object.fromEntries(
    [...rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { content, state, ...history }]) => [key, { ...content, ...state, ...history }]),
  );

/** The values before and after are texts. Amounts keep their fraction. */
function asText(change: Values): Values {
  const isMoney = ['bid', 'buy_now', 'final_bid', 'seller_reserve_price'].includes(String(change.field));
  const text = (value: unknown): string | null =>
    value === null ? null : isMoney ? Number(value).toFixed(1) : String(value);
  return { ...change, old_value: text(change.old_value), new_value: text(change.new_value) };
}

const inOrder = (rows: readonly Values[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
