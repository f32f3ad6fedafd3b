import type { DuckDBConnection } from '@duckdb/node-api';
import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from '../../base/config/package-root.js';
import { printable } from '../../base/config/printable.js';
import type { Manifest, ManifestTable } from '../lake/manifest.js';
import { RECORDS } from '../lake/rows/batch-views.js';
import { membersBehind } from '../lake/rows/column-places.js';
import { nodeAt } from '../lake/rows/types.js';
import { type Column, ownColumns } from '../lake/schema.js';
import { type LakeTable, lakeTables, systemTables } from '../lake/tables.js';
import { enumerations, reportKeys } from '../service/contract/enumerations.js';
import type { ContractNode } from '../service/contract/node.js';
import { streams } from '../service/streams.js';
import { isGiven, type Layer, type Model } from './model-files.js';
import { modellingOf } from './own-models.js';
import { withReferences } from './references.js';
import { planModelTests } from './test-sql.js';

/** A column as people read about it. */
export interface ColumnEntry {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly unit?: string | undefined;
  /** Path in the feed, or several with commas; undefined if the column does not come from there. */
  readonly source?: string | undefined;
  /** Set if its texts may name hosts, URLs or folders, which an export leaves out unless it is named. */
  readonly internal?: true;
}

/** A table or mart as people read about it. */
export interface TableEntry {
  readonly name: string;
  readonly kind: 'table' | 'mart';
  /** Layer of a mart, see LAYERS; `own` for models of the user. */
  readonly layer?: Layer | 'own' | undefined;
  readonly description: string;
  readonly grain: string;
  readonly key: readonly string[];
  /** Null for a view, which is computed when it is asked. */
  readonly rows: number | null;
  readonly columns: readonly ColumnEntry[];
}

interface Described extends Partial<Pick<ManifestTable, 'rows' | 'partitioned'>> {
  readonly columns: readonly Column[];
}

/** The tables and marts to describe, by name: those of a manifest, or of an empty lake. */
export interface Contents extends Pick<Manifest, 'own'> {
  /** A table without `partitioned` is partitioned as this version of lotlake does it. */
  readonly tables: Readonly<Record<string, Described>>;
  readonly marts: Readonly<Record<string, Described>>;
  readonly views: Readonly<Record<string, Described>>;
}

/** Descriptions of the columns that lotlake adds to every table of the feed, and beside the dates of reports. */
const OWN_COLUMNS = z.record(z.string(), z.string()).parse(load(packageFile('sql/own-columns.yml')));

/** Describes every table and mart of a snapshot from the contract and the `.yml` files. */
export function dictionary(contents: Contents): TableEntry[] {
  const tables = lakeTables().map((table) => {
    const stored = contents.tables[table.name];
    return entryOf('table', table, stored, columnsOf(table, stored));
  });
  const own = systemTables.map(({ partition, ...table }): TableEntry => {
    const stored = contents.tables[table.name];
    const columns = [...table.columns, ...monthsOf(partition, stored)];
    return { ...table, kind: 'table', rows: stored?.rows ?? 0, columns };
  });
  const published = modellingOf(contents).models.filter(({ exists }) => exists !== 'none');
  const marts = published.map((model) => {
    const stored = contents.marts[model.name] ?? contents.views[model.name];
    const columns = (stored?.columns ?? []).map((column) => {
      const { description = '', unit } = model.columns[column.name] ?? {};
      return { ...column, description, unit };
    });
    const isView = contents.marts[model.name] === undefined && Object.hasOwn(contents.views, model.name);
    const layer = model.layer ?? ('own' as const);
    return { ...entryOf('mart', model, stored, columns), layer, ...(isView && { rows: null }) };
  });
  return [...tables, ...own, ...marts];
}

const entryOf = (
  kind: TableEntry['kind'],
  { name, description, grain, key }: Pick<TableEntry, 'name' | 'description' | 'grain' | 'key'>,
  stored: Described | undefined,
  columns: readonly ColumnEntry[],
): TableEntry => ({ name, kind, description, grain, key, rows: stored?.rows ?? 0, columns });

/** The month of a partition is only in the path of its files, but readers see it as a column. */
function monthsOf(partition: LakeTable['partition'], stored: Described | undefined): ColumnEntry[] {
  if (partition === undefined || stored?.partitioned === false) return [];
  // A child row has the month of its parent, which flattening passes on as a column that begins with `_`.
  const instant = partition.month.replace(/^_.*/, 'created_at of the lot or report that the row belongs to');
  const description = `Partition: month in UTC of ${instant}, such as 2026-11; the text unknown where that is null.`;
  return [{ name: 'month', type: 'VARCHAR', description }];
}

function columnsOf(table: LakeTable, stored: Described | undefined): ColumnEntry[] {
  const columns = (stored?.columns ?? []).filter(({ name }) => name !== 'month');
  const described = columns.map((column) => ({ ...column, ...describeColumn(table, column) }));
  return [...described, ...monthsOf(table.partition, stored)];
}

/** Describes a column by the members that fill it. */
function describeColumn(
  table: LakeTable,
  column: Pick<ColumnEntry, 'name' | 'type'>,
): Pick<ColumnEntry, 'description' | 'unit' | 'source'> {
  const { name } = column;
  const entities = Object.keys(table.from);
  // Rows from several lists: the member has the same name and meaning in each list that has it.
  const [found = []] = entities
    .map((entity) => membersBehind(table, name, entity))
    .filter((paths) => paths.length > 0);
  const paths = found.filter((path) => !path.endsWith('[]'));
  const source = paths.join(', ') || undefined;
  const ending = ['_local', '_offset'].find((each) => name.endsWith(each) && name in table.members) ?? '';
  const date = name.slice(0, -ending.length);
  if (ending !== '') return { description: OWN_COLUMNS[ending]?.replaceAll('{date}', date) ?? '', source };
  const [first] = paths;
  const node = first === undefined ? undefined : nodeAt(streams[table.stream].contract, first);
  const isOwn = node === undefined || ownColumns(table).some((each) => each.name === name);
  const own = isOwn ? OWN_COLUMNS[name] : undefined;
  const position = paths.length < found.length ? 'Position in the list of the feed, from 1.' : undefined;
  // A flag that is derived from a reading has no unit.
  const isFlag = column.type === 'BOOLEAN';
  return {
    description: table.columns[name] ?? own ?? position ?? `${node?.description ?? ''}${knownValues(node)}`,
    unit: isFlag ? undefined : (node?.unit ?? (node?.duckdb === 'TIMESTAMPTZ' ? 'UTC' : undefined)),
    source,
  };
}

/** The known values of a member, as the end of its description. */
function knownValues({ values, keys }: Partial<ContractNode> = {}): string {
  if (keys !== undefined) return ` Known: ${reportKeys[keys].join(', ')}.`;
  if (values === undefined) return '';
  const entries = Object.entries(enumerations[values]).map(([id, name]) => `${id} ${name}`);
  return ` Known: ${entries.join(', ')}.`;
}

/** The cells of a column for people: name, type, unit, description and place in the feed. */
export const columnCells = ({ name, type, unit, description, source }: ColumnEntry): string[] => [
  ...[name, typeName(type), unit ?? '', description, source ?? ''],
];

/** A type for people: TIMESTAMP WITH TIME ZONE is shortened. */
export const typeName = (type: string): string => type.replaceAll('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ');

/** A table of Markdown. The first row of cells is its head. */
export const markdownTable = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** A text as one line, with the signs of Markdown escaped. */
export const markdownText = (text: string): string =>
  printable(text).replaceAll(/[\\|<>*_`[\]]/g, (sign) => `\\${sign}`);

/** A model with the names that it reads. */
type Reading = Model & { readonly references: readonly string[] };

/**
 * Models that are published. Those of the run alone are part of the models that read them: a reader reads what they read,
 * and its SQL follows theirs.
 */
function throughRun(models: readonly Reading[]): readonly Reading[] {
  const ofRun = new Map(models.filter(({ exists }) => exists === 'none').map((model) => [model.name, model]));
  const whole = (model: Reading): Reading => {
    const parts = model.references.flatMap((name) => ofRun.get(name) ?? []).map(whole);
    const own = model.references.filter((name) => !ofRun.has(name));
    const references = [...new Set([...own, ...parts.flatMap((part) => part.references)])].sort();
    const sql = [...parts.map((part) => `-- ${part.name}: ${part.description}\n${part.sql};`), model.sql];
    return { ...model, references, sql: sql.join('\n\n') };
  };
  return models.filter(({ exists }) => exists !== 'none').map(whole);
}

/** A table or mart with everything that the code says about it. */
export type CatalogTable = Awaited<ReturnType<typeof readCatalog>>[number];

/**
 * Collects what contract, `.yml` files and SQL say about tables of the feed, tables of lotlake's own, and marts.
 * @param connection any DuckDB connection: it parses SQL and reads nothing
 * @param contents names and types of columns
 */
export async function readCatalog(connection: DuckDBConnection, contents: Contents) {
  const modelling = modellingOf(contents);
  const tables = await withReferences(connection, lakeTables());
  const models = throughRun(await withReferences(connection, modelling.models));
  const named = modelling.checks.map((check) => ({ ...check, name: check.test }));
  const checks = await withReferences(connection, named);
  return dictionary(contents).map((entry) => {
    const { name, kind } = entry;
    const table = tables.find((each) => each.name === name);
    const model = kind === 'mart' ? models.find((each) => each.name === name) : undefined;
    return {
      ...entry,
      /** Stream whose records the table is cut from; undefined for marts and for tables of lotlake's own. */
      stream: table?.stream,
      /** Lists of the record that the rows come from, such as `lots[]`; media of reports come from two. */
      places: table?.references.filter((place) => place !== RECORDS) ?? [],
      /** Tables and marts that a mart reads. */
      reads: model?.references ?? [],
      /** Marts that read it. */
      readBy: models.filter(({ references }) => references.includes(name)).map((each) => each.name),
      /** Whether it is a mart of the user. */
      isOwn: model?.isOwn === true,
      /** SELECT of a mart that is computed; the rows of seeds and of tables of costs are given. */
      sql: model === undefined || isGiven(model) ? undefined : model.sql,
      tests: model === undefined ? [] : planModelTests(model),
      /** Checks across tables that read it. */
      checks: checks.filter(({ references }) => references.includes(name)),
    };
  });
}
