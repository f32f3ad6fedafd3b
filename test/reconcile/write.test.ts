import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openSession, rows } from '../../src/base/duck/session.js';
import { lakeTables } from '../../src/core/lake/tables.js';
import type { MergeContext } from '../../src/core/reconcile/relations.js';
import { writeRows } from '../../src/core/reconcile/write.js';
import { temporaryFolder } from '../pipelines/support.js';

const images = lakeTables().find(({ name }) => name === 'lot_images');

it('a wide table is written with every row once, in files of limited size with a range of ids each', async () => {
  if (images === undefined) throw new Error('there is no such table');
  const folder = temporaryFolder();
  const session = await openSession({ memory: '200MB', temp: join(folder.path, 'spill') });
  // A table counts as small by the bytes of its staged rows; then all partitions are written at once, if none has several files.
  for (const [stage, bytes] of Object.entries({ small: 1000, large: 2 << 20 })) {
    mkdirSync(join(folder.path, stage, images.name), { recursive: true });
    writeFileSync(join(folder.path, stage, images.name, 'rows.parquet'), Buffer.alloc(bytes));
  }
  const columns = [
    { name: 'lot_id', type: 'BIGINT' },
    { name: 'domain_id', type: 'BIGINT' },
  ];
  const ids = fc.uniqueArray(fc.integer({ min: -50, max: 2_000_000_000 }), { minLength: 1, maxLength: 60 });
  const stages = fc.constantFrom('small', 'large');
  let night = 0;
  await fc.assert(
    fc.asyncProperty(ids, fc.integer({ min: 1, max: 20 }), stages, async (lots, wide, stage) => {
      night += 1;
      const target = join(folder.path, String(night));
      const values = lots.map(
        (lot) => `(${lot}, '${lot % 2 === 0 ? 1 : 3}', '2026-0${1 + (Math.abs(lot) % 3)}')`,
      );
      const sql = (condition: string): string =>
        `select lot_id, cast(_domain as bigint) as domain_id, _domain, _month
         from (values ${values.join(', ')}) as r(lot_id, _domain, _month) where ${condition}`;
      const partitions = ['1', '3'].flatMap((domain) =>
        ['2026-01', '2026-02', '2026-03'].map((month) => ({ domain, month })),
      );
      const context: MergeContext = {
        ...session,
        schemas: new Map(),
        stage: join(folder.path, stage),
        target,
        snapshot: 'night',
        base: undefined,
        ...{ runId: 'night', startedAt: '2026-11-20T02:00:00.000Z', seenAt: '2026-11-20T02:00:00.000Z' },
        ...{ passes: [], shrinkGuard: 1, mostRecordBytes: 1 << 22, allowShrink: false },
      };
      const schema = { table: { ...images, wide }, columns, staged: [], content: [], state: [] };
      expect(await writeRows(context, schema, sql, partitions)).toBe(lots.length);

      const found = await rows(
        session.connection,
        `select filename, min(lot_id) as low, max(lot_id) as high, count(*) as n, any_value(domain_id) as domain,
           list(lot_id) = list_sort(list(lot_id)) as sorted
         from read_parquet('${target}/lot_images/**/*.parquet', hive_partitioning = true, filename = true)
         group by filename order by filename`,
      );
      expect(found.every((file) => Number(file.n) <= wide && file.sorted === true)).toBe(true);
      expect(found.length).toBe(
        readdirSync(target, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.parquet'))
          .length,
      );
      for (const a of found)
        for (const b of found)
          if (
            a !== b &&
            String(a.filename).replace(/data_\d+/, '') === String(b.filename).replace(/data_\d+/, '')
          )
            expect(Number(a.high) < Number(b.low) || Number(b.high) < Number(a.low)).toBe(true);
      const all = await rows(
        session.connection,
        `select lot_id, domain_id from read_parquet('${target}/lot_images/**/*.parquet', hive_partitioning = true) order by 1`,
      );
      expect(all).toEqual(
        [...lots].sort((a, b) => a - b).map((lot_id) => ({ lot_id, domain_id: lot_id % 2 === 0 ? 1 : 3 })),
      );
    }),
    { numRuns: 30 },
  );
  session.close();
  folder.remove();
});
