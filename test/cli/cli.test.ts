import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suggestions } from '../../src/cli/summary.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { dictionary } from '../../src/core/model/dictionary.js';
import { bareDuckDb, type PlainRow, temporaryFolder } from '../pipelines/support.js';
import { CLI, type Ended, printedBy, runLotlake } from './support.js';

const folder = temporaryFolder();
const lotlake = (...args: string[]) => runLotlake(folder.path, ...args);
/** Output of a command that runs in this process. */
const printed = (...args: string[]) => printedBy(folder.path, ...args);
const json = async (...args: string[]) => JSON.parse(String(await printed(...args)));

/** The run that published the lake of all commands. */
let run: Ended;

/** The world of the lake. */
const WORLD = ['--sandbox', '--vehicles', '600', '--clock', '2026-11-20T00:00:00Z'];

beforeAll(() => {
  const publish = { to: 's3://bucket/lake', endpoint: 'http://127.0.0.1:1' };
  writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify({ publish }));
  run = lotlake('run', 'nightly', ...WORLD, '--json', '--quiet');
  expect(run.code, run.err).toBe(0);
}, 60_000);
afterAll(() => folder.remove());

/** A row with the instants that DuckDB wrote in ISO 8601. */
const withIso = (row: PlainRow): PlainRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const [, day, clock, fraction = ''] =
        /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(String(value)) ?? [];
      return [name, day === undefined ? value : `${day}T${clock}.${fraction.padEnd(6, '0')}Z`];
    }),
  );

describe('the embedded service', () => {
  it('has its vehicles looked up', async () => {
    const [row] = await json('query', 'select vehicle_id, vin from vehicles limit 1', '--format', 'json');
    expect(await json('lookup', 'car', String(row.vehicle_id), ...WORLD, '--json')).toMatchObject({
      vin: row.vin,
    });
    expect(String(await printed('lookup', 'car', String(row.vehicle_id), ...WORLD))).toContain('VIN');
    await expect(printed('lookup', 'vin', 'NOSUCHVIN', ...WORLD)).rejects.toMatchObject({
      code: 'QUERY_NOTHING_FOUND',
    });
  });

  it('is not asked for a car of the lake with --lake, or without a key', async () => {
    type Known = Readonly<{ vehicle_id: number; vin: string; lot: string; domain_id: number }>;
    const known: readonly Known[] = await json(
      'query',
      `select vehicle_id, vin, lot, domain_id from lots join vehicles using (vehicle_id)
      where vin in (select vin from vehicles group by vin having count(*) = 1)
      qualify row_number() over (partition by domain_id order by vehicle_id) = 1`,
      ...['--format', 'json'],
    );
    expect(known.length).toBe(3);
    const kinds = [
      (row: Known) => ['vin', ` ${row.vin.toLowerCase()} `],
      (row: Known) => ['lot', row.lot, String(row.domain_id), '--lake'],
      (row: Known) => ['listing', row.lot, String(row.domain_id)],
    ];
    for (const [i, row] of known.entries()) {
      const car = ['car', String(row.vehicle_id)];
      const record = await json('lookup', ...car, ...WORLD, '--json');
      const found = await json('lookup', ...(kinds[i]?.(row) ?? []), '--json');
      expect(found).toMatchObject({
        seen_at: expect.stringMatching(/^2026-11-20T00:0\d:\d\dZ$/),
        vehicle: { vehicle_id: row.vehicle_id, vin: row.vin, model_name: record.model.name },
        other_vehicle_ids: [],
      });
      const idsIn = (lots: readonly Record<string, unknown>[], name: string) => lots.map((lot) => lot[name]);
      expect(idsIn(found.lots, 'lot_id')).toEqual(idsIn(record.lots, 'id'));
      const [origin, ...card] = String(await printed('lookup', ...car, '--lake')).split('\n');
      expect(origin).toBe(`from the lake, which last saw it at ${found.seen_at}`);
      expect(card.join('\n')).toBe(String(await printed('lookup', ...car, ...WORLD)));
    }
  });

  it('is asked to save a vehicle, and where there is no lake', async () => {
    await expect(printed('lookup', 'vin', 'NOSUCHVIN')).rejects.toMatchObject({
      code: 'QUERY_NOTHING_FOUND',
      message: 'the lake knows no vin NOSUCHVIN',
    });
    for (const other of ['--save', '--sandbox'])
      await expect(printed('lookup', 'car', '1', '--lake', other)).rejects.toMatchObject({
        code: 'USAGE_INVALID',
        outcome: 'usage',
      });
    await expect(printed('lookup', 'car', '1', '--save')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    const empty = temporaryFolder();
    await expect(printedBy(empty.path, 'lookup', 'car', '1')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    await expect(printedBy(empty.path, 'lookup', 'car', '1', '--lake')).rejects.toMatchObject({
      code: 'QUERY_NO_SNAPSHOT',
    });
    empty.remove();
  });

  it('is not described without --sandbox', async () => {
    await expect(printed('lookup', 'car', '1', '--vehicles', '600')).rejects.toMatchObject({
      code: 'USAGE_INVALID',
    });
  });
});

describe('lotlake query', () => {
  it('prints JSON for every table and mart that lotlake tables lists', async () => {
    const tables: { name: string; rows: number | null }[] = await json('tables', '--json');
    expect(tables.length).toBeGreaterThan(25);
    const all = tables
      .map(({ name }) => `select '${name}' as name, count(*) as rows from ${name}`)
      .join(' union all ');
    const counted: { name: string; rows: number }[] = await json('query', all, '--format', 'json');
    const byName = (rows: readonly { name: string; rows: unknown }[]) =>
      new Map(rows.map((row) => [row.name, row.rows]));
    // A view has no rows before it is asked.
    const expected = tables.map(({ name, rows }) => ({ name, rows: rows ?? expect.any(Number) }));
    expect(byName(counted)).toEqual(byName(expected));
    const lots = await printed('query', 'select count(*) as n from lots', '--format', 'json');
    expect(String(lots)).toBe(`[{"n":${byName(tables).get('lots')}}]\n`);
  });

  it('gives the same rows as a plain glob over the published folder', async () => {
    const duck = await bareDuckDb();
    const plain = await duck.query(
      `select * from '${folder.path}/lake/current/lots/**/*.parquet' order by lot_id`,
    );
    const answer = await json('query', 'select * from lots order by lot_id', '--format', 'json');
    expect(plain.length).toBeGreaterThan(600);
    expect(answer).toEqual(plain.map(withIso));
    duck.close();
  });

  it('writes CSV, Arrow and Parquet that hold the same rows', async () => {
    const sql =
      'select lot_id, bid, sale_date, title_name, is_timed_auction from lots order by lot_id limit 50';
    const rows = await json('query', sql, '--format', 'json');
    const arrow = tableFromIPC(await printed('query', sql, '--format', 'arrow')).toArray();
    const bytes = await printed('query', sql, '--format', 'parquet');
    const { compressors } = await import('hyparquet-compressors');
    const parquet = await parquetReadObjects({
      file: new Uint8Array(bytes).buffer,
      compressors,
    });
    const csv = String(await printed('query', sql, '--format', 'csv'))
      .trim()
      .split('\r\n');
    expect(csv.length).toBe(51);
    for (const [i, row] of rows.entries()) {
      const instant = row.sale_date === null ? null : Date.parse(row.sale_date);
      expect(Number(arrow[i]?.lot_id)).toBe(row.lot_id);
      expect(arrow[i]?.bid).toBe(row.bid);
      expect(arrow[i]?.sale_date === null ? null : Number(arrow[i]?.sale_date)).toBe(instant);
      expect(arrow[i]?.title_name).toBe(row.title_name);
      expect(Number(parquet[i]?.lot_id)).toBe(row.lot_id);
      expect(parquet[i]?.bid ?? null).toBe(row.bid);
      expect(parquet[i]?.sale_date?.getTime?.() ?? null).toBe(instant);
      expect(csv[i + 1]?.startsWith(`${row.lot_id},`)).toBe(true);
    }
  });

  it('cannot write', () => {
    // The rule is tested in test/query/read-only.test.ts.
    for (const sql of [
      "copy (select 1) to '/tmp/lotlake-written.csv'",
      "select * from read_text('/etc/hostname')",
    ]) {
      const { code, out, err } = lotlake('query', sql);
      expect(code, `${sql}: ${out}`).toBeGreaterThan(0);
      expect(err).toContain('query:');
    }
  });

  it('keeps control characters of the feed from the terminal', () => {
    const { out } = lotlake('query', "select chr(27) || '[31mred' as text");
    expect(out).not.toContain('\u001b');
  });
});

describe('lotlake model', () => {
  it('replaces what Spark left in the folder of a mart', () => {
    const current = join(folder.path, 'lake', 'current');
    const mart = join(folder.path, 'models', basename(realpathSync(current)), 'sales');
    cpSync(join(current, 'sales', 'data_0.parquet'), join(mart, 'part-0.parquet'));
    const { code, err } = lotlake('model', '--json');
    expect(code, err).toBe(0);
    expect(readdirSync(mart)).toEqual(['data_0.parquet']);
  }, 60_000);
});

describe('a run against the sandbox', () => {
  it('pushes nothing to the configured mirror', () => expect(JSON.parse(run.out).mirror).toBeNull());

  it('lists only the data tests that failed if it is quiet', () => {
    const { tests, tests_run }: { tests: { failures: number }[]; tests_run: number } = JSON.parse(run.out);
    expect(tests_run).toBeGreaterThan(500);
    expect(tests.filter(({ failures }) => failures === 0)).toEqual([]);
  });
});

describe('the summary', () => {
  it('names commands that work as printed', () => {
    for (const line of suggestions('lotlake', ` --output ${folder.path}`)) {
      const command = line.trim().replace(/^lotlake/, `${process.execPath} ${CLI}`);
      const out = execFileSync('sh', ['-c', command]);
      expect(out.length).toBeGreaterThan(100);
    }
  });
});

describe('lotlake describe', () => {
  it('has a description for every column of every table and mart', async () => {
    const tables: { name: string }[] = await json('tables', '--json');
    const manifest = readManifest(realpathSync(join(folder.path, 'lake', 'current')));
    const entries = dictionary(manifest);
    expect(tables.map((table) => table.name).sort()).toEqual(entries.map((entry) => entry.name).sort());
    const missing = entries.flatMap(({ name, columns }) =>
      columns.filter((column) => column.description === '').map((column) => `${name}.${column.name}`),
    );
    expect(missing).toEqual([]);
  }, 60_000);

  it('lists the tables if the given one is unknown', () =>
    expect(printed('describe', 'loots')).rejects.toMatchObject({
      outcome: 'usage',
      message: 'there is no table loots; did you mean lots?',
      hint: expect.stringContaining(', lots, '),
    }));
});

describe('lotlake value', () => {
  it('describes the lot and why it has no estimate, and accepts a lot or a car, not both', async () => {
    const chosen = 'select lot_id, lot from lots where domain_id = 3 limit 1';
    const [lot] = await json('query', chosen, '--format', 'json');
    const [answer] = await json('value', String(lot.lot_id), '--json');
    expect(answer).toMatchObject({ estimate: null, note: 'no estimate: too few prices', drivers: [] });
    expect(answer.of).toContain(`lot ${lot.lot} of copart_com`);
    const both = printed('value', String(lot.lot_id), '--km', '5');
    await expect(both).rejects.toMatchObject({ outcome: 'usage' });
    const car = printed('value', '--make', 'Toyota', '--model', 'Camry', '--year', '2020');
    await expect(car).rejects.toMatchObject({
      outcome: 'failed',
      message: 'the lake has too few auction prices for estimates',
    });
  });
});

describe('exit codes', () => {
  it('are 2 for usage and configuration', () => {
    expect(lotlake('run', 'weekly').code).toBe(2);
    expect(lotlake('nothing').code).toBe(2);
    const { code, err } = lotlake('run', 'nightly');
    expect(code).toBe(2);
    expect(err).toContain('LOTLAKE_BASE_URL');
    const vacuum = lotlake('vacuum', '--to', 's3://bucket/lake');
    expect(vacuum.err).toContain('stand without --remote');
    expect(vacuum.code).toBe(2);
  });
});

describe('lotlake status', () => {
  it('says what is published and landed', async () => {
    const status = await json('status', '--json');
    expect(status.current.pipeline).toBe('nightly');
    const passes: { stream: string; state: string }[] = status.passes;
    expect(passes.slice(0, 3).map((pass) => pass.stream)).toEqual(['cars', 'archived_lots', 'statistics']);
    expect(passes.every((pass) => pass.state === 'sealed')).toBe(true);
    expect(String(await printed('status'))).toContain('running:  nothing');
  });
});
