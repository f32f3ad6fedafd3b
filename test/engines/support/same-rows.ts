import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal, openTemporarySession, rows } from '../../../src/duck/session.js';

/**
 * The tables that differ between two folders of Parquet files (`<table>/**`) in rows, columns, types or partitions,
 * with the columns that differ.
 * @param leftOut columns that are not compared
 */
export async function differingTables(
  a: string,
  b: string,
  leftOut: readonly string[] = [],
): Promise<string[]> {
  const { session, close } = await openTemporarySession({ memory: '1GB', threads: 2 });
  const hasFiles = (folder: string, table: string): boolean =>
    existsSync(join(folder, table)) &&
    readdirSync(join(folder, table), { recursive: true }).some((file) => String(file).endsWith('.parquet'));
  const relation = (folder: string, table: string): string =>
    `read_parquet(${literal(join(folder, table, '**', '*.parquet'))}, hive_partitioning = true, hive_types_autocast = false, union_by_name = true)`;
  const columns = async (folder: string, table: string): Promise<string[]> => {
    const described = await rows(session.connection, `describe from ${relation(folder, table)}`);
    const all = described.map((row) => `${identifier(String(row.column_name))} ${row.column_type}`);
    return all.filter((column) => !leftOut.some((name) => column.startsWith(`"${name}"`))).sort();
  };
  const differing: string[] = [];
  const folders = readdirSync(a, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) {
    if (!hasFiles(b, name)) {
      // Spark writes no file for a table without a row.
      const [left] = await rows(session.connection, `select count(*) as rows from ${relation(a, name)}`);
      if (left?.rows !== 0) differing.push(`${name}: ${left?.rows} rows and none`);
      continue;
    }
    const [left, right] = [await columns(a, name), await columns(b, name)];
    if (left.join() !== right.join()) differing.push(`${name}: ${left.join()} and ${right.join()}`);
    const isSame = async (what: readonly string[]): Promise<boolean> => {
      const of = (folder: string): string => `select ${what.join(', ')} from ${relation(folder, name)}`;
      const both = [`${of(a)} except all ${of(b)}`, `${of(b)} except all ${of(a)}`];
      const found = await rows(session.connection, both.map((sql) => `(${sql} limit 1)`).join(' union all '));
      return found.length === 0;
    };
    const names = left.map((column) => column.slice(0, column.lastIndexOf('" ') + 1));
    if (await isSame(names)) continue;
    for (const column of names) if (!(await isSame([column]))) differing.push(`${name}.${column}`);
  }
  close();
  return differing;
}
