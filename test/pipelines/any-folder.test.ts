import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { JobOptions } from '../../src/core/job/job.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { printedBy } from '../cli/support.js';
import {
  configFor,
  inOrder,
  type PlainRow,
  readLake,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from './support.js';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const HOUR = 3_600_000;

/** Runs two nights, a window between them and a rebuild in a folder, and returns the lake. */
async function nightsIn(below: string): Promise<ReadonlyMap<string, readonly PlainRow[]>> {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({
    vehicles: 60,
    seed: 41,
    clock: new Date('2026-11-18T02:00:00Z'),
    faults: WITHOUT_CATALOG,
  });
  ended.push(folder.remove, sandbox.close);
  const output = join(folder.path, below, 'output');
  mkdirSync(dirname(output), { recursive: true });
  const config = configFor(sandbox.url, output, { perPage: 20, referenceDays: 1000 });
  const run = async (pipeline: (options: JobOptions) => Promise<unknown>): Promise<void> => {
    await pipeline({ config, reporter: silentReporter(), now: () => sandbox.clock });
    sandbox.setClock(new Date(sandbox.clock.getTime() + 10 * HOUR));
  };
  await run(nightly);
  await run(incremental);
  await run(nightly);
  await run(rebuild);
  expect(String(await printedBy(output, 'verify'))).toMatch(/sound/);
  // A reader of folders alone needs a path without such names.
  renameSync(output, join(folder.path, 'moved'));
  return readLake(join(folder.path, 'moved', 'lake', 'current'));
}

/** Content without what names runs. */
const contentOf = (rows: readonly PlainRow[] | undefined): string[] =>
  inOrder(
    (rows ?? []).map((row) =>
      Object.fromEntries(
        Object.entries(row).filter(([name]) => !/^(run_id|.*pass_id|snapshot_id)$/.test(name)),
      ),
    ),
  );

let plain: Promise<ReadonlyMap<string, readonly PlainRow[]>> | undefined;

it.each([
  'month=1999-11',
  'env=prod/domain_id=7',
  '_domain=9/_month=x/vehicle_id=1/json=2',
  'year=1999/month=11',
])('a lake below %s is the same as anywhere', async (below) => {
  plain ??= nightsIn('');
  const [expected, found] = [await plain, await nightsIn(below)];
  expect([...found.keys()]).toEqual([...expected.keys()]);
  for (const name of expected.keys())
    if (!['runs', 'passes', 'data_health'].includes(name))
      expect(contentOf(found.get(name)), name).toEqual(contentOf(expected.get(name)));
});
