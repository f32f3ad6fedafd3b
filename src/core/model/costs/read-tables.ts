import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseCsv } from 'hucre/csv';
import { quoted } from '../../../base/config/folder.js';
import { ConfigError } from '../../../base/config/lotlake-error.js';
import { literal } from '../../../base/duck/session.js';
import { checkCell } from './check-cell.js';
import { checkRows } from './check-rows.js';
import { COST_TABLES, type CostRow, type CostTable, cell, costTables, tableOf } from './columns.js';

/** Most bytes of a table. */
const LARGEST = 20_000_000;

/**
 * Reads and checks the tables of costs in a folder (docs/ask/costs.md). Throws ConfigError with the file, the line and the reason for
 * the first thing that cannot be used.
 */
export function readCosts(folder: string): readonly CostRow[] {
  if (!existsSync(folder)) throw new ConfigError(`costs: there is no folder ${folder}`);
  const files = readdirSync(folder).filter((file) => !file.startsWith('.'));
  const known = costTables.map((table) => `${table}.csv`);
  const unknown = files.find((file) => !known.includes(file));
  if (unknown !== undefined)
    throw new ConfigError(
      `costs: ${join(folder, unknown)} is no table of costs`,
      `tables there: ${known.join(', ')}`,
    );
  if (!files.includes('destinations.csv'))
    throw new ConfigError(
      `costs: ${join(folder, 'destinations.csv')} is missing`,
      'each yard that cars come to has a row there; lotlake init --costs writes an example',
    );
  const rows = costTables
    .filter((table) => files.includes(`${table}.csv`))
    .flatMap((table) => readTable(join(folder, `${table}.csv`), table));
  checkRows(rows, folder);
  return rows;
}

/** Types of the columns of `cost_rows`. */
const TYPES = {
  cost_row: 'BIGINT',
  table_name: 'VARCHAR',
  line: 'BIGINT',
  valid_from: 'DATE',
  valid_to: 'DATE',
  note: 'VARCHAR',
  cells: 'VARCHAR',
};

/** The SELECT of `cost_rows` with rows of tables of costs. */
export function costRowsSql(rows: readonly CostRow[]): string {
  const orNull = (text: string): string | null => (text === '' ? null : text);
  const shown = rows.map((row, i) => ({
    cost_row: i + 1,
    table_name: row.table,
    line: row.line,
    valid_from: orNull(cell(row, row.table === 'exchange' ? 'day' : 'valid_from')),
    valid_to: orNull(cell(row, 'valid_to')),
    note: orNull(cell(row, 'note')),
    cells: JSON.stringify(row.values),
  }));
  return `select unnest(from_json(${literal(JSON.stringify(shown))}, ${literal(JSON.stringify([TYPES]))}), recursive := true)`;
}

/** The error for a row. */
const failAt = (path: string, line: number, problem: string, hint?: string): ConfigError =>
  new ConfigError(
    `costs: line ${line} of ${path}: ${problem}`,
    hint ?? 'docs/ask/costs.md describes the tables',
  );

function readTable(path: string, table: CostTable): CostRow[] {
  const columns = Object.keys(tableOf(table).columns);
  const header = columns.join(',');
  const lines = cellsOf(path);
  const [first] = lines;
  if (first?.cells.join(',') !== header)
    throw failAt(
      path,
      1,
      `its columns are ${quoted(first?.cells.join(',') ?? '')}`,
      `${first?.cells.join().includes(';') === true ? 'the cells are separated by commas, not by semicolons; ' : ''}the first line must be ${header}`,
    );
  return lines.slice(1).map(({ line, cells }) => {
    if (cells.length !== columns.length)
      throw failAt(path, line, `it has ${cells.length} cells, and the first line ${columns.length}`);
    const values = Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? '']));
    for (const [column, kind] of Object.entries<string>(COST_TABLES[table].columns)) {
      const problem = checkCell(kind, values[column] ?? '');
      if (problem !== undefined) throw failAt(path, line, `${column} is ${quoted(values[column])}${problem}`);
    }
    return { table, line, values };
  });
}

/** The lines of a file that are not empty, with their cells, trimmed. A cell with line breaks counts as several lines. */
function cellsOf(path: string): { readonly line: number; readonly cells: readonly string[] }[] {
  if (!statSync(path).isFile())
    throw new ConfigError(`costs: ${path} is no file`, 'a table is a file of CSV');
  const bytes = readFileSync(path);
  if (bytes.length > LARGEST)
    throw new ConfigError(`costs: ${path} has ${bytes.length} bytes`, `${LARGEST} at most`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(`costs: ${path} is not UTF-8`, 'save it as CSV in UTF-8');
  }
  const open = unclosedQuote(text);
  if (open !== undefined) throw failAt(path, open, 'a quoted cell has no end', 'close it with "');
  let line = 1;
  return parseCsv(text, { delimiter: ',' }).flatMap((row) => {
    const cells = row.map((each) => String(each ?? '').trim());
    const at = line;
    line += 1 + row.reduce<number>((sum, each) => sum + String(each ?? '').split(/\r?\n/).length - 1, 0);
    return cells.every((each) => each === '') ? [] : [{ line: at, cells }];
  });
}

/** The line where a quote begins that nothing ends. */
function unclosedQuote(text: string): number | undefined {
  let isOpen = false;
  let line = 1;
  let begun = 1;
  for (const character of text) {
    if (character === '\n') line += 1;
    if (character !== '"') continue;
    if (!isOpen) begun = line;
    isOpen = !isOpen;
  }
  return isOpen ? begun : undefined;
}
