import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { listPasses } from '../../src/core/lake/passes/pass.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { type KillPoint, killPoints } from './kill-points.js';
import { contentOf, type Ended, startLotlake } from './lake-process.js';
import { configFor, silentReporter, temporaryFolder } from './support.js';

/** If a run passes a point several times: the time at which it is killed there. */
const TIMES: Partial<Record<KillPoint, number>> = {
  'extract.page-asked': 3,
  'land.page-written': 2,
  'land.page-renamed': 3,
  'land.page-recorded': 2,
  'land.pass-sealed': 2,
  'reconcile.table-compared': 3,
  'reconcile.table-merged': 9,
  'model.mart-written': 2,
};

/** Long before the real clock, which the runs use, so that no lot is sold while two lakes are compared. */
const CLOCK = new Date('2026-08-18T02:00:00Z');
const HOURS = 60;
const isVacuum = (point: KillPoint): boolean => point.startsWith('vacuum.');
const isNight = (point: KillPoint): boolean => !/^(vacuum|backup|mirror|sync|notify)\./.test(point);

const folder = temporaryFolder();
const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')];
type Content = Awaited<ReturnType<typeof contentOf>>;
let sandbox: Sandbox;
let before: Content;
let after: Content;

function lotlake(args: readonly string[], output: string, killAt = ''): Promise<Ended> {
  const env = { LOTLAKE_KILL_AT: killAt, LOTLAKE_PER_PAGE: '30' };
  return startLotlake(args, { url: sandbox.url, output, env, cwd: folder.path }).ended;
}

/** Starts the run again in this process, which is faster. */
async function restart(output: string): Promise<void> {
  const config = configFor(sandbox.url, output, { perPage: 30, allowShrink: true });
  await nightly({ config, reporter: silentReporter() });
}

async function succeed(args: readonly string[], output: string): Promise<void> {
  const ended = await lotlake(args, output);
  expect(ended.code, ended.err).toBe(0);
}

beforeAll(async () => {
  writeFileSync(join(folder.path, 'lotlake.config.json'), '{"keepSnapshots": 1, "keepDays": 0}');
  sandbox = await startSandbox({ vehicles: 60, seed: 13, clock: CLOCK });
  await succeed(['run', 'nightly'], first);
  before = await contentOf(first);
  sandbox.setClock(new Date(CLOCK.getTime() + HOURS * 3_600_000));
  cpSync(first, second, { recursive: true, verbatimSymlinks: true });
  await succeed(['run', 'nightly', '--allow-shrink'], second);
  after = await contentOf(second);
  expect(after).not.toEqual(before);
  // The night that is killed lands a delta.
  expect(listPasses(join(second, 'landing'), 'cars').map(({ record }) => record.form)).toEqual([
    'keyframe',
    'delta',
  ]);
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

describe('a nightly run that is killed', () => {
  it.for(killPoints.filter(isNight))(
    'at %s leaves a sound lake and is repaired by the next run',
    async (point) => {
      const output = join(folder.path, point);
      cpSync(first, output, { recursive: true, verbatimSymlinks: true });
      const killed = await lotlake(
        ['run', 'nightly', '--allow-shrink'],
        output,
        `${point}#${TIMES[point] ?? 1}`,
      );
      expect(killed.signal, killed.err).toBe('SIGKILL');
      expect([before, after]).toContainEqual(await contentOf(output));
      await restart(output);
      expect(await contentOf(output)).toEqual(after);
      if (point.startsWith('publish.')) await succeed(['verify'], output);
    },
  );
});

describe('a vacuum that is killed', () => {
  it.for(killPoints.filter(isVacuum))(
    'at %s leaves the lake as it was, and the next one finishes its work',
    async (point) => {
      const output = join(folder.path, point);
      cpSync(second, output, { recursive: true, verbatimSymlinks: true });
      const killed = await lotlake(['vacuum'], output, point);
      expect(killed.signal, killed.err).toBe('SIGKILL');
      expect(await contentOf(output)).toEqual(after);
      await succeed(['vacuum'], output);
      expect(readdirSync(join(output, 'lake', 'snapshots'))).toHaveLength(1);
      expect(readdirSync(join(output, 'lake')).sort()).toEqual(['.lake.json', 'current', 'snapshots']);
      expect(await contentOf(output)).toEqual(after);
    },
  );
});
