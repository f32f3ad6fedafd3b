import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier, literal, rows } from '../../src/base/duck/session.js';
import type { Column, TableSchema } from '../../src/core/lake/schema.js';
import { REJECT_COLUMNS } from '../../src/core/lake/staged.js';
import { type Rule, readsOf, rules } from '../../src/core/reconcile/rules.js';
import {
  bindCounted,
  createSchemas,
  ESTIMATES,
  MEMBERS,
  OF_RULES,
  RUN_RELATIONS,
  stagedColumns,
} from '../../src/core/reconcile/state.js';

/**
 * Each folder `<rule>/<case>` is a case. The folders `base`, `stage`, `next` and `run` have CSV files with the input of
 * the rule, and `expected.csv` has the rows of `run.<rule>`. A file may leave out columns. A relation without a file is
 * empty. `run/<rule>.csv` replaces the result of an earlier rule. `compared.csv` and `delivering_owners.csv` are input
 * of the rule `actions`.
 */
export const FOLDER = dirname(fileURLToPath(import.meta.url));

export const SIGHTINGS = columnsOf(
  'vehicle_id bigint, lot_id bigint, seen_at timestamptz, seen_by varchar, rejected_at timestamptz, run_id varchar',
);
const COMPARED = columnsOf(
  'id bigint, _new_hash ubigint, _old_hash ubigint, _new_note uinteger, _old_note uinteger, _was_gone boolean, _owner_id bigint, _source_id bigint',
);

/** What the run knows unless a case says otherwise: a full pass over all sources that proves absence. */
const FACTS =
  "'run-2', '2026-11-20 02:00:00+00', '2026-11-20 04:00:00+00', 'full', false, true, true, true, 0.2, false";

export function columnsOf(text: string): Column[] {
  return text.split(', ').map((column) => {
    const [name = '', type = ''] = column.split(' ');
    return { name, type };
  });
}

/** Inserts the rows of a CSV file into a table. Columns that the file leaves out are null. */
async function fill(
  connection: DuckDBConnection,
  table: string,
  columns: readonly Column[],
  file: string,
  others = 'null',
): Promise<void> {
  await connection.run(
    `create table ${table} (${columns.map(({ name, type }) => `${identifier(name)} ${type}`)})`,
  );
  if (!existsSync(file)) return;
  const [header = ''] = readFileSync(file, 'utf8').split(/\r?\n/, 1);
  const given = header.split(',');
  const unknown = given.filter((name) => !columns.some((column) => column.name === name));
  if (unknown.length > 0) throw new Error(`${file}: ${table} has no ${unknown.join(', ')}`);
  const defaults = others === 'null' ? [] : others.split(', ');
  const selected = columns.map(({ name }, i) =>
    given.includes(name) ? identifier(name) : (defaults[i] ?? 'null'),
  );
  const types = given.map((name) => `${literal(name)}: 'varchar'`);
  // If all columns are named, DuckDB need not detect the format of the file.
  const options = `columns = {${types}}, header = true, auto_detect = false, quote = '"', escape = '"', delim = ',', allow_quoted_nulls = false`;
  await connection.run(`insert into ${table} select ${selected} from read_csv(${literal(file)}, ${options})`);
}

/** A rule and the rules that it depends on, in order. */
function chapterOf(rule: Rule): readonly Rule[] {
  const needed = new Set<Rule>();
  const need = (each: Rule): void => {
    if (needed.has(each)) return;
    const names = readsOf(each);
    for (const other of rules.filter(({ name }) => names.includes(name))) need(other);
    needed.add(each);
  };
  need(rule);
  return [...needed];
}

/**
 * Loads the input of a case, and computes its rule and the rules that it depends on.
 * @param all tables of the streams that rules decide on
 */
export async function play(
  connection: DuckDBConnection,
  all: readonly TableSchema[],
  folder: string,
  rule: Rule,
): Promise<void> {
  const schemas = all.filter(({ table }) => OF_RULES.has(table.name));
  await createSchemas(connection);
  const csv = (name: string): string => join(folder, `${name}.csv`);
  for (const schema of schemas) {
    const { name, partition } = schema.table;
    const place = partition === undefined ? [] : columnsOf('_domain varchar, _month varchar');
    await fill(connection, `base.${name}`, [...schema.columns, ...place], csv(`base/${name}`));
    await fill(connection, `stage.${name}`, stagedColumns(schema), csv(`stage/${name}`));
  }
  for (const [name, text] of Object.entries(MEMBERS))
    await fill(connection, `stage.${name}`, columnsOf(text), csv(`stage/${name}`));
  for (const name of ['lots', 'vehicles', 'inspections', 'history_reports']) {
    const columns = all.find(({ table }) => table.name === name)?.columns ?? [];
    await fill(connection, `next.${name}`, columns, csv(`next/${name}`));
  }
  await fill(connection, 'base.price_estimates', columnsOf(ESTIMATES), csv('base/price_estimates'));
  for (const state of ['base', 'next'])
    await fill(connection, `${state}.sightings`, SIGHTINGS, csv(`${state}/sightings`));
  for (const [name, text] of Object.entries(RUN_RELATIONS))
    await fill(
      connection,
      `run.${name}`,
      columnsOf(text),
      csv(`run/${name}`),
      name === 'facts' ? FACTS : 'null',
    );
  if (!existsSync(csv('run/facts'))) await connection.run(`insert into run.facts values (${FACTS})`);
  await fill(connection, 'run.rejects', REJECT_COLUMNS, csv('run/rejects'));
  await fill(
    connection,
    'run.actions_lots',
    columnsOf('lot_id bigint, _action varchar'),
    csv('run/actions_lots'),
  );
  await connection.run('drop table if exists compared; drop table if exists delivering_owners');
  await fill(connection, 'compared', COMPARED, csv('compared'));
  await fill(connection, 'delivering_owners', columnsOf('owner_id bigint'), csv('delivering_owners'));
  let isBound = false;
  for (const each of chapterOf(rule)) {
    if (!isBound && each.sql.includes('counted.')) {
      await bindCounted(connection, schemas);
      isBound = true;
    }
    await connection.run(`create or replace ${each.kind} run.${each.name} as ${each.sql}`);
    const given = csv(`run/${each.name}`);
    if (!existsSync(given)) continue;
    const described = await rows(connection, `describe run.${each.name}`);
    await connection.run(`drop ${each.kind} run.${each.name}`);
    const columns = described.map((row) => ({
      name: String(row.column_name),
      type: String(row.column_type),
    }));
    await fill(connection, `run.${each.name}`, columns, given);
  }
}
