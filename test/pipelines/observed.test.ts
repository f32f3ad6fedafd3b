import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';
import { bareDuckDb, configFor, silentReporter, temporaryFolder, WITHOUT_CATALOG } from './support.js';

const START = Date.parse('2026-11-10T02:00:00Z');
const modelling = { models: modelsOf(['observed_spans']), checks: [] };
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Runs a night, so many days after the first, with a key that has some sources. */
async function night(day: number, domains: readonly number[], sources?: number[]): Promise<void> {
  const clock = new Date(START + day * 86_400_000);
  const sandbox = await startSandbox({ vehicles: 60, seed: 9, clock, domains, faults: WITHOUT_CATALOG });
  const settings = sources === undefined ? {} : { sources };
  const config = configFor(sandbox.url, folder.path, { allowShrink: true, ...settings });
  try {
    await nightly({ config, reporter: silentReporter(), now: () => clock, modelling });
  } finally {
    await sandbox.close();
  }
}

/** Spans by source, from their first to their last pass, in days since the first night. */
async function spans(): Promise<string[]> {
  const duck = await bareDuckDb();
  const days = (column: string): string => `cast(floor((epoch_ms(${column}) - ${START}) / 86400000) as int)`;
  const found = await duck.query(
    `select domain_id, ${days('observed_from')} as a, ${days('observed_to + interval 12 hour')} as b
     from '${join(folder.path, 'lake', 'current', 'observed_spans', '*.parquet')}' order by domain_id, span`,
  );
  duck.close();
  return found.map(({ domain_id, a, b }) => `${domain_id}: ${a} to ${b}`);
}

describe('when a source was observed', () => {
  const expected = ['1: 0 to 7', '3: 2 to 5', '12: 0 to 0', '12: 5 to 5'];
  beforeAll(async () => {
    await night(0, [1, 12]);
    // From here on the key has source 3, and source 12 is refused for some nights.
    await night(2, [1, 3]);
    await night(5, [1, 3, 12]);
    await night(7, [1, 3, 12], [1]);
  }, 120_000);

  it('follows from the passes, source by source', async () => {
    expect(await spans()).toEqual(expected);
  });

  it('is kept without landing and by a rebuild', { timeout: 60_000 }, async () => {
    const landing = join(folder.path, 'landing');
    const [first, second] = readdirSync(join(landing, 'cars')).sort();
    for (const pass of [first, second]) rmSync(join(landing, 'cars', pass ?? ''), { recursive: true });
    const now = () => new Date(START + 8 * 86_400_000);
    const config = configFor('http://127.0.0.1:9/api', folder.path);
    await rebuild({ config, reporter: silentReporter(), now, modelling });
    expect(await spans()).toEqual(expected);
  });
});
