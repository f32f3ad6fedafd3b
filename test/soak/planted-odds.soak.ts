import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';
import {
  bareDuckDb,
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';

const DAY = 86_400_000;
const START = Date.parse('2026-09-01T02:00:00Z');
/** Days between two nights. The archive feed still has everything that left between them. */
const STEP = 3;
/** Days from the start of the story until the odds are taken, and until it ends. */
const ODDS_AT = 42;
const END_AT = 72;

const folder = temporaryFolder();
const lake = join(folder.path, 'lake', 'current');
let sandbox: Sandbox;
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 3000, seed: 4, clock: new Date(START), faults: WITHOUT_CATALOG });
  duck = await bareDuckDb();
});
afterAll(async () => {
  duck.close();
  await sandbox.close();
  folder.remove();
});

async function night(day: number): Promise<void> {
  const clock = new Date(START + day * DAY);
  sandbox.setClock(clock);
  const config = configFor(sandbox.url, folder.path, { referenceDays: 1000 });
  const modelling = { models: modelsOf(['sell_through_odds']), checks: [] };
  await nightly({ config, reporter: silentReporter(), now: () => clock, modelling });
}

/** The odds of attempts, with their outcomes. */
async function resultsOf(attempts: string) {
  const [found] = await duck.query(`
    select count(*) as attempts, count(*) filter (where outcome = 'sold') as sold, sum(p) as expected,
      sqrt(sum(p * (1 - p))) as deviation, sum((cast(outcome = 'sold' as integer) - p) ** 2) as error
    from (
      select odds.attempt, odds.sell_probability as p, later.outcome
      from odds
      inner join '${lake}/sales/*.parquet' as later
        on later.lot_id = odds.lot_id and later.attempt = odds.attempt
      where later.outcome in ('sold', 'not_sold', 'on_approval') and odds.reason is null
    )
    where ${attempts}`);
  return Object.fromEntries(Object.entries(found ?? {}).map(([name, value]) => [name, Number(value)]));
}

/** About 4 minutes. */
it('odds over six weeks predict how many of the next attempts sell', { timeout: 900_000 }, async () => {
  for (let day = 0; day <= ODDS_AT; day += STEP) await night(day);
  await duck.query(`create table odds as from '${lake}/sell_through_odds/*.parquet'`);
  for (let day = ODDS_AT + STEP; day <= END_AT; day += STEP) await night(day);
  for (const attempts of ['true', 'attempt = 1', 'attempt > 1']) {
    const {
      attempts: count = 0,
      sold = 0,
      expected = 0,
      deviation = 0,
      error = 0,
    } = await resultsOf(attempts);
    const summary = `${attempts}: ${sold} of ${count} sold, ${expected.toFixed(1)} expected, ± ${deviation.toFixed(1)}`;
    process.stdout.write(`${summary}\n`);
    expect(count, summary).toBeGreaterThan(50);
    expect(Math.abs(sold - expected), summary).toBeLessThan(2.6 * deviation);
    // The share of all attempts that sold, known only afterwards, is not a better guess.
    if (attempts === 'true') expect(error, summary).toBeLessThan(sold * (1 - sold / count));
  }
});
