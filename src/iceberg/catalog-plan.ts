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

/**
 * Plans what makes a table of a catalog like the metadata of lotlake. Field ids stay as they are; numbers of schemas,
 * specs and orders are those that the catalog took over when the table was registered.
 * @param properties properties that the table has in the catalog alone
 * @returns the commit, which fails in the catalog where a requirement does not hold; undefined where the table is up to date
 */
export function planCatalogCommit(
  ours: TableMetadata,
  theirs: CatalogTable,
  properties: Readonly<Record<string, string>>,
) {
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

/** Schemas, partition specs and sort orders that the catalog does not have. */
const shapeUpdates = (ours: TableMetadata, theirs: CatalogTable): Update[] => [
  ...added('schema', 'schema-id', ours.schemas, theirs.schemas, {
    ...{ action: 'set-current-schema', 'schema-id': ours['current-schema-id'] },
  }),
  ...added('spec', 'spec-id', ours['partition-specs'], theirs['partition-specs'], {
    ...{ action: 'set-default-spec', 'spec-id': ours['default-spec-id'] },
  }),
  ...added('sort-order', 'order-id', ours['sort-orders'], theirs['sort-orders'], {
    ...{ action: 'set-default-sort-order', 'sort-order-id': ours['default-sort-order-id'] },
  }),
];

/** Adds the items of a kind that the catalog does not have, if any, and makes one the current one. */
function added<K extends string>(
  kind: string,
  key: K,
  ours: readonly Readonly<Record<K, number>>[],
  theirs: readonly Readonly<Record<K, number>>[],
  current: Update,
): Update[] {
  const missing = ours.filter((item) => theirs.every((each) => each[key] !== item[key]));
  if (missing.length === 0) return [];
  return [...missing.map((item) => ({ action: `add-${kind}`, [kind]: item })), current];
}

function propertyUpdates(
  ours: Readonly<Record<string, string>>,
  theirs: Readonly<Record<string, string>>,
): Update[] {
  const changed = Object.entries(ours).filter(([name, value]) => theirs[name] !== value);
  return changed.length === 0 ? [] : [{ action: 'set-properties', updates: Object.fromEntries(changed) }];
}
