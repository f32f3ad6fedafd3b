/** A service whose feed a test sets record by record, and nights over it. */
import { join } from 'node:path';
import { nightly } from '../../pipelines/nightly.js';
import { createWorld } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import {
  bareDuckDb,
  configFor,
  lastPage,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';

const world = createWorld({ vehicles: 200, seed: 8 });
// Plain lots. The cases in test/reconcile cover the effects of dates, statuses and amounts.
const PLAIN = { sale_date: null, status: { id: 3, name: 'sale' }, bid: 100, buy_now: null, final_bid: null };
export const vehicles = recordsOf(world).map((vehicle) => ({
  ...vehicle,
  lots: vehicle.lots.map((lot) => ({ ...lot, ...PLAIN })),
}));
const START = Date.parse('2026-11-18T02:00:00Z');

/**
 * A service whose feed the test sets, with totals, and a way to run nights over it.
 * @param cleanups gets what closes it
 */
export async function feed(cleanups: (() => void | Promise<void>)[]) {
  const folder = temporaryFolder();
  let records: readonly unknown[] = vehicles;
  let archive: readonly unknown[] = [];
  let total: number | undefined;
  const service = await serve((url) => {
    if (url.pathname === '/api/archived-lots') return { body: lastPage(archive) };
    if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    const page = Number(url.searchParams.get('page'));
    const size = Number(url.searchParams.get('per_page'));
    const last = Math.max(1, Math.ceil(records.length / size));
    const data = records.slice((page - 1) * size, page * size);
    const next = page < last ? `http://service.example/api/cars?page=${page + 1}` : null;
    return {
      body: {
        data,
        links: { next },
        meta: { current_page: page, last_page: last, per_page: size, total: total ?? records.length },
      },
    };
  });
  const duck = await bareDuckDb();
  cleanups.push(
    () => service.close(),
    () => duck.close(),
    () => folder.remove(),
  );
  let nights = 0;
  return {
    night: async (
      given: readonly unknown[],
      more: { total?: number; allowShrink?: boolean; archive?: readonly unknown[] } = {},
    ) => {
      records = given;
      archive = more.archive ?? [];
      total = more.total;
      const now = new Date(START + nights++ * 86_400_000);
      const reporter = silentReporter();
      const config = configFor(service.url, folder.path, {
        allowShrink: more.allowShrink ?? false,
        concurrency: 1,
        perPage: 50,
        referenceDays: 1000,
      });
      const result = await nightly({ ...WITHOUT_MARTS, config, reporter, now: () => now });
      return { result, warnings: reporter.warnings };
    },
    active: async () => {
      const lake = join(folder.path, 'lake', 'current');
      const rows = await duck.query(
        `select vehicle_id from '${lake}/vehicles/*.parquet' where not archived order by 1`,
      );
      return rows.map((row) => row.vehicle_id);
    },
    query: (sql: string) => duck.query(sql.replaceAll('$lake', join(folder.path, 'lake', 'current'))),
  };
}
