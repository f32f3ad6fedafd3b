import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSession, rows } from '../../src/base/duck/session.js';
import type { BaseState } from '../../src/core/lake/base.js';
import { giveIds } from '../../src/core/lake/field-ids.js';
import { listFiles } from '../../src/core/lake/linked-files.js';
import { type MergeContext, systemTable } from '../../src/core/reconcile/relations.js';
import { appendToSystemTable } from '../../src/core/reconcile/system-rows.js';
import { temporaryFolder } from '../pipelines/support.js';

it('files of changes are merged once their month is over, and linked until then', async () => {
  const folder = temporaryFolder();
  const session = await openSession({ memory: '200MB', temp: join(folder.path, 'spill') });
  const { connection } = session;
  const snapshot = (night: number): string => join(folder.path, `night-${night}`);
  /** Writes one file of each source into a snapshot, as the run of a night in October did. */
  const record = async (night: number): Promise<void> => {
    mkdirSync(snapshot(2), { recursive: true });
    const at = `timestamptz '2026-10-0${night} 02:00:00Z'`;
    await connection.run(
      `copy (select ${night}::bigint as lot_id, 7::bigint as vehicle_id, unnest([1, 3]) as domain_id, 'bid' as field, null::varchar as old_value,
        '${night}' as new_value, ${at} as seen_at, 'run-${night}' as run_id, '2026-10' as month)
      to '${snapshot(2)}/lot_changes' (format parquet, partition_by (domain_id, month), overwrite_or_ignore true,
        filename_pattern 'run-${night}-{i}')`,
    );
  };
  /** Keeps the changes of the earlier snapshot. Returns files by name. */
  const keep = async (
    night: number,
    startedAt: string,
    columns = systemTable('lot_changes').columns,
  ): Promise<string[]> => {
    const before = snapshot(night - 1);
    const files = await listFiles(connection, before, undefined, ['lot_changes']);
    const base = {
      folder: before,
      manifest: { tables: { lot_changes: { ...giveIds(columns, undefined, true), files } } },
    } as unknown as BaseState;
    const context: MergeContext = {
      ...{ ...session, base, startedAt, seenAt: startedAt, target: snapshot(night), runId: `run-${night}` },
      ...{
        schemas: new Map(),
        stage: '',
        snapshot: 'x',
        passes: [],
        shrinkGuard: 1,
        mostRecordBytes: 1 << 22,
        allowShrink: false,
      },
    };
    await appendToSystemTable(context, 'lot_changes', false);
    return (await listFiles(connection, snapshot(night), undefined, ['lot_changes'])).map(({ path }) => path);
  };
  await record(1);
  await record(2);
  const linked = await keep(3, '2026-10-31T02:00:00.000Z');
  expect(linked).toHaveLength(4);
  const joined = await keep(4, '2026-11-01T02:00:00.000Z');
  expect(joined).toEqual(
    [1, 3].map((id) => `lot_changes/domain_id=${id}/month=2026-10/run-4-joined.parquet`),
  );
  expect(await keep(5, '2026-11-02T02:00:00.000Z')).toEqual(joined);
  // An earlier version may have written other columns.
  const older = systemTable('lot_changes').columns.slice(1);
  expect(await keep(6, '2026-10-31T02:00:00.000Z', older)).toEqual(
    joined.map((path) => path.replace('run-4', 'run-6')),
  );
  const changes = (night: number) =>
    rows(
      connection,
      `select * from read_parquet('${snapshot(night)}/lot_changes/**/*.parquet', hive_partitioning = true) order by all`,
    );
  expect(await changes(5)).toEqual(await changes(2));
  expect(await changes(6)).toEqual(await changes(2));
  expect(await changes(5)).toHaveLength(4);
  session.close();
  folder.remove();
});
