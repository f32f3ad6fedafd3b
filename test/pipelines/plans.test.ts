import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { packageFile, packageRoot } from '../../src/base/config/package-root.js';
import type { JobOptions } from '../../src/core/job/job.js';
import { readLayer } from '../../src/core/model/model-files.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { printedBy } from '../cli/support.js';
import { loopsOf, type Planned, plansOf, statementsOf } from '../duck/plans.js';
import { openExplore } from '../explore/server.js';
import { need } from '../served.js';
import { bareDuckDb, configFor, silentReporter, temporaryFolder } from './support.js';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-20T02:00:00Z');

/** Files that no statement of lotlake runs as they are, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'functions/names.spark.sql': 'functions of Spark',
  'functions/values.spark.sql': 'functions of Spark',
  'functions/enough.spark.sql': 'functions of Spark',
  'cli/active.sql': 'counts the vehicles of each source, for doctor, which asks the service',
  'value/groups.sql': 'selects the levels of one factor, for a wrong name',
};

/** Statements that may join by a loop, by a text that they hold, with the reason. */
const MAY_LOOP: Readonly<Record<string, string>> = {
  '-- What a car would bring at auction': 'the factors of the fit for one car, once a command',
};

/** Tables of costs, so that what computes with them is planned, too. */
const costs = join(packageRoot, 'site', 'costs');
const examples = readLayer('examples').map(({ name }) => name);
const folder = temporaryFolder();
let sandbox: Sandbox;
let planned: Planned[];

/** Two nights with the runs between them, a rebuild, and every command that has queries of its own. */
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 3_000, clock: new Date(START) });
  let now = START;
  const options = (): JobOptions => ({
    config: configFor(sandbox.url, folder.path, {
      apiKey: sandbox.apiKey,
      closingBudget: 50,
      examples,
      costs,
    }),
    reporter: silentReporter(),
    now: () => new Date(now),
  });
  const after = (hours: number): void => {
    now += hours * HOUR;
    sandbox.setClock(new Date(now));
  };
  planned = await plansOf(async () => {
    await nightly(options());
    after(6);
    await incremental(options());
    await closing(options());
    after(18);
    await nightly(options());
    await rebuild(options());
    const first = async (sql: string): Promise<string> => {
      const printed = String(await printedBy(folder.path, 'query', sql, '--format', 'csv'));
      return need(printed.trim().split('\n')[1], sql);
    };
    const vin = await first('select vin from vehicles where length(vin) = 17 limit 1');
    const offered = await first('select lot_id from price_estimates where is_offered limit 1');
    const several = await first(
      'select max(lot_id) from lots group by vehicle_id having count(*) > 1 limit 1',
    );
    const lot = await first('select lot from lots where lot is not null limit 1');
    const car = ['--make', 'Toyota', '--model', 'Camry', '--year', '2019'];
    for (const args of [
      ...[
        ['report'],
        ['docs'],
        ['status'],
        ['runs'],
        ['rejects'],
        ['tables'],
        ['query', 'select event, count(*) from vehicle_timeline group by all'],
        ['query', 'select * from vehicle_timeline where vehicle_id = 1'],
        ['export', 'lots', '--to', join(folder.path, 'lots')],
        ['explore', '--export', join(folder.path, 'pages')],
      ],
      ...[
        ['value', ...car, '--state', 'TX'],
        ['value', vin],
        ['value', offered],
        ['value', several],
        ['value', offered, '--to', 'warsaw'],
        ['value', ...car, '--to', 'dallas', '--source', 'copart_com'],
        ['lookup', 'vin', vin, '--lake'],
        ['lookup', 'lot', lot, '--lake'],
        ['watch', '--vin', vin],
        ['watch', '--lot', lot],
        ['watch'],
      ],
    ])
      await printedBy(folder.path, ...args);
    await expect(printedBy(folder.path, 'value', 'no such lot')).rejects.toMatchObject({
      code: 'QUERY_NOTHING_FOUND',
    });
    const vehicle = await first(
      'select vehicle_id from inspections join claim_history using (vehicle_id) limit 1',
    );
    const sold = await first(
      "select vehicle_id from sales where outcome = 'sold' and vehicle_id in (select vehicle_id from vehicles) and vehicle_id not in (select vehicle_id from lots_on_offer where vehicle_id is not null) limit 1",
    );
    const explore = await openExplore(folder.path);
    await explore.send('/pictures', { show: 'copart_com' });
    for (const path of [
      ...[
        '/lots?make=Toyota&price=8000&days=7&sort=cheapest',
        `/find?q=${vin}`,
        `/find?q=${vin.slice(0, 16)}`,
      ],
      ...[
        `/car/${vehicle}`,
        `/car/${sold}`,
        '/',
        '/answers',
        '/sql',
        '/tables',
        '/compare',
        '/value',
        '/value?make=Toyota&model=Camry&year=2019&km=80k&state=TX',
        '/runs',
        '/searches',
        '/marts/sales.html?by=domain_name&across=outcome',
      ],
      ...['/compare?kind=model&of=Toyota+Camry', '/compare?kind=place&of=TX&car=Toyota'],
      ...[
        '/compare?kind=damage&of=front&car=Toyota',
        '/compare?kind=branch&of=a',
        '/compare?kind=seller&of=a',
        '/value',
      ],
    ])
      expect(await (await explore.get(path)).text(), path).not.toContain('role="alert"');
    await explore.close();
  });
}, 600_000);
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

it('no statement joins two large sides by a loop', () => {
  const mayLoop = ({ sql }: Planned): boolean => Object.keys(MAY_LOOP).some((text) => sql.includes(text));
  expect(loopsOf(planned.filter((each) => !mayLoop(each)))).toEqual([]);
});

it('the timeline of a vehicle takes only its own prices and archivings', async () => {
  const duck = await bareDuckDb();
  const lake = join(folder.path, 'lake', 'current');
  await duck.query(`attach '${join(lake, 'warehouse.duckdb')}' as warehouse (read_only)`);
  await duck.query('use warehouse');
  // A vehicle with one lot: the rows of several lie between the least and the greatest of its ids.
  const [vehicle] = await duck.query(
    `select any_value(vehicle_id) as id from lots where lot_id in (select lot_id from prices) and domain_id = 3
     group by vehicle_id having count(*) = 1 order by vehicle_id limit 1`,
  );
  const [large] = await duck.query('select count(*) as prices from prices');
  expect(Number(large?.prices)).toBeGreaterThan(1_000);
  const [explained] = await duck.query(
    `explain (analyze, format json) select * from vehicle_timeline where vehicle_id = ${need(vehicle?.id, 'a vehicle')}`,
  );
  duck.close();
  // Small tables are read whole where that is faster.
  const taken = scansIn(JSON.parse(String(explained?.explain_value)));
  for (const column of ['price_id', 'archived_at']) {
    const scans = taken.filter(({ columns }) => [columns].flat().includes(column));
    expect(scans.length, column).toBeGreaterThan(0);
    expect(scans.filter(({ rows }) => rows > 100)).toEqual([]);
  }
});

/** An operator of a plan that ran. */
interface Ran {
  readonly operator_name?: string;
  readonly operator_cardinality?: number;
  readonly extra_info?: Readonly<Record<string, unknown>>;
  readonly children?: readonly Ran[];
}

/** The rows that a scan of files gave to the other operators. */
interface Scan {
  readonly rows: number;
  readonly columns: unknown;
}

function scansIn({
  operator_name = '',
  operator_cardinality: rows = 0,
  extra_info,
  children = [],
}: Ran): Scan[] {
  const own = operator_name.includes('PARQUET') ? [{ rows, columns: extra_info?.Projections }] : [];
  return [...own, ...children.flatMap(scansIn)];
}

it('every file of sql/ was planned', () => {
  const texts = planned.map(({ sql }) => sql);
  const files = readdirSync(join(packageRoot, 'sql'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => [file, packageFile(`sql/${file}`).trim()] as const);
  const missing = files.filter(
    ([file, sql]) =>
      NOT_RUN[file] === undefined &&
      // The page of a car puts its id in place of the parameter.
      !statementsOf(sql).every((part) =>
        texts.some((text) =>
          part
            .trim()
            .split('$vehicle_id')
            .every((piece) => text.includes(piece)),
        ),
      ),
  );
  expect(missing.map(([file]) => file)).toEqual([]);
});
