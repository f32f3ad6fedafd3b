import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTemporarySession, rows } from '../../src/base/duck/session.js';
import { stagedFiles } from '../../src/core/load/staged.js';
import { oncePerKey } from '../../src/core/reconcile/state.js';
import { schemasOf } from '../load/support.js';
import { bareDuckDb, temporaryFolder } from '../pipelines/support.js';

/** Stages rows of a wide table, by partition as a large batch does, or as one file. */
async function stage(folder: string, batches: readonly ('parts' | 'whole')[]): Promise<number[]> {
  const duck = await bareDuckDb();
  mkdirSync(folder);
  for (const [i, batch] of batches.entries()) {
    const rows = `select 10 * ${i} + n as lot_id, ['a', 'b'] as tags, '3' as _domain, '2026-1' || n as _month from range(3) as r(n)`;
    const to = batch === 'whole' ? `${folder}/${i}.parquet' (format parquet` : `${folder}' (format parquet`;
    const by =
      batch === 'whole'
        ? ''
        : `, partition_by (_domain, _month), overwrite_or_ignore true, filename_pattern '${i}-{i}'`;
    await duck.query(`copy (${rows}) to '${to}${by})`);
  }
  const found = await duck.query(
    `select lot_id, _domain || _month as place, len(tags) as tags from ${stagedFiles(join(folder, '..'), 'lots')} order by all`,
  );
  duck.close();
  for (const { lot_id, place, tags } of found)
    expect([place, tags]).toEqual([`32026-1${Number(lot_id) % 10}`, 2]);
  return found.map(({ lot_id }) => Number(lot_id));
}

describe('rows of a wide table', () => {
  it.each([[['parts']], [['whole']], [['parts', 'whole']], [['whole', 'parts', 'whole']]] as const)(
    'are read as they were staged: %j',
    async (batches) => {
      const folder = temporaryFolder();
      try {
        const expected = batches.flatMap((_, i) => [10 * i, 10 * i + 1, 10 * i + 2]);
        expect(await stage(join(folder.path, 'lots'), batches)).toEqual(expected);
      } finally {
        folder.remove();
      }
    },
  );
});

describe('staged rows with one row per key', () => {
  it.each([
    ['all if no key comes twice', [0, 1, 2], "(1, null, 0), (1, '2026-11-20', 1), (2, null, 2)"],
    ['the row that was received last', [2, 3], "(1, '2026-11-20', 0), (1, '2026-11-20', 2), (2, null, 3)"],
    ['one if a part of the key is null', [4], '(1, null, 4), (1, null, 0), (1, null, 2)'],
  ])('are %s', async (_, expected, values) => {
    const [archivings] = await schemasOf('archived_lots');
    if (archivings === undefined) throw new Error('there is no such table');
    const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
    const { connection } = opened.session;
    await connection.run(`create table staged as from (values ${values}) as r(lot_id, archived_at, _seq)`);
    const found = await rows(connection, `from ${await oncePerKey(connection, archivings, 'staged')}`);
    opened.close();
    expect(found.map(({ _seq }) => Number(_seq)).sort()).toEqual(expected);
  });
});
