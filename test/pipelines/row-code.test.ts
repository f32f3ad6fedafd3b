import { describe, expect, it } from 'vitest';
import { planViews } from '../../src/core/lake/rows/batch-views.js';
import { rowCode } from '../../src/core/lake/rows/row-code.js';
import { type LakeTable, lakeTables } from '../../src/core/lake/tables.js';
import { streams } from '../../src/core/service/streams.js';

type RowRules = NonNullable<Parameters<typeof rowCode>[0]>;

const code = rowCode();

describe('the hash of the code that makes the rows', () => {
  it('is the same for the same rules', () => {
    expect(rowCode({ tables: [...lakeTables()] })).toBe(code);
  });

  it.each([
    ['the contract', { contract: 'abd' }],
    ['the version of lotlake, which mends and merges records', { version: '1.0.1' }],
    [
      'a view',
      {
        views: planViews(streams.cars, [], false).map((view) => ({ ...view, sql: `${view.sql} where true` })),
      },
    ],
    ['the SQL of a table', { tables: withLots({ sql: 'select 1' }) }],
    ['a partition', { tables: withLots({ partition: { domain_id: true, month: 'sale_date' } }) }],
    ['a key', { tables: withLots({ key: ['lot_id', 'vehicle_id'] }) }],
    ['what becomes of rows that are gone', { tables: withLots({ gone: 'keep' }) }],
  ] satisfies [string, RowRules][])('changes with %s', (_, change) => {
    expect(rowCode(change)).not.toBe(code);
  });

  it('does not depend on the description of a table', () => {
    expect(rowCode({ tables: withLots({ description: 'Lots.', columns: {} }) })).toBe(code);
  });
});

function withLots(change: Partial<LakeTable>): LakeTable[] {
  return lakeTables().map((table) => (table.name === 'lots' ? { ...table, ...change } : table));
}
