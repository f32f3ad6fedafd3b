import { beforeAll, describe, expect, it } from 'vitest';
import { describeEmptyLake } from '../../src/ask/docs/empty-lake.js';
import { withDatabase } from '../../src/ask/query/open-lake.js';
import { idsOf, schemaOf } from '../../src/beyond/iceberg/iceberg-schema.js';
import { icebergTables, partitionValuesOf } from '../../src/beyond/iceberg/iceberg-tables.js';
import { giveIds } from '../../src/core/lake/field-ids.js';
import type { ManifestTable } from '../../src/core/lake/manifest.js';
import { lakeTables, systemTables } from '../../src/core/lake/tables.js';
import { readModels } from '../../src/core/model/model-files.js';

let tables: Awaited<ReturnType<typeof allTables>>;
beforeAll(async () => {
  tables = await allTables();
});

/** Every table and mart, with its column types. */
async function allTables() {
  const { tables, marts } = await withDatabase({ memory: '500MB' }, undefined, describeEmptyLake);
  const cut = [...lakeTables(), ...systemTables].filter(({ partition }) => partition !== undefined);
  const partitioned = new Set(cut.map(({ name }) => name));
  const whole = Object.entries({ ...tables, ...marts }).map(([name, { columns }]) => {
    const isPartitioned = partitioned.has(name);
    const table = { ...giveIds(columns, undefined, isPartitioned), key: [], partitioned: isPartitioned };
    return [name, { ...table, rows: 0, bytes: 0, files: [] }] satisfies [string, ManifestTable];
  });
  return icebergTables(Object.fromEntries(whole), []);
}

describe('the tables and marts of a lake', () => {
  it('have types that Iceberg holds, and no two columns with one id', () => {
    expect(tables.length).toBeGreaterThan(60);
    for (const table of tables) {
      const ids = idsOf(schemaOf(table, true));
      expect(new Set(ids).size, table.name).toBe(ids.length);
      expect(Math.min(...ids), table.name).toBeGreaterThan(0);
    }
  });

  it('have no float in an identifier, whatever the key of a model', () => {
    const keys = new Map(readModels().map(({ name, key }) => [name, key]));
    const withFloat: string[] = [];
    for (const table of tables) {
      const { fields, 'identifier-field-ids': ids = [] } = schemaOf(
        { ...table, key: keys.get(table.name) ?? table.key },
        true,
      );
      const types = fields.filter(({ id }) => ids.includes(id)).map(({ type }) => type);
      expect(types, table.name).not.toContain('double');
      if (keys.has(table.name) && ids.length === 0) withFloat.push(table.name);
    }
    expect(withFloat).toEqual(['odometer_rollbacks']);
  });

  it('have the source and the month of their path as columns, once', () => {
    const lots = tables.find(({ name }) => name === 'lots');
    const names = lots?.columns.map(({ name }) => name) ?? [];
    expect(names.filter((name) => ['domain_id', 'month'].includes(name))).toEqual(['domain_id', 'month']);
    expect(lots?.sort).toEqual(['lot_id']);
  });
});

describe('the partition of a file', () => {
  it('follows from its folder', () => {
    const of = (path: string) => partitionValuesOf({ path, bytes: 0, rows: 0 });
    expect(of('lots/domain_id=3/month=2026-11/data_0.parquet')).toEqual({ domain_id: 3, month: '2026-11' });
    expect(of('lots/domain_id=__HIVE_DEFAULT_PARTITION__/month=unknown/a.parquet')).toEqual({
      ...{ domain_id: null, month: 'unknown' },
    });
    expect(of('lots/empty.parquet')).toEqual({});
  });
});
