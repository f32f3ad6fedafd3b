import { join } from 'node:path';
import { nightly } from '../../../pipelines/nightly.js';
import type { ConfigInput } from '../../../src/base/config/config.js';
import { bareDuckDb, configFor, silentReporter, WITHOUT_MARTS } from '../../pipelines/support.js';

/** Vehicles of the first night: twenty pages of twenty. */
export const FIRST = Array.from({ length: 400 }, (_, i) => i + 1);
/** Vehicles that left the feed after the first night. A run that proves their absence archives them. */
export const GONE = [45, 205, 385];
export const LEFT = FIRST.filter((id) => !GONE.includes(id));

/** Settings of every night. */
export const SETTINGS: ConfigInput = { perPage: 20, concurrency: 2, referenceDays: 1000, shrinkGuard: 1 };

/** A night without marts in this process. */
export async function night(url: string, output: string, config: ConfigInput = {}): Promise<void> {
  const settings = configFor(url, output, { ...SETTINGS, ...config });
  await nightly({ ...WITHOUT_MARTS, config: settings, reporter: silentReporter() });
}

/** Archived vehicles of a published lake. Throws if the lake lost a vehicle of the first night. */
export async function archived(output: string): Promise<number[]> {
  const duck = await bareDuckDb();
  const files = join(output, 'lake/current/vehicles/**/*.parquet');
  const rows = await duck.query(`select vehicle_id, archived from '${files}' order by 1`);
  duck.close();
  const kept = new Set(rows.map(({ vehicle_id }) => Number(vehicle_id)));
  const lost = FIRST.filter((id) => !kept.has(id));
  if (lost.length > 0) throw new Error(`the lake has lost ${lost.join(', ')}`);
  return rows.filter((row) => row.archived === true).map(({ vehicle_id }) => Number(vehicle_id));
}
