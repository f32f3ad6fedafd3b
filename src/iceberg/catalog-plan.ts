import { z } from 'zod';
import type { TableMetadata } from './metadata.js';

/** What a catalog says of a table, as far as a commit needs it. */
export const catalogTable = z.object({
  'table-uuid': z.string(),
  'current-snapshot-id': z.int().nullish(),
  schemas: z.array(z.object({ 'schema-id': z.int() })),
  'partition-specs': z.array(z.object({ 'spec-id': z.int() })),
  'sort-orders': z.array(z.object({ 'order-id': z.int() })),
  snapshots: z.array(z.object({ 'snapshot-id': z.int() })).default([]),
  properties: z.record(z.string(), z.string()).default({}),
});

type CatalogTable = z.output<typeof catalogTable>;

/** An update of a table, as the REST catalog API has it. */
type Update = Readonly<{ action: string } & Record<string, unknown>>;

/** A commit to a catalog: it fails there where a requirement does not hold. */
export interface CatalogCommit {
  readonly requirements: readonly object[];
  readonly updates: readonly Update[];
}

/**
 * Plans what makes a table of a catalog like the metadata of lotlake. Field ids stay as they are; numbers of schemas,
 * specs and orders are those that the catalog took over when the table was registered.
 * @param properties properties that the table has in the catalog alone
 * @returns undefined where the table is up to date
 */
export function planCatalogCommit(
  ours: TableMetadata,
  theirs: CatalogTable,
  properties: Readonly<Record<string, string>>,
): CatalogCommit | undefined {
  const known = new Set(theirs.snapshots.map((each) => each['snapshot-id']));
  const kept = new Set(ours.snapshots.map((each) => each['snapshot-id']));
  const gone = [...known].filter((id) => !kept.has(id));
  const current = ours['current-snapshot-id'];
  const updates = [
    ...shapeUpdates(ours, theirs),
    ...propertyUpdates({ ...ours.properties, ...properties }, theirs.properties),
    ...ours.snapshots
      .filter((each) => !known.has(each['snapshot-id']))
      .map((snapshot) => ({ action: 'add-snapshot', snapshot })),
    ...(theirs['current-snapshot-id'] === current
      ? []
      : [{ action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': current }]),
    ...(gone.length === 0 ? [] : [{ action: 'remove-snapshots', 'snapshot-ids': gone }]),
  ];
  if (updates.length === 0) return undefined;
  const before = theirs['current-snapshot-id'] ?? null;
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid: theirs['table-uuid'] },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': before },
    ],
    updates,
  };
}

/** Schemas, partition specs and sort orders that the catalog does not have. The last one added becomes the current one. */
function shapeUpdates(ours: TableMetadata, theirs: CatalogTable): Update[] {
  const schemas = ours.schemas.filter((each) => isNew(each, theirs.schemas, 'schema-id'));
  const specs = ours['partition-specs'].filter((each) => isNew(each, theirs['partition-specs'], 'spec-id'));
  const orders = ours['sort-orders'].filter((each) => isNew(each, theirs['sort-orders'], 'order-id'));
  const currentSchema = { action: 'set-current-schema', 'schema-id': ours['current-schema-id'] };
  const currentSpec = { action: 'set-default-spec', 'spec-id': ours['default-spec-id'] };
  const currentOrder = {
    action: 'set-default-sort-order',
    'sort-order-id': ours['default-sort-order-id'],
  };
  return [
    ...schemas.map((schema) => ({ action: 'add-schema', schema })),
    ...(schemas.length === 0 ? [] : [currentSchema]),
    ...specs.map((spec) => ({ action: 'add-spec', spec })),
    ...(specs.length === 0 ? [] : [currentSpec]),
    ...orders.map((order) => ({ action: 'add-sort-order', 'sort-order': order })),
    ...(orders.length === 0 ? [] : [currentOrder]),
  ];
}

function isNew<K extends string>(
  item: Readonly<Record<K, number>>,
  known: readonly Readonly<Record<K, number>>[],
  key: K,
): boolean {
  return known.every((each) => each[key] !== item[key]);
}

function propertyUpdates(
  ours: Readonly<Record<string, string>>,
  theirs: Readonly<Record<string, string>>,
): Update[] {
  const changed = Object.entries(ours).filter(([name, value]) => theirs[name] !== value);
  return changed.length === 0 ? [] : [{ action: 'set-properties', updates: Object.fromEntries(changed) }];
}
