import { join } from 'node:path';
import { openSession } from '../../src/base/duck/session.js';
import { fitPrices } from '../../src/core/model/fit/fit-prices.js';
import { lotsOf } from '../model/pricing/market.js';

/** Nine of ten lots have a price: a million. */
const LOTS = 1_111_112;

/** Fits, judges and estimates the prices of three years. Returns the seconds that it took. */
export async function fitMany(folder: string, lots = LOTS): Promise<number> {
  const session = await openSession({ memory: '1GB', threads: 2, temp: join(folder, 'spill') });
  const { connection } = session;
  const file = join(folder, 'price_inputs.parquet');
  await connection.run(`copy (${lotsOf({ lots, months: 36, models: 4_000 })}) to '${file}' (format parquet)`);
  await connection.run(`create view price_inputs as from '${file}'`);
  await connection.run('create table dim_settings as select max(priced_at) as as_of from price_inputs');
  // As on a first night: no price has come for an estimate that was given.
  await connection.run(
    `create view interval_factors as
     select '' as market, '' as currency, 0.0 as estimate_from, 1.0 as factor where false`,
  );
  const start = performance.now();
  await fitPrices(connection, folder);
  const seconds = (performance.now() - start) / 1000;
  session.close();
  return seconds;
}
