import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../config/package-root.js';
import type { ManifestTable } from '../lake/manifest.js';
import { ownTables } from '../lake/own-tables.js';
import { ownColumns } from '../lake/schema.js';
import { type LakeTable, lakeTables } from '../lake/tables.js';
import { sourceOf } from '../load/column-places.js';
import { nodeAt } from '../load/types.js';
import { readModels } from '../model/model-files.js';
import { enumerations, reportKeys } from '../service/contract/enumerations.js';
import { type ContractNode, contractOf } from '../service/contract/node.js';
import { streams } from '../service/streams.js';

/** A column as people read about it. */
export interface ColumnEntry {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly unit: string | undefined;
  /** Path in the feed; undefined if the column does not come from there. */
  readonly source: string | undefined;
}

/** A table or mart as people read about it. */
export interface TableEntry {
  readonly name: string;
  readonly kind: 'table' | 'mart';
  readonly description: string;
  readonly grain: string;
  readonly key: readonly string[];
  readonly rows: number;
  readonly columns: readonly ColumnEntry[];
}

type Described = Pick<ManifestTable, 'columns' | 'rows'> & Partial<Pick<ManifestTable, 'partitioned'>>;

/** What there is to describe, by name: a manifest, or an empty lake where there is no snapshot. */
export interface Contents {
  /** A table without `partitioned` is partitioned as this version of lotlake does it. */
  readonly tables: Readonly<Record<string, Described>>;
  readonly marts: Readonly<Record<string, Described>>;
}

/** Descriptions of the columns that lotlake gives every table of the feed. */
const OWN_COLUMNS = z
  .record(z.string(), z.string())
  .parse(parse(readFileSync(join(packageRoot, 'sql', 'own-columns.yml'), 'utf8')));

/** Columns that `sql/flatten` makes beside a date of a report: how their names end, and what they hold. */
const BESIDE_DATES: readonly (readonly [ending: string, describe: (date: string) => string])[] = [
  [
    '_local',
    (date) =>
      `Derived - ${date} in the local time of its source, as exact as it counts: 2019, 2019-05, 2019-05-17 or 2019-05-17T08:30:00; null where nobody says how exact it is.`,
  ],
  [
    '_offset',
    (date) =>
      `Derived - minutes that local time is ahead of UTC in ${date}; null where the source gave no offset.`,
  ],
];

/** Describes every table and mart of a snapshot from the contract and the `.yml` files. */
export function dictionary(contents: Contents): TableEntry[] {
  const contracts = new Map(Object.values(streams).map(({ name, schema }) => [name, contractOf(schema)]));
  const tables = lakeTables().flatMap((table) => {
    const contract = contracts.get(table.stream);
    return contract === undefined ? [] : [describeLakeTable(table, contents, contract)];
  });
  const own = ownTables.map(
    (table): TableEntry => ({
      ...table,
      kind: 'table',
      rows: contents.tables[table.name]?.rows ?? 0,
      columns: [
        ...table.columns.map((column) => ({ ...column, unit: undefined, source: undefined })),
        ...((contents.tables[table.name]?.partitioned ?? table.partitioned) ? [monthEntry('seen_at')] : []),
      ],
    }),
  );
  const marts = readModels().map(
    (model): TableEntry => ({
      name: model.name,
      kind: 'mart',
      description: model.description,
      grain: model.grain,
      key: model.key,
      rows: contents.marts[model.name]?.rows ?? 0,
      columns: (contents.marts[model.name]?.columns ?? []).map((column) => ({
        ...column,
        description: model.columns[column.name]?.description ?? '',
        unit: model.columns[column.name]?.unit,
        source: undefined,
      })),
    }),
  );
  return [...tables, ...own, ...marts];
}

/** The month of a partition is in the path of its files alone, and a column for every reader. */
const monthEntry = (instant: string): ColumnEntry => ({
  name: 'month',
  type: 'VARCHAR',
  description: `Partition: month in UTC of ${instant}, such as 2026-11; the text unknown where that is null.`,
  unit: undefined,
  source: undefined,
});

/** A child row lies in the month of its parent, which flattening hands down. */
const monthSource = (column: string): string =>
  column.startsWith('_') ? 'created_at of the lot or report that the row belongs to' : column;

function describeLakeTable(table: LakeTable, contents: Contents, contract: ContractNode): TableEntry {
  const stored = contents.tables[table.name];
  const columns = (stored?.columns ?? []).filter(({ name }) => name !== 'month');
  return {
    name: table.name,
    kind: 'table',
    description: table.description,
    grain: table.grain,
    key: table.key,
    rows: stored?.rows ?? 0,
    columns: [
      ...columns.map((column) => ({ ...column, ...describeColumn(table, column.name, contract) })),
      ...(table.partition === undefined || stored?.partitioned === false
        ? []
        : [monthEntry(monthSource(table.partition.month))]),
    ],
  };
}

/** Describes a column by its place in the contract, see `sourceOf`. */
function describeColumn(
  table: LakeTable,
  column: string,
  contract: ContractNode,
): Pick<ColumnEntry, 'description' | 'unit' | 'source'> {
  for (const [ending, describe] of BESIDE_DATES) {
    const date = column.endsWith(ending) ? column.slice(0, -ending.length) : '';
    const source = sourceOf(table, date, contract)?.path;
    if (source !== undefined) return { description: describe(date), unit: undefined, source };
  }
  const given = table.columns[column];
  const isOwn = ownColumns(table).some((own) => own.name === column);
  // The record itself may have a member of that name, which reconcile reads.
  const node = isOwn ? nodeAt(contract, table.from)?.members.get(column) : sourceOf(table, column, contract);
  const own = isOwn || node === undefined ? OWN_COLUMNS[column] : undefined;
  const values = node === undefined ? '' : knownValues(node);
  const position = column.endsWith('position') ? 'Position in the list of the feed, from 1.' : undefined;
  return {
    description: given ?? own ?? position ?? `${node?.description ?? ''}${values}`,
    unit: node?.unit ?? (node?.duckdb === 'TIMESTAMPTZ' ? 'UTC' : undefined),
    source: node?.path,
  };
}

/** The values that the contract knows of a place, as the end of its description. */
function knownValues({ values, keys }: ContractNode): string {
  if (keys !== undefined) return ` Known: ${reportKeys[keys].join(', ')}.`;
  if (values === undefined) return '';
  const entries = Object.entries(enumerations[values]).map(([id, name]) => `${id} ${name}`);
  return ` Known: ${entries.join(', ')}.`;
}

/** What people read of a column: name, type, unit, description and place in the feed. */
export const columnCells = ({ name, type, unit, description, source }: ColumnEntry): string[] => [
  ...[name, typeName(type), unit ?? '', description, source ?? ''],
];

/** A type for people: the long name of an instant is shortened. */
export const typeName = (type: string): string => type.replaceAll('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ');
