import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currentId, layoutOf } from '../../src/core/lake/layout.js';
import { runLotlake } from '../cli/support.js';
import { type Ended, interruptAt, startLotlake } from '../pipelines/lake-process.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type Postgres, postgresBin, startPostgres } from './support/postgres.js';
import { differingRows } from './support/same-database.js';
import { type Nights, startNights } from './support/worlds.js';

/** Tables with keys of one and several columns, with nulls, with rows that leave, and marts. */
const TABLES = {
  lots: { indexes: ['lot', 'domain_id + status_id'] },
  vehicles: {},
  prices: {},
  sightings: {},
  lot_images: {},
  inspections: {},
  archived_lots: {},
  lots_on_offer: { indexes: ['manufacturer_name'] },
  sales: {},
  price_factors: {},
};

/** Moments of a sync at which it is killed, with the how-manieth time that it comes there. */
const MOMENTS = [
  ...['begun', 'before-commit'],
  ...[1, 2, 3, 4, 6].flatMap((time) => [`rows-begun#${time}`, `rows-written#${time}`, `rows-sent#${time}`]),
  ...[1, 2, 3, 4].map((time) => `removed#${time}`),
  ...[1, 2, 3, 5, 7].flatMap((time) => [`applied#${time}`, `table-done#${time}`]),
  // After it the database has the snapshot, and nothing is left to send.
  'committed',
].map((moment) => `sync.${moment}`);

/** Moments of the first sync. */
const FIRST = [
  ...['begun', 'rows-written#1', 'rows-sent#2', 'made#1', 'made#3', 'table-done#2', 'table-done#10'],
  ...['before-commit', 'committed'],
].map((moment) => `sync.${moment}`);

describe.skipIf(postgresBin() === undefined)('a database that follows (skipped without Postgres)', () => {
  const folder = temporaryFolder();
  const printed: string[] = [];
  let world: Nights;
  let postgres: Postgres;
  beforeAll(async () => {
    [world, postgres] = await Promise.all([startNights({ retryBudget: 900 }), startPostgres()]);
    await world.night();
  });
  afterAll(async () => {
    await postgres.close();
    await world.close();
    folder.remove();
  });

  const settings = (more: object = {}, tables: object = TABLES): object => ({
    sync: { site: { database: postgres.database, tables, ...more } },
  });
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}, given = settings()) => {
    writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify(given));
    const place = { url: world.url, output: world.output, cwd: folder.path };
    return startLotlake(args, {
      ...place,
      env: { PGPASSWORD: postgres.password, LOTLAKE_LOG: 'debug', ...env },
    });
  };
  const sync = async (
    env: NodeJS.ProcessEnv = {},
    given = settings(),
    ...args: readonly string[]
  ): Promise<Ended> => {
    const ended = await start(['sync', 'site', ...args], env, given).ended;
    printed.push(ended.out, ended.err);
    return ended;
  };
  const synced = async (given = settings()): Promise<string> => {
    const { code, out, err } = await sync({}, given);
    expect(code, err).toBe(0);
    return out;
  };
  const snapshot = (): string =>
    join(layoutOf(world.output).snapshots, String(currentId(layoutOf(world.output))));
  /** Expects every table to equal the published snapshot. */
  const expectSame = async (
    tables: readonly string[] = Object.keys(TABLES),
    schema = 'lotlake',
    where = 'true',
  ) => {
    for (const table of tables) {
      const { lacks, has } = await differingRows(postgres, schema, snapshot(), table, { where });
      expect({ lacks, has }, table).toEqual({ lacks: [], has: [] });
    }
  };
  /** Snapshots that tables of the database have: one, or none before the first sync. */
  const snapshots = async (): Promise<readonly unknown[]> => {
    const [{ there } = { there: false }] = await postgres.query(
      "select to_regclass('lotlake.lotlake_sync') is not null as there",
    );
    if (there !== true) return [];
    return (await postgres.query('select distinct snapshot from lotlake.lotlake_sync')).map(
      (row) => row.snapshot,
    );
  };

  it('has nothing of a first sync that was killed at any moment, and all of one that ended', async () => {
    for (const moment of FIRST) {
      const { signal, err } = await sync({ LOTLAKE_KILL_AT: moment });
      expect(signal, `${moment}: ${err}`).toBe('SIGKILL');
      expect(await snapshots(), moment).toHaveLength(moment.endsWith('committed') ? 1 : 0);
    }
    expect(await synced()).toContain('0 rows sent');
    await expectSame();
  });

  it('equals the lake after each of ten nights, with a kill or a lost connection at every step of a sync', async () => {
    const moments = [...MOMENTS];
    for (let night = 0; night < 9; night++) {
      const [before] = await snapshots();
      await world.night();
      for (const [i, moment] of moments.splice(0, Math.ceil(MOMENTS.length / 9)).entries()) {
        if (i % 2 === 0) {
          const { signal, err } = await sync({ LOTLAKE_KILL_AT: moment });
          expect(signal, `${moment}: ${err}`).toBe('SIGKILL');
        } else {
          const started = start(['sync', 'site'], { LOTLAKE_PAUSE_AT: moment });
          await started.printed(`paused at ${moment.replace(/#.*/, '')}`);
          await postgres.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lotlake'",
          );
          started.child.stdin?.write('\n');
          const { code, err } = await started.ended;
          expect(code, `${moment}: ${err}`).toBe(moment.endsWith('.committed') ? 0 : 1);
          if (code === 1) expect(err).toContain('is as it was before');
        }
        const had = await snapshots();
        expect(had, moment).toHaveLength(1);
        if (!moment.endsWith('.committed')) expect(had, moment).toEqual([before]);
      }
      expect(await synced()).toContain(String(currentId(layoutOf(world.output))));
      await expectSame();
    }
    expect(moments).toEqual([]);
  });

  it('equals the lake after an older database or an older lake was restored, and for two at once', async () => {
    const dump = join(folder.path, 'dump');
    const env = { ...process.env, PGPASSWORD: postgres.password };
    const postgresql = (program: string, ...args: readonly string[]): void => {
      const { status, stderr } = spawnSync(join(postgres.bin, program), args, { env, encoding: 'utf8' });
      expect(status, stderr).toBe(0);
    };
    postgresql('pg_dump', '-Fc', '-f', dump, '-d', postgres.database);
    const copy = join(folder.path, 'copy');
    cpSync(world.output, copy, { recursive: true, verbatimSymlinks: true });
    await world.night();
    await synced();
    postgresql('pg_restore', '--clean', '-d', postgres.database, dump);
    // What a restore writes is no hand of somebody: the snapshot that the tables have came with it.
    expect(await synced()).not.toContain('rows compared');
    await expectSame();
    for (const name of ['lake', 'landing', 'runs']) {
      rmSync(join(world.output, name), { recursive: true });
      cpSync(join(copy, name), join(world.output, name), { recursive: true, verbatimSymlinks: true });
    }
    expect(await synced()).toContain('the lake cannot tell what changed since');
    await expectSame();
    await world.night();
    const both = await Promise.all([sync(), sync()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    await expectSame();
  });

  it('sees what others changed: rows, columns, whole tables', async () => {
    for (const [sql, said] of [
      [
        'update lotlake.lots set bid = 1 where lot_id in (select lot_id from lotlake.lots limit 3)',
        'lots: every row compared, since others changed rows',
      ],
      ['delete from lotlake.sightings where lot_id is null', 'sightings: every row compared'],
      ['truncate lotlake.prices', 'prices: every row compared'],
      ['insert into lotlake.lots (lot_id) values (-1)', 'lots: every row compared'],
      ['alter table lotlake.sales drop column price', 'sales: made anew, since somebody changed its columns'],
      [
        'alter table lotlake.sales add column mine text',
        'sales: made anew, since somebody changed its columns',
      ],
      ['drop table lotlake.vehicles', 'vehicles: made anew, since it was not there'],
    ] as const) {
      await postgres.query(sql);
      expect(await synced()).toContain(said);
      await expectSame();
    }
    // A primary key that nothing null had, and a row that has.
    await postgres.query(
      `delete from lotlake.sightings where lot_id is null;
       alter table lotlake.sightings drop constraint sightings_key, add constraint sightings_key primary key (vehicle_id, lot_id)`,
    );
    await synced();
    await expectSame();
    // A change that began before the sync and ends while it waits.
    const other = new pg.Client({ ...postgres.login, database: 'site' });
    await other.connect();
    await other.query('begin');
    await other.query(
      'update lotlake.lots set bid = 3 where lot_id = (select max(lot_id) from lotlake.lots)',
    );
    const waiting = synced();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await other.query('commit');
    await other.end();
    expect(await waiting).toContain('lots: every row compared');
    await expectSame();
    await postgres.query(
      "set lotlake.sync = 'on'; update lotlake.lots set bid = coalesce(bid, 0) + 1 where lot_id = (select min(lot_id) from lotlake.lots)",
    );
    expect(await synced()).toContain('0 rows sent');
    const verified = await sync({}, settings(), '--verify');
    expect(verified.code).toBe(5);
    expect(verified.err).toContain('lots of site differ from the lake [SYNC_DIFFERS]');
    await postgres.query('drop table lotlake.lots');
    await synced();
    expect((await sync({}, settings(), '--verify')).code).toBe(0);
  });

  it('keeps rights and views on a table whose rows are compared, and says what depends on one that has to be made anew', async () => {
    await postgres.query(
      'create role reader; grant usage on schema lotlake to reader; grant select on lotlake.lots to reader',
    );
    await postgres.query('create view mine as select lot_id, bid from lotlake.lots');
    await postgres.query('create table favourites (lot_id bigint references lotlake.lots on delete cascade)');
    await postgres.query(
      'insert into favourites select lot_id from lotlake.lots limit 5; update lotlake.lots set bid = 2',
    );
    await synced();
    expect(await postgres.query('select count(*)::int as n from favourites')).toEqual([{ n: 5 }]);
    const fewer = settings({}, { ...TABLES, lots: { columns: ['bid', 'lot'] } });
    const refused = await sync({}, fewer);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('others depend on it');
    await postgres.query('drop view mine; drop table favourites');
    expect(await synced(fewer)).toContain('lots: made anew, since it is to have another form');
    await expectSame();
    const columns = await postgres.query(
      "select column_name as name from information_schema.columns where table_name = 'lots' order by ordinal_position",
    );
    expect(columns.map(({ name }) => name)).toEqual(['lot_id', 'lot', 'bid', 'archived']);
    await postgres.query('set role reader; select * from lotlake.lots');
  });

  it('has nothing of a sync that a user interrupts', async () => {
    await world.night();
    const before = await snapshots();
    const started = start(['sync', 'site'], { LOTLAKE_PAUSE_AT: 'sync.rows-sent' });
    const { code, err } = await interruptAt(started, 'sync.rows-sent', 'SIGINT');
    expect([code, err]).toEqual([130, expect.stringContaining('interrupted: the database is as it was')]);
    expect(await snapshots()).toEqual(before);
    await synced();
    await expectSame();
  });

  it('has every table and mart of a lake, copied and changed', async () => {
    const tables = JSON.parse(runLotlake(world.output, 'tables', '--json').out)
      .filter(
        ({ rows, key }: { rows: number | null; key: readonly string[] }) => rows !== null && key.length > 0,
      )
      .map(({ name }: { name: string }) => name);
    expect(tables.length).toBeGreaterThan(80);
    const given = settings({ schema: 'everything' }, tables);
    await synced(given);
    await expectSame(tables, 'everything');
    await world.night();
    expect(await synced(given)).not.toContain('every row compared');
    await expectSame(tables, 'everything');
    expect((await sync({}, given, '--verify')).code).toBe(0);
  });

  it('replaces no table that it did not make', async () => {
    await postgres.query(
      'create schema shop; create table shop.lots (mine text); insert into shop.lots values (1)',
    );
    const refused = await sync({}, settings({ schema: 'shop' }, { prices: {}, lots: {} }));
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('is there, and no sync made it'),
    ]);
    expect(await postgres.query('select * from shop.lots')).toEqual([{ mine: '1' }]);
    expect(await postgres.query("select to_regclass('shop.prices') as there")).toEqual([{ there: null }]);
  });

  it('keeps no row that left if it is asked to', async () => {
    const given = settings(
      { schema: 'present', gone: 'delete' },
      { lots: {}, prices: {}, lots_on_offer: {} },
    );
    await synced(given);
    await world.night();
    await synced(given);
    await expectSame(['lots'], 'present', 'not archived');
    await expectSame(['prices'], 'present', 'gone_at is null');
    await expectSame(['lots_on_offer'], 'present');
  });

  it('has the types, keys, indexes and descriptions of the lake', async () => {
    const types = await postgres.query(
      `select table_name || '.' || column_name as name, udt_name as type from information_schema.columns where table_schema = 'lotlake'`,
    );
    const typeOf = new Map(types.map(({ name, type }) => [name, type]));
    expect(
      ['lots.lot_id', 'lots.sale_date', 'vehicles.archived', 'lot_images.normal', 'lots.bid'].map((name) =>
        typeOf.get(name),
      ),
    ).toEqual([...['int8', 'timestamptz', 'bool', '_text', 'float8']]);
    const indexes = await postgres.query(
      "select indexname as name from pg_indexes where schemaname = 'lotlake' order by 1",
    );
    expect(indexes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['lots_key', 'lots_on_offer_by_manufacturer_name', 'sightings_key']),
    );
    const [{ text } = { text: '' }] = await postgres.query(
      "select obj_description('lotlake.lots_on_offer'::regclass) as text",
    );
    expect(text).toContain('The lots that can be bought now');
  });

  it('fails no night, says nothing of the password, and says what is wrong with an address', async () => {
    const nowhere = { sync: { site: { database: 'postgres://owner@127.0.0.1:1/site', tables: ['lots'] } } };
    const clock = { LOTLAKE_ALLOW_SKEW: 'true' };
    const night = await start(['run', 'reference'], clock, nowhere).ended;
    expect(night.err).toContain('the sync of site failed');
    expect([night.code, night.out]).toEqual([0, expect.stringContaining('sync: site failed')]);
    const followed = await start(['run', 'reference'], clock).ended;
    expect(followed.out).toContain('sync: site has it');
    await expectSame();
    const passwordFile = join(folder.path, 'password');
    writeFileSync(passwordFile, `${postgres.password}\n`);
    const byFile = await sync({ PGPASSWORD: undefined }, settings({ passwordFile: 'password' }));
    expect([byFile.code, byFile.err]).toEqual([0, '']);
    const wrong = await sync({ PGPASSWORD: 'another-secret-word' });
    expect(wrong.code).toBe(4);
    expect(wrong.err).toContain('[SYNC_UNREACHABLE]');
    const held = await sync(
      {},
      { sync: { site: { database: 'postgres://o:in-the-address@h/d', tables: ['lots'] } } },
    );
    expect(held.code).toBe(2);
    expect(held.err).toContain('it holds a password');
    const all = [...printed, night.out, night.err, held.err].join('\n');
    for (const secret of [postgres.password, 'another-secret-word', 'in-the-address'])
      expect(all).not.toContain(secret);
  });
});
