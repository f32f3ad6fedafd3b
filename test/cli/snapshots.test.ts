import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { ruleOf } from '../../src/core/reconcile/rules.js';
import { bareDuckDb, inOrder } from '../pipelines/support.js';
import { threeNights } from './three-nights.js';

const { layout, lotlake, snapshots, start } = threeNights();

describe('lotlake runs', () => {
  it('lists what each run did, newest first', () => {
    const listed = JSON.parse(lotlake('runs', '--json').out);
    expect(listed.map((run: { pipeline: string }) => run.pipeline)).toEqual([
      'nightly',
      'closing',
      'nightly',
      'nightly',
    ]);
    expect(listed.at(-1)).toMatchObject({
      started_at: start.toISOString(),
      rejected: 0,
      warnings: [],
    });
    expect(listed.at(-1).changed).toBeGreaterThan(1000);
    expect(listed[0].records).toBe(listed[0].loaded);
    const { out } = lotlake('runs', '--limit', '1');
    expect(out).toContain(snapshots.at(-1)?.id);
    expect(out).not.toContain('closing');
  });
});

describe('lotlake query --as-of', () => {
  const runs = (...args: string[]) => {
    const { code, out, err } = lotlake('query', ...args, '--json', 'select count(*) as runs from runs');
    expect(code, err).toBe(0);
    return JSON.parse(out)[0].runs;
  };

  it('queries the newest snapshot at or before a moment, or a snapshot by its id', () => {
    const second = snapshots[1];
    expect(runs('--as-of', second?.manifest.created_at ?? '')).toBe(2);
    expect(runs('--as-of', '2026-11-17')).toBe(1);
    expect(runs('--as-of', '2026-11-18 16:30:00+02:00')).toBe(2);
    expect(runs('--snapshot', second?.id ?? '')).toBe(2);
  });

  it('lists the kept snapshots if none is old enough', () => {
    for (const args of [
      ['--as-of', '2026-11-16'],
      ['--snapshot', '../current'],
    ]) {
      const { code, err } = lotlake('query', 'select 1', ...args);
      expect(code).toBe(2);
      expect(err).toContain('LAKE_NO_SNAPSHOT');
      for (const { id, manifest } of snapshots) expect(err).toContain(`${id} (${manifest.created_at})`);
    }
    expect(lotlake('query', 'select 1', '--as-of', 'yesterday').err).toContain('CONFIG_INVALID');
  });
});

describe('docs/ask/history.md', () => {
  it('reconstructs the tracked fields of every lot as in each kept snapshot', async () => {
    const page = readFileSync(join(packageRoot, 'docs', 'ask', 'history.md'), 'utf8');
    const sql = /```sql\n([\s\S]+?)```/.exec(page)?.[1] ?? '';
    const duck = await bareDuckDb();
    const lake = (name: string, snapshot: string) =>
      `create or replace view ${name} as select * from '${join(snapshot, name, '**', '*.parquet')}'`;
    let differing = 0;
    const today = inOrder(await duck.query(`select * from '${layout.current}/lot_changes/**/*.parquet'`));
    expect(today.length).toBeGreaterThan(20);
    for (const snapshot of snapshots) {
      await duck.query(lake('lots', layout.current));
      await duck.query(lake('lot_changes', layout.current));
      const query = sql.replace('2026-11-19 12:00:00+00', snapshot.manifest.created_at);
      expect(query).not.toBe(sql);
      const rebuilt = await duck.query(query);
      const tracked = [...ruleOf('lot_changes').sql.matchAll(/::varchar\[\] as (\w+)/g)].map(
        ([, name]) => name,
      );
      expect(tracked).toHaveLength(16);
      const fields = ['lot_id', ...tracked].join(', ');
      const kept = join(snapshot.folder, 'lots', '**', '*.parquet');
      expect(inOrder(rebuilt), snapshot.id).toEqual(
        inOrder(await duck.query(`select ${fields} from '${kept}'`)),
      );
      const now = await duck.query(`select ${fields} from lots`);
      if (inOrder(now).join() !== inOrder(rebuilt).join()) differing++;
    }
    duck.close();
    expect(differing).toBeGreaterThanOrEqual(2);
  });
});
