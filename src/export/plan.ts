import type { DuckDBConnection } from '@duckdb/node-api';
import { messageOf } from '../config/lotlake-error.js';
import { didYouMean, nearest } from '../config/nearest.js';
import type { ColumnEntry, TableEntry } from '../docs/dictionary.js';
import { identifier } from '../duck/session.js';
import type { Manifest } from '../lake/manifest.js';
import { ShareError } from '../query/share-error.js';
import { compatColumn } from './compat.js';
import { checkCondition, whereClause } from './condition.js';
import type { DataFile } from './data-files.js';
import type { ExportRequest } from './request.js';

/** One table of an export: what it holds, and the query that gives its rows. */
export interface TablePlan {
  readonly name: string;
  readonly description: string;
  readonly grain: string;
  /** Columns that tell rows apart; empty if not all of them are exported. */
  readonly key: readonly string[];
  /** Columns with the types that they have in the export. */
  readonly columns: readonly ColumnEntry[];
  readonly sql: string;
}

/** What the pages of an export tell of it. */
export interface ExportFacts {
  readonly request: ExportRequest;
  /** Of the snapshot that is exported. */
  readonly manifest: Manifest;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Version of lotlake. */
  readonly version: string;
}

/** A table of an export with its data files. */
export interface ExportedTable {
  readonly plan: TablePlan;
  readonly files: readonly DataFile[];
}

/**
 * Plans every table of an export. Throws ShareError where a table or a column is not there, or where the condition is
 * not one expression over the table.
 * @param entries tables and marts of the snapshot
 * @param connection a session over the snapshot, with a view for each table that is asked for
 */
export async function planExport(
  request: ExportRequest,
  entries: readonly TableEntry[],
  connection: DuckDBConnection,
): Promise<TablePlan[]> {
  const plans: TablePlan[] = [];
  for (const table of request.tables) {
    const entry = entries.find(({ name }) => name === table);
    if (entry === undefined)
      throw unknownName('SHARE_NO_TABLE', 'there is no table', table, entries, 'lotlake tables');
    if (request.where !== undefined) await checkCondition(connection, table, request.where);
    const plan = planTable(request, entry, chosenColumns(entry, request.columns));
    await checkBinds(connection, plan);
    plans.push(plan);
  }
  return plans;
}

function planTable(request: ExportRequest, entry: TableEntry, columns: readonly ColumnEntry[]): TablePlan {
  const selected = columns.map((column) =>
    request.profile === 'compat' ? compatColumn(column) : { column, sql: identifier(column.name) },
  );
  const names = new Set(columns.map(({ name }) => name));
  return {
    name: entry.name,
    description: entry.description,
    grain: entry.grain,
    key: entry.key.every((name) => names.has(name)) ? entry.key : [],
    columns: selected.map(({ column }) => column),
    sql: `select ${selected.map(({ sql }) => sql).join(', ')} from ${identifier(entry.name)}${whereClause(request.where)}`,
  };
}

function chosenColumns(entry: TableEntry, wanted: readonly string[] | undefined): readonly ColumnEntry[] {
  if (wanted === undefined) return entry.columns;
  return [...new Set(wanted.map((each) => each.toLowerCase()))].map((name) => {
    const column = entry.columns.find((candidate) => candidate.name === name);
    if (column !== undefined) return column;
    const [message, command] = [`${entry.name} has no column`, `lotlake describe ${entry.name}`];
    throw unknownName('SHARE_NO_COLUMN', message, name, entry.columns, command);
  });
}

/** An error for a name that is none of those that there are, with the ones that are most like it. */
function unknownName(
  code: 'SHARE_NO_TABLE' | 'SHARE_NO_COLUMN',
  message: string,
  name: string,
  known: readonly { readonly name: string }[],
  command: string,
): ShareError {
  const names = known.map((each) => each.name);
  return new ShareError(code, `${message} ${name}${didYouMean(name, names)}`, {
    outcome: 'usage',
    hint: `the nearest names are ${nearest(name, names).join(', ')}; ${command} lists all`,
  });
}

/** DuckDB's own message names the columns that are most like one that is missing. */
async function checkBinds(connection: DuckDBConnection, plan: TablePlan): Promise<void> {
  try {
    (await connection.prepare(plan.sql)).destroySync();
  } catch (error) {
    throw new ShareError('SHARE_QUERY', messageOf(error), {
      cause: error,
      outcome: 'usage',
      hint: `lotlake describe ${plan.name} lists the columns`,
    });
  }
}
