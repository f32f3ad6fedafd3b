import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { saveLookup } from '../../pipelines/lookup.js';
import { nightly } from '../../pipelines/nightly.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { lookupOf } from '../../src/cli/commands/lookup.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { firstLot, need, recordsOf } from '../served.js';
import { startLotlake } from './lake-process.js';
import { SALES_ALONE } from './oracle/sales.js';
import { bareDuckDb, configFor, silentReporter, temporaryFolder, WITHOUT_CATALOG } from './support.js';

const DAY = 86_400_000;
const START = Date.parse('2026-11-10T02:00:00Z');

let folder: ReturnType<typeof temporaryFolder>;
let sandbox: Sandbox;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let now = START;

beforeEach(async () => {
  now = START;
  folder = temporaryFolder();
  sandbox = await startSandbox({ vehicles: 180, seed: 21, clock: new Date(START), faults: WITHOUT_CATALOG });
  duck = await bareDuckDb();
});
afterEach(async () => {
  duck.close();
  await sandbox.close();
  folder.remove();
});

function at(days: number): void {
  now = START + days * DAY;
  sandbox.setClock(new Date(now));
}
const job = (more: ConfigInput = {}) => ({
  config: configFor(sandbox.url, folder.path, { referenceDays: 1000, ...more }),
  reporter: silentReporter(),
  now: () => new Date(now),
});
const query = (sql: string) => duck.query(sql.replaceAll('$lake', join(folder.path, 'lake', 'current')));
const requestedPaths = () =>
  sandbox.requests.filter((request) => /^\/cars\/\d+$/.test(request.path)).map((r) => r.path);

describe('a lookup that is saved', () => {
  it('brings a vehicle into the lake and archives nothing', async () => {
    await nightly(job());
    const before = await query("select count(*) as n from '$lake/vehicles/*.parquet' where not archived");
    at(3);
    const known = new Set(
      (await query("select vehicle_id from '$lake/vehicles/*.parquet'")).map((row) => row.vehicle_id),
    );
    const fresh = sandbox.world.activeIds().find((id) => !known.has(id)) ?? 0;
    const result = await saveLookup(job(), lookupOf({ kind: 'car', id: String(fresh) }));
    expect(result.manifest.last_pass_at.cars).toBe(new Date(START).toISOString());
    const after = await query("select count(*) as n from '$lake/vehicles/*.parquet' where not archived");
    expect(after[0]?.n).toBe(Number(before[0]?.n) + 1);
    expect(
      await query(`select archived from '$lake/vehicles/*.parquet' where vehicle_id = ${fresh}`),
    ).toEqual([{ archived: false }]);
  });

  it('leaves an archived vehicle archived', async () => {
    await nightly(job());
    at(2);
    await nightly(job());
    const [gone] = await query(
      "select vehicle_id, archived_at from '$lake/vehicles/*.parquet' where archived and archived_by <> 'absence' order by 1 limit 1",
    );
    expect(gone).toBeDefined();
    await saveLookup(job(), lookupOf({ kind: 'car', id: String(gone?.vehicle_id) }));
    const [after] = await query(
      `select archived from '$lake/vehicles/*.parquet' where vehicle_id = ${gone?.vehicle_id}`,
    );
    expect(after).toEqual({ archived: true });
    const reports = await query(
      `select count(*) as n from '$lake/inspections/**/*.parquet' where gone_at is not null`,
    );
    await saveLookup(job(), lookupOf({ kind: 'car', id: String(gone?.vehicle_id) }));
    expect(
      await query(`select count(*) as n from '$lake/inspections/**/*.parquet' where gone_at is not null`),
    ).toEqual(reports);
  });

  it('reports a vehicle that does not exist, and keeps the lake', async () => {
    await nightly(job());
    await expect(saveLookup(job(), lookupOf({ kind: 'car', id: '7' }))).rejects.toMatchObject({
      code: 'SERVICE_NOT_FOUND',
    });
    expect((await query("select count(*) as n from '$lake/runs/*.parquet'"))[0]?.n).toBe(1);
  });
});

describe('the closing job', () => {
  const alone = (more: ConfigInput = {}) => ({ ...job(more), ...SALES_ALONE });

  it('looks up vehicles that left without a trusted price, newest first, within its budget and for limited time', async () => {
    await nightly(alone());
    at(3);
    await nightly(alone());
    const candidates = await query(`
      select vehicle_id from (
        select * from '$lake/lots/**/*.parquet'
        where archived and lot_id not in (select lot_id from '$lake/sales/*.parquet' where is_trusted)
        union all by name
        select * from '$lake/archived_lots/**/*.parquet' as reported
        where not exists (from '$lake/lots/**/*.parquet' as known where known.lot_id = reported.lot_id)
      )
      where domain_id <> 12
      group by vehicle_id order by max(archived_at) desc, vehicle_id`);
    expect(candidates.length).toBeGreaterThan(4);
    await closing(alone({ closingBudget: 3 }));
    const first = candidates.slice(0, 3).map((row) => `/cars/${row.vehicle_id}`);
    expect(requestedPaths()).toEqual(first);
    expect((await query("select count(*) as n from '$lake/closings/*.parquet'"))[0]?.n).toBe(3);
    await closing(alone({ closingBudget: 3 }));
    expect(
      requestedPaths()
        .slice(3)
        .filter((path) => first.includes(path)),
    ).toEqual([]);
    for (const days of [5, 7, 9, 11, 13]) {
      at(days);
      await closing(alone());
    }
    const times = new Map<string, number>();
    for (const path of requestedPaths()) times.set(path, (times.get(path) ?? 0) + 1);
    expect(Math.max(...times.values())).toBeLessThanOrEqual(3);
  }, 60_000);

  it('brings the vehicles and lots that only the archive feed reported', async () => {
    await nightly(alone());
    const reported = "'$lake/archived_lots/**/*.parquet' as reported";
    const known = "(select 1 from '$lake/lots/**/*.parquet' as known where known.lot_id = reported.lot_id)";
    const count = async (where: string) =>
      Number((await query(`select count(*) as n from ${reported} where domain_id <> 12 and ${where}`))[0]?.n);
    const sold = 'status_id = 6 and final_bid > 0 and archived_at > sale_date';
    const prices = async () =>
      (
        await query(
          "select count(*) as n from '$lake/sales/*.parquet' where evidence in ('history', 'lot') and is_trusted",
        )
      )[0]?.n;
    expect(await count(`${sold} and not exists ${known}`)).toBeGreaterThan(5);
    const before = await prices();
    await closing(alone());
    // A vehicle that was merged into another is not found under the id of its archived lot.
    const [gone] = await query("select count(*) as n from '$lake/closings/*.parquet' where outcome = 'gone'");
    expect(await count(`not exists ${known}`)).toBeLessThanOrEqual(Number(gone?.n));
    expect(Number(await prices()) - Number(before)).toBeGreaterThan(5);
    const [lost] = await query(
      `select count(*) as n from ${reported} inner join '$lake/lots/**/*.parquet' as lots using (lot_id) where not lots.archived`,
    );
    expect(lost).toEqual({ n: 0 });
  });

  it('records a vehicle that the service no longer has, and does not request it again', async () => {
    await nightly(alone());
    at(2);
    await nightly(alone());
    // The service forgets an archived vehicle after a month. According to the lake, that month is not over.
    sandbox.setClock(new Date(now + 45 * DAY));
    await closing(alone());
    const gone = await query("select vehicle_id from '$lake/closings/*.parquet' where outcome = 'gone'");
    expect(gone.length).toBeGreaterThan(0);
    const before = requestedPaths().length;
    now += 2 * DAY;
    await closing(alone());
    const again = requestedPaths().slice(before);
    for (const row of gone) expect(again).not.toContain(`/cars/${row.vehicle_id}`);
  }, 60_000);
});

describe('lotlake lookup', () => {
  const run = (...args: string[]) => startLotlake(args, { url: sandbox.url, output: folder.path }).ended;

  it('print one vehicle for a person or as JSON, by each kind of id', async () => {
    const record = need(
      recordsOf(sandbox.world).find(
        ({ lots, vin }) => lots.length === 1 && lots[0]?.domain.id === 12 && typeof vin === 'string',
      ),
      'a vehicle with a VIN and one lot of source 12',
    );
    const [id, lot] = [record.id, firstLot(record)];
    const person = await run('lookup', 'car', String(id));
    expect(person.code, person.err).toBe(0);
    expect(person.out).toContain(lot.lot);
    for (const args of [
      ['lot', lot.lot, '12'],
      ['listing', lot.lot, '12'],
      ['car', String(id)],
    ]) {
      const found = await run('lookup', ...args, '--json');
      expect(JSON.parse(found.out).id, args.join(' ')).toBe(id);
    }
  });

  it('show what the lake knows of the past of a vehicle', async () => {
    await nightly(job());
    const [row] = await query(
      `select lots.vehicle_id from '$lake/lots/**/*.parquet' as lots join '$lake/sales/*.parquet' as sales using (lot_id)
      where sales.outcome = 'sold' order by 1`,
    );
    const { code, out, err } = await run('lookup', 'car', String(row?.vehicle_id));
    expect(code, err).toBe(0);
    expect(out).toMatch(/date .*event .*rolled back .*\n[\s\S]*listed[\s\S]* sold /);
  });

  it('answer with a plain sentence and exit code 1 if nothing is found', async () => {
    const { code, err } = await run('lookup', 'vin', 'NOSUCHVIN');
    expect(code).toBe(1);
    expect(err).toContain('the service knows no vin NOSUCHVIN');
  });
});
