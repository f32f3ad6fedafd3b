import { partitionOf } from '../lake/files.js';
import type { LakeFile, Manifest } from '../lake/manifest.js';
import { partitionFromFolder } from '../lake/partition.js';
import { lakeTables } from '../lake/tables.js';
import type { PartitionValues } from './avro.js';
import type { IcebergTable } from './schema.js';

/** What is said of a table and its columns, as the dictionary has it. */
export interface Descriptions {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly { readonly name: string; readonly description: string }[];
}

/** Tables and marts of a snapshot as Iceberg describes them. */
export function icebergTables(
  tables: Manifest['tables'],
  descriptions: readonly Descriptions[],
): IcebergTable[] {
  return Object.entries(tables).map(([name, { columns, key, partitioned }]) => {
    const said = descriptions.find((each) => each.name === name);
    const inPath = partitioned ? [{ name: 'month', type: 'VARCHAR' }] : [];
    const describe = (column: { name: string; type: string }) => ({
      ...column,
      description: said?.columns.find((each) => each.name === column.name)?.description,
    });
    return {
      ...{ name, key, partitioned, description: said?.description ?? name },
      columns: [...columns.filter((column) => column.name !== 'month' || !partitioned), ...inPath].map(
        describe,
      ),
      sort: lakeTables().find((table) => table.name === name)?.sort ?? key,
    };
  });
}

/** Partition of a file of a snapshot; undefined where its table has none. */
export function partitionValuesOf(file: LakeFile): PartitionValues | undefined {
  const folder = partitionOf(file);
  if (folder === '') return undefined;
  const { domain, month } = partitionFromFolder(folder);
  return { domain_id: domain === 'none' ? null : Number(domain), month };
}
