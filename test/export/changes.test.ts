import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { type Change, type LotlakeError, readChanges } from '../../src/index.js';
import { printedBy } from '../cli/support.js';
import { bareDuckDb } from '../pipelines/support.js';
import type { HandMade } from '../query/support.js';
import { applied, twoNights } from './changed-lake.js';

const LOTS = (values: string): string =>
  `select lot_id::bigint as lot_id, part, bid::double as bid, tags, archived, domain_id::bigint as domain_id, month
   from (values ${values}) v(lot_id, part, bid, tags, archived, domain_id, month)`;
const TITLES = (values: string): string =>
  `select title_id::bigint as title_id, name, gone_at::timestamptz as gone_at from (values ${values}) v(title_id, name, gone_at)`;

let lake: HandMade & { readonly ids: readonly [string, string] };
beforeAll(async () => {
  lake = await twoNights(
    {
      ...{
        lots: ['lot_id', 'part'],
        titles: ['title_id'],
        same: ['id'],
        widened: ['id'],
        lists: ['id'],
        old: ['id'],
        fresh: ['id'],
        retyped: ['id'],
      },
      ...{ rekeyed: ['id', 'part'], 'rekeyed, before': ['id'], sales: ['lot_id'] },
    },
    [
      {
        lots: LOTS(
          `(1, null, 10, ['a'], false, 1, '2026-11'), (2, 'x', 10, ['a'], false, 1, '2026-11'), (3, 'x', 10, ['a'], false, 1, '2026-11'),
           (5, 'x', 10, ['a'], false, 1, '2026-11'), (6, 'x', 1, [], false, 1, '2026-10'), (9, 'x', 1, [], false, 3, '2026-11'), (7, 'x', 'nan'::double, ['a', null], true, 1, 'unknown')`,
        ),
        titles: TITLES(
          "(1, 'Clean', null), (2, 'Salvage', null), (3, 'Gone', '2026-11-01'), (4, 'Late', '2026-11-02')",
        ),
        same: 'select 1 as id',
        widened: 'select 1 as id',
        lists:
          'select 1 as id, null::integer[] as a, [1]::integer[] as b, [2]::integer[] as c union all select 2, [1], [1, 2], []',
        old: 'select 1 as id',
        retyped:
          "select 1::bigint as id, 5::bigint as n, 'a' as left_behind, 7 as kept union all select 2, 6, 'b', 8",
        rekeyed: 'select 1 as id, 2 as part',
        keyless: 'select 1 as id',
      },
      { sales: 'select 1::bigint as lot_id, 0.1::double + 0.2::double as price union all select 2, 5' },
    ],
    [
      {
        lots: LOTS(
          `(1, null, null, ['a'], false, 1, '2026-11'), (2, 'x', 10, ['b'], false, 1, '2026-11'), (4, 'x', 10, ['a'], false, 1, '2026-11'),
           (5, 'x', 10, ['a'], true, 1, '2026-11'), (6, 'x', 1, [], false, 1, '2026-11'), (9, 'x', 1, [], false, 3, '2026-11'), (7, 'x', 'nan'::double, ['a', null], true, 1, 'unknown')`,
        ),
        titles: TITLES(
          "(1, 'Clean', null), (2, 'Salvage', '2026-11-21'), (3, 'Back', null), (4, 'Later', '2026-11-02')",
        ),
        same: 'select 1 as id',
        widened: 'select 1 as id, null::text as arrived',
        lists:
          'select 1 as id, []::integer[] as a, [1]::integer[] as b, [2]::integer[] as c union all select 2, [1], [1], [2]',
        fresh: 'select 1 as id union all select 2',
        retyped:
          "select 1::bigint as id, '5' as n, 'b' as arrived, 7 as kept union all select 2, '6', null, 9",
        rekeyed: 'select 1 as id, 3 as part',
        keyless: 'select 2 as id',
      },
      { sales: 'select 1::bigint as lot_id, 0.3::double as price' },
    ],
  );
});
afterAll(() => lake.remove());

/** What `lotlake changes` prints. Throws its error. */
const told = async (...args: readonly string[]): Promise<string> =>
  String(await printedBy(lake.config.output, 'changes', ...args));
/** The error that it ends with. */
const refusal = (...args: readonly string[]): Promise<LotlakeError> =>
  told(...args).then(
    (out) => expect.unreachable(out),
    (error) => error,
  );
const at = (...path: readonly string[]): string => join(lake.folder, ...path);

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the changes between two snapshots', () => {
  it('are counted by table, with those that are whole, new, gone or the same', async () => {
    const out = await told('--since', lake.ids[0], '--json');
    const { since, until, tables } = JSON.parse(out);
    expect([since, until]).toEqual(lake.ids);
    const counted = tables.map(({ name, state, inserted, updated, left }: Record<string, unknown>) => [
      name,
      state,
      inserted,
      updated,
      left,
    ]);
    expect(Object.fromEntries(counted.map(([name, ...rest]: unknown[]) => [name, rest]))).toEqual({
      fresh: ['whole', 2, 0, 0],
      lots: ['changed', 1, 3, 2],
      old: ['gone', 0, 0, 0],
      rekeyed: ['whole', 1, 0, 0],
      retyped: ['changed', 0, 2, 0],
      sales: ['changed', 0, 1, 1],
      same: ['same', 0, 0, 0],
      titles: ['changed', 0, 2, 1],
      lists: ['changed', 0, 2, 0],
      widened: ['changed', 0, 0, 0],
    });
  });

  it('name the columns that differ, and give only the key of a row that is no longer there', async () => {
    const out = await told('lots', 'titles', '--since', lake.ids[0], '--format', 'ndjson');
    const [head, ...rows] = lines(out);
    expect(head.tables.map(({ name, mark }: Record<string, unknown>) => [name, mark])).toEqual([
      ['lots', 'archived'],
      ['titles', 'gone_at'],
    ]);
    expect(rows.pop()).toEqual({ rows: 9 });
    const whole = { bid: 10, tags: ['a'], domain_id: 1, month: '2026-11' };
    expect(rows).toEqual([
      {
        table: 'lots',
        change: 'updated',
        changed: ['bid'],
        row: { lot_id: 1, part: null, ...whole, bid: null, archived: false },
      },
      {
        table: 'lots',
        change: 'updated',
        changed: ['tags'],
        row: { lot_id: 2, part: 'x', ...whole, tags: ['b'], archived: false },
      },
      { table: 'lots', change: 'left', changed: null, row: { lot_id: 3, part: 'x' } },
      {
        table: 'lots',
        change: 'inserted',
        changed: null,
        row: { lot_id: 4, part: 'x', ...whole, archived: false },
      },
      {
        table: 'lots',
        change: 'left',
        changed: ['archived'],
        row: { lot_id: 5, part: 'x', ...whole, archived: true },
      },
      {
        table: 'lots',
        change: 'updated',
        changed: ['month'],
        row: { lot_id: 6, part: 'x', ...whole, bid: 1, tags: [], archived: false },
      },
      {
        table: 'titles',
        change: 'left',
        changed: ['gone_at'],
        row: { title_id: 2, name: 'Salvage', gone_at: '2026-11-21T00:00:00.000000Z' },
      },
      {
        table: 'titles',
        change: 'updated',
        changed: ['name', 'gone_at'],
        row: { title_id: 3, name: 'Back', gone_at: null },
      },
      {
        table: 'titles',
        change: 'updated',
        changed: ['name'],
        row: { title_id: 4, name: 'Later', gone_at: '2026-11-02T00:00:00.000000Z' },
      },
    ]);
  });

  it('give the later snapshot when they are applied to the earlier one, forwards, backwards and from nothing', async () => {
    const snapshots = join(lake.config.output, 'lake', 'snapshots');
    for (const [i, args] of [
      ['--since', lake.ids[0]],
      ['--since', lake.ids[1], '--until', lake.ids[0]],
      [],
      ['--until', lake.ids[0]],
      ['--since', lake.ids[1]],
    ].entries()) {
      await told(...args, '--to', at(`feed-${i}`));
      expect(await applied(snapshots, at(`feed-${i}`))).toEqual({});
    }
  });

  it('give the later snapshot by the statements of the page', async () => {
    const made = await twoNights(
      { lots: ['lot_id'] },
      [
        {
          lots: 'select * from (values (1, 10, false), (2, 10, false), (3, 10, false), (4, 1, false)) v(lot_id, bid, archived)',
        },
      ],
      [
        {
          lots: 'select * from (values (1, 11, false), (3, 10, true), (4, 1, false), (5, 7, false)) v(lot_id, bid, archived)',
        },
      ],
    );
    const feed = join(made.folder, 'feed');
    await printedBy(made.config.output, 'changes', 'lots', '--since', made.ids[0], '--to', feed);
    const page = readFileSync(join(packageRoot, 'docs', 'ask', 'changes.md'), 'utf8');
    const statements =
      /In DuckDB.*?```\n(.*?)```/s.exec(page)?.[1]?.replaceAll('changes-of-the-night', feed) ?? '';
    const [before, after] = made.ids.map(
      (id) => `'${join(made.config.output, 'lake', 'snapshots', id)}/lots/*.parquet'`,
    );
    const duck = await bareDuckDb();
    await duck.query(`create table lots as from ${before}`);
    for (const statement of statements.split(';').slice(0, -1)) await duck.query(statement);
    expect(await duck.query('from lots order by lot_id')).toEqual(
      await duck.query(`from ${after} order by lot_id`),
    );
    duck.close();
    made.remove();
  });

  it('are the same rows in each format, in a folder and on stdout', async () => {
    const stdout = await told('lots', '--since', lake.ids[0], '--format', 'csv');
    expect(stdout.split('\r\n').map((line) => line.split(',').slice(0, 4))).toContainEqual([
      'updated',
      '["bid"]'.replaceAll('"', '""').replace(/^/, '"').replace(/$/, '"'),
      '1',
      '',
    ]);
    await told('--since', lake.ids[0], '--to', at('csv'), '--format', 'csv');
    expect(readFileSync(at('csv', 'data', 'lots.csv'), 'utf8')).toBe(stdout);
    await told('lots', '--since', lake.ids[0], '--to', at('ndjson'), '--format', 'ndjson');
    const streamed = lines(await told('lots', '--since', lake.ids[0], '--format', 'ndjson'));
    expect(lines(readFileSync(at('ndjson', 'data', 'lots.ndjson'), 'utf8'))).toEqual(streamed.slice(1, -1));
    expect(readdirSync(at('ndjson')).sort()).toEqual(['SHA256SUMS', 'changes.json', 'data']);
    const none = await told('same', '--since', lake.ids[0], '--format', 'csv');
    expect(none).toBe('_change,_changed,id\r\n');
  });

  it('are what a program reads, row by row', async () => {
    const settings = { output: lake.config.output };
    const feed = await readChanges(settings, { since: lake.ids[0] });
    const read: Change[] = [];
    for await (const change of feed) read.push(change);
    const [head, ...printed] = lines(await told('--since', lake.ids[0], '--format', 'ndjson'));
    expect(read).toEqual(printed.slice(0, -1));
    expect({ since: feed.since, until: feed.until, tables: feed.tables }).toEqual({
      ...{ since: lake.ids[0], until: lake.ids[1], tables: head.tables },
    });
    const stopped = await readChanges(settings, { tables: ['lots'] });
    for await (const { change } of stopped) {
      expect(change).toBe('inserted');
      break;
    }
    await expect(readChanges(settings, { since: 'nothing-like-it' })).rejects.toMatchObject({
      code: 'LAKE_NO_SNAPSHOT',
    });
    const reason = new Error('the user left');
    await expect(readChanges(settings, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('end with a clear error for a snapshot that is gone, a table without a key, and a folder that is taken', async () => {
    const gone = await refusal('--since', '20261101T000000Z-aaaaaa');
    expect(gone).toMatchObject({ code: 'LAKE_NO_SNAPSHOT', outcome: 'usage' });
    expect(gone.message).toContain(
      'there is no snapshot 20261101T000000Z-aaaaaa, so nobody can tell what changed since',
    );
    expect(gone.hint).toContain('without --since');
    expect(gone.hint).toContain(lake.ids[0]);
    expect((await refusal('keyless')).message).toContain('keyless has no key');
    expect((await refusal('lot')).message).toContain('there is no table lot');
    expect((await refusal('--format', 'csv')).message).toContain('one file of csv holds one table');
    mkdirSync(at('taken', 'something'), { recursive: true });
    expect(await refusal('--to', at('taken'))).toMatchObject({ code: 'EXPORT_EXISTS' });
  });
});
