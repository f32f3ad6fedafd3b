/**
 * Nights of a small world, reconciled by the rules alone: no service, no landing, no files. A night takes a tenth of a
 * second, so that stories in which hundreds of lots leave the feed can be told with every change.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier, literal, type Row, rows } from '../../src/base/duck/session.js';
import type { Column, TableSchema } from '../../src/core/lake/schema.js';
import { RECEIPT_BITS, REJECT_COLUMNS } from '../../src/core/lake/staged.js';
import { guardShrink } from '../../src/core/reconcile/merge-staged.js';
import { applyRules, ruleOf } from '../../src/core/reconcile/rules.js';
import {
  bindCounted,
  createSchemas,
  MEMBERS,
  OF_RULES,
  RUN_RELATIONS,
  stagedColumns,
} from '../../src/core/reconcile/state.js';
import type { Evidence, Knowledge, Values } from '../pipelines/oracle/knowledge.js';
import { lotContent } from '../pipelines/oracle/rows.js';
import { columnsOf, SIGHTINGS } from './play.js';

/** What a night is made from: the last state, what the pass delivered, and the records that came unchanged. */
export interface Night {
  readonly run: string;
  /** When the run began; after the pass, if it resumes one that an earlier run began. */
  readonly startedAt: string;
  readonly known: Knowledge;
  /** Run that last changed each row, by `lot 5` and `vehicle 7`. */
  readonly runs: ReadonlyMap<string, string>;
  readonly evidence: Evidence;
  readonly allowShrink: boolean;
  /** Text of the record that each row was made from, by vehicle; a record that came with the same text is not staged. */
  readonly fingerprints: ReadonlyMap<number, string>;
}

/** What the rules make of a night: the state of each lot and vehicle, and when each was seen; `held` by the guard. */
export type Reconciled =
  | { readonly held: true }
  | {
      readonly held: false;
      readonly states: Readonly<Record<string, Values>>;
      readonly runs: ReadonlyMap<string, string>;
      readonly fingerprints: ReadonlyMap<number, string>;
    };

/** Creates a table with rows given by column; columns that a row lacks are null. */
async function put(
  connection: DuckDBConnection,
  table: string,
  columns: readonly Column[],
  given: readonly Values[],
): Promise<void> {
  const typed = columns.map(({ name, type }) => `${identifier(name)} ${type}`);
  await connection.run(`create or replace table ${table} (${typed})`);
  const used = columns.filter(({ name }) => given.some((row) => name in row));
  if (used.length === 0) return;
  const shape = JSON.stringify([Object.fromEntries(used.map(({ name, type }) => [name, type]))]);
  const names = used.map(({ name }) => identifier(name));
  await connection.run(
    `insert into ${table} (${names}) select ${names} from (select unnest(from_json(${literal(JSON.stringify(given))}, ${literal(shape)}), recursive := true))`,
  );
}

const STATE = ['archived', 'archived_at', 'archived_by', 'last_seen_at'];

/** The rows of a table as the last state has them. */
function storedRows({ known, runs }: Night, table: 'lots' | 'vehicles'): Values[] {
  return [...known.tables[table]].map(([key, { content, state }]) => ({
    ...content,
    ...state,
    run_id: runs.get(`${table.slice(0, -1)} ${key}`),
  }));
}

/** Binds what the rules read, each record on a page of its own. */
async function bind(connection: DuckDBConnection, all: readonly TableSchema[], night: Night): Promise<void> {
  const { evidence, known, fingerprints, run, startedAt } = night;
  const { seenAt, kind, provesAbsence, sources, hidden, unproven, guard } = evidence;
  const place = columnsOf('_domain varchar, _month varchar');
  const came = evidence.delivered.map((receipt, page) => ({
    ...receipt,
    seq: page * 2 ** RECEIPT_BITS,
    text: JSON.stringify(receipt.vehicle),
  }));
  // A lookup is loaded whole.
  const staged = came.filter(
    ({ vehicle, text }) => kind === 'lookup' || fingerprints.get(vehicle.id) !== text,
  );
  const unchanged = came.filter((each) => !staged.includes(each));
  const lots = staged.flatMap(({ vehicle, seq }) =>
    (vehicle.lots ?? []).map((lot, i) => ({
      ...lotContent(vehicle, { ...lot, position: i + 1 }),
      ...{
        _archived: lot.archived ?? (lot.archived_at ? true : null),
        _archived_at: lot.archived_at ?? null,
      },
      _seq: seq,
    })),
  );
  const given = {
    lots,
    vehicles: staged.map(({ vehicle, seq }) => ({ vehicle_id: vehicle.id, _seq: seq })),
    archived_lots: evidence.archive.map(({ lot_id, archived_at }) => ({ lot_id, archived_at })),
  };
  await createSchemas(connection);
  for (const schema of all.filter(({ table }) => OF_RULES.has(table.name))) {
    const name = schema.table.name as keyof typeof given;
    const stored = name === 'archived_lots' ? [] : storedRows(night, name);
    await put(connection, `base.${name}`, [...schema.columns, ...place], stored);
    await put(connection, `stage.${name}`, stagedColumns(schema), given[name]);
  }
  await put(
    connection,
    'stage.vehicle_members',
    columnsOf(MEMBERS.vehicle_members),
    staged.map(({ vehicle, seq }) => ({
      vehicle_id: vehicle.id,
      lots: (vehicle.lots ?? null) !== null,
      _seq: seq,
    })),
  );
  await put(connection, 'stage.lot_members', columnsOf(MEMBERS.lot_members), []);
  const sightings = [...known.sightings].map(([key, seen]) => {
    const [what, id = ''] = key.split(' ');
    const vehicle = what === 'lot' ? known.tables.lots.get(id)?.content.vehicle_id : Number(id);
    return { ...seen, vehicle_id: vehicle, lot_id: what === 'lot' ? Number(id) : null };
  });
  await put(connection, 'base.sightings', SIGHTINGS, sightings);
  const facts = {
    ...{
      run_id: run,
      seen_at: seenAt,
      kind,
      // No record of a story comes from the future.
      ended_at: '2100-01-01T00:00:00Z',
      is_resumed: seenAt < startedAt,
      is_from_feed: kind !== 'lookup',
      is_carried: false,
    },
    ...{ proves_absence: provesAbsence, asks_all_sources: sources === undefined, shrink_guard: guard },
  };
  const ids = (list: readonly number[] = []) => list.map((domain_id) => ({ domain_id }));
  const relations: Readonly<Record<keyof typeof RUN_RELATIONS, readonly Values[]>> = {
    facts: [facts],
    ...{ sources: ids(sources), hidden_sources: ids(hidden), complete_streams: [] },
    unproven: unproven.map(([low, high]) => ({ low, high })),
    repeated_rows: [],
    unchanged_records: unchanged.map(({ vehicle, seq }) => ({ vehicle_id: vehicle.id, seq })),
  };
  for (const [name, text] of Object.entries(RUN_RELATIONS))
    await put(connection, `run.${name}`, columnsOf(text), relations[name as keyof typeof RUN_RELATIONS]);
  await put(connection, 'run.rejects', REJECT_COLUMNS, rejectsOf(evidence));
  for (const name of ['inspections', 'history_reports'])
    await put(connection, `next.${name}`, all.find(({ table }) => table.name === name)?.columns ?? [], []);
}

/** Records that were rejected whole, as far as rules read them. */
const rejectsOf = ({ rejected, rejectedLots }: Evidence): Values[] =>
  [...rejected].map((id, i) => ({
    ...{ stream: 'cars', record_id: String(id), path: '' },
    raw: JSON.stringify({ id, lots: i === 0 ? [...rejectedLots].map((lot) => ({ id: lot })) : [] }),
  }));

/** Reconciles a night by the rules of `sql/reconcile`, in the order in which a run applies them. */
export async function reconcileNight(
  connection: DuckDBConnection,
  all: readonly TableSchema[],
  night: Night,
): Promise<Reconciled> {
  const { allowShrink } = night;
  await bind(connection, all, night);
  const rules = all.filter(({ table }) => OF_RULES.has(table.name));
  await applyRules(connection, 'overtaken_vehicles', 'unchanged_vehicles', 'returned_vehicles');
  await applyRules(connection, 'lot_claims', 'rejected_vehicles', 'rejected_lots');
  await bindCounted(connection, rules);
  await applyRules(connection, 'vehicle_sightings', 'lot_sightings');
  await connection.run(
    'create table next.sightings as from run.vehicle_sightings union all from run.lot_sightings',
  );
  await applyRules(connection, 'archive_feed', 'absent_lots', 'shrink');
  const { guard: shrinkGuard } = night.evidence;
  const outcome = await guardShrink({ connection, shrinkGuard, allowShrink }).then(() => 'passed', String);
  if (outcome !== 'passed') return { held: true };
  const lots = await merge(connection, all, night, 'lots');
  await applyRules(connection, 'lots_of_vehicles');
  const vehicles = await merge(connection, all, night, 'vehicles');
  const seen = await rows(connection, 'from next.sightings');
  const sightings = seen.map(({ lot_id, vehicle_id, seen_at, seen_by, rejected_at }): [string, Values] => [
    `seen: ${lot_id === null ? `vehicle ${vehicle_id}` : `lot ${lot_id}`}`,
    { seen_at: instant(seen_at), seen_by, rejected_at: instant(rejected_at) },
  ]);
  return {
    held: false,
    states: Object.fromEntries([...lots.states, ...vehicles.states, ...sightings]),
    runs: new Map([...night.runs, ...lots.runs, ...vehicles.runs]),
    fingerprints: await fingerprintsAfter(connection, night),
  };
}

/** The new rows of lots or vehicles, bound as `next`: delivered ones, ended ones, and the others as they were. */
async function merge(
  connection: DuckDBConnection,
  all: readonly TableSchema[],
  night: Night,
  table: 'lots' | 'vehicles',
) {
  const what = table.slice(0, -1);
  const key = `${what}_id`;
  await applyRules(connection, `delivered_${table}`, `ended_${table}`);
  const stored = new Map(storedRows(night, table).map((row) => [String(row[key]), row]));
  const next = new Map(stored);
  const runs = new Map<string, string>();
  const change = (row: Row, content: Values): void => {
    const id = String(row[key]);
    const state = stateOf(row);
    const before = stored.get(id);
    const after = { ...before, ...content, ...state };
    const isChanged =
      before === undefined || Object.entries(after).some(([name, value]) => !isSame(before[name], value));
    next.set(id, { ...after, run_id: isChanged ? night.run : before?.run_id });
    if (isChanged) runs.set(`${what} ${id}`, night.run);
  };
  const delivered = new Map(
    night.evidence.delivered.flatMap(({ vehicle }): [string, Values][] =>
      table === 'vehicles'
        ? [[String(vehicle.id), { vehicle_id: vehicle.id, title: vehicle.title, year: vehicle.year }]]
        : (vehicle.lots ?? []).map((lot, i) => [
            `${vehicle.id} ${lot.id}`,
            lotContent(vehicle, { ...lot, position: i + 1 }),
          ]),
    ),
  );
  for (const row of await rows(connection, `from run.delivered_${table}`))
    change(
      row,
      delivered.get(table === 'vehicles' ? String(row.vehicle_id) : `${row.vehicle_id} ${row.lot_id}`) ?? {},
    );
  for (const row of await rows(connection, `from run.ended_${table}`)) change(row, {});
  const columns = all.find((schema) => schema.table.name === table)?.columns ?? [];
  await put(connection, `next.${table}`, columns, [...next.values()]);
  const states = [...next].map(([id, row]): [string, Values] => [
    `${what} ${id}`,
    { ...stateOf(row), vehicle_id: row.vehicle_id, domain_id: row.domain_id ?? null },
  ]);
  return { states, runs };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

const instant = (value: unknown): unknown =>
  value === null || value === undefined ? null : new Date(String(value)).toISOString();

/** State of a row, with instants as the model writes them. */
const stateOf = (row: Values): Values =>
  Object.fromEntries(
    STATE.map((name) => [name, name.endsWith('_at') ? instant(row[name]) : (row[name] ?? null)]),
  );

/** The records that the next night need not stage, if they come with the same text. */
async function fingerprintsAfter(connection: DuckDBConnection, { evidence, fingerprints }: Night) {
  const idsOf = async (rule: string) =>
    new Set((await rows(connection, ruleOf(rule).sql)).map(({ vehicle_id }) => Number(vehicle_id)));
  const [stale, unsettled] = [await idsOf('stale_vehicles'), await idsOf('unsettled_vehicles')];
  const kept = [...fingerprints].filter(([id]) => !stale.has(id));
  const loaded = evidence.kind === 'lookup' ? [] : evidence.delivered;
  const added = loaded
    .map(({ vehicle }): [number, string] => [vehicle.id, JSON.stringify(vehicle)])
    .filter(([id, text]) => !unsettled.has(id) && fingerprints.get(id) !== text);
  return new Map([...kept, ...added]);
}
