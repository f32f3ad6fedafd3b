import { dump } from 'js-yaml';
import type { ColumnEntry, Contents, TableEntry } from '../../core/model/dictionary.js';
import { modellingOf } from '../../core/model/own-models.js';

/** A table that dbt reads. */
export type SourceTable = Pick<TableEntry, 'name' | 'description' | 'grain' | 'key'> & {
  readonly columns: readonly ColumnEntry[];
  /** What dbt-duckdb reads behind FROM. */
  readonly location: string;
};

/**
 * The `sources.yml` of dbt-duckdb: tables with columns, types, descriptions, and the tests that dbt knows itself. Keys of several columns
 * are in `meta.key`, since dbt has no test of its own for them.
 * @param contents the snapshot, whose models have the tests
 */
export function dbtSources(contents: Contents, description: string, tables: readonly SourceTable[]): string {
  const models = new Map(modellingOf(contents).models.map((model) => [model.name, model]));
  const known = new Set(tables.map(({ name }) => name));
  const testsOf = ({ name, key }: SourceTable, column: string): object[] => {
    const isKey = key.length === 1 && key[0] === column;
    const declared = models.get(name)?.columns[column]?.tests ?? [];
    const made = declared.flatMap((test) => {
      const config = test.severity === 'warn' ? { config: { severity: 'warn' } } : {};
      if (test.kind === 'accepted_values')
        return [{ accepted_values: { arguments: { values: test.values }, ...config } }];
      if (test.kind === 'relationships') {
        const [table = '', field] = test.to.split('.');
        if (!known.has(table)) return [];
        return [{ relationships: { arguments: { to: `source('lotlake', '${table}')`, field }, ...config } }];
      }
      return isKey ? [] : [{ [test.kind]: config }];
    });
    return [...(isKey ? [{ unique: {} }, { not_null: {} }] : []), ...made];
  };
  const sources = [
    {
      name: 'lotlake',
      description: plain(description),
      tables: tables.map((table) => ({
        name: table.name,
        description: plain(`${table.description} Grain: ${table.grain}.`),
        config: { external_location: table.location, meta: { key: table.key } },
        columns: table.columns.map(({ name, type, description: about, unit }) => {
          const tests = testsOf(table, name);
          return {
            name,
            data_type: type,
            description: plain(unit === undefined ? about : `${about} Unit: ${unit}.`),
            ...(tests.length === 0 ? {} : { data_tests: tests }),
          };
        }),
      })),
    },
  ];
  return `# Sources of dbt-duckdb, made by lotlake.\n${dump({ version: 2, sources }, { lineWidth: 130, noRefs: true })}`;
}

/** A text without the braces that dbt would run. */
const plain = (text: string): string => text.replaceAll(/[{}]/g, '');

/** What dbt-duckdb reads of Parquet files; with columns that are in their paths, if there are any. */
export function parquetLocation(pattern: string, isPartitioned: boolean): string {
  const path = `'${pattern.replaceAll("'", "''")}'`;
  if (!isPartitioned) return `read_parquet(${path})`;
  return `(select * replace (cast(domain_id as bigint) as domain_id) from read_parquet(${path}, hive_partitioning = true, hive_types_autocast = false))`;
}
