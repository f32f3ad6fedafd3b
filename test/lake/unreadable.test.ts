import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { executeVacuum, planVacuum, type VacuumPlan } from '../../src/beyond/keep/vacuum-lake.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { runLotlake } from '../cli/support.js';
import {
  configFor,
  lastPage,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from '../pipelines/support.js';

const START = Date.parse('2026-11-02T02:00:00Z');
const folder = temporaryFolder();
const layout = layoutOf(folder.path);
let service: Awaited<ReturnType<typeof serve>>;
let nights = 0;

function job(reporter = silentReporter()) {
  const now = () => new Date(START + nights * 86_400_000);
  const config = configFor(service.url, folder.path, { referenceDays: 1000 });
  return { config, ...WITHOUT_MARTS, reporter, now };
}

async function night(): Promise<string[]> {
  nights++;
  const reporter = silentReporter();
  await nightly(job(reporter));
  return reporter.warnings;
}

async function vacuum(snapshots: number): Promise<VacuumPlan> {
  const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  const retention = { keepSnapshots: snapshots, keepDays: 0, keepPasses: 9 };
  const plan = await planVacuum(opened.session.connection, layout, retention).finally(opened.close);
  await executeVacuum(layout, plan, new AbortController().signal);
  return plan;
}

/** Damages a file in place without changing its size. Returns a function that repairs it. */
function damage(path: string): () => void {
  const sound = readFileSync(path);
  // Unchanged files are shared by several snapshots.
  rmSync(path);
  writeFileSync(
    path,
    sound.map(() => 0x5a),
  );
  return () => writeFileSync(path, sound);
}

const snapshots = (): string[] => readdirSync(layout.snapshots).sort();
const runsOf = (snapshot: string): string => {
  const table = join(layout.snapshots, snapshot, 'runs');
  return join(table, readdirSync(table)[0] ?? '');
};

beforeAll(async () => {
  service = await serve(({ pathname }) =>
    pathname === '/api/cars'
      ? { body: lastPage([{ id: 1, lots: [] }]) }
      : { status: 404, body: { message: 'not here' } },
  );
  for (const _ of [1, 2, 3]) await night();
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

describe('a vacuum', () => {
  it('removes no snapshot if the table of runs cannot be read, and reports that', async () => {
    const [first = '', second = '', third = ''] = snapshots();
    const mend = damage(runsOf(third));
    const { removals, unreadable } = await vacuum(2);
    expect(removals.filter(({ kind }) => kind === 'snapshot')).toEqual([]);
    expect(snapshots()).toEqual([first, second, third]);
    expect(unreadable).toMatchObject([{ path: join('lake', 'snapshots', third) }]);
    expect(unreadable[0]?.reason).toContain('no snapshot is taken for one that never was');
    mend();
    expect((await vacuum(3)).unreadable).toEqual([]);
  }, 60_000);

  it('leaves a snapshot whose manifest cannot be read, and removes the rest', async () => {
    const [first = '', second = '', third = ''] = snapshots();
    const mend = damage(join(layout.snapshots, second, 'manifest.json'));
    const { removals, unreadable } = await vacuum(1);
    expect(removals.filter(({ kind }) => kind === 'snapshot').map(({ path }) => path)).toEqual([
      join('lake', 'snapshots', first),
    ]);
    expect(unreadable).toEqual([
      { path: join('lake', 'snapshots', second), reason: 'its manifest cannot be read' },
    ]);
    mend();
    expect(snapshots()).toEqual([second, third]);
  }, 60_000);
});

describe('a pass that cannot be read', () => {
  const cars = join(layout.landing, 'cars');

  it('stops no night and no vacuum, stays where it is, and is reported', async () => {
    const [old = ''] = readdirSync(cars).sort();
    const mend = damage(join(cars, old, 'pass.json'));
    const warnings = await night();
    expect(
      warnings.filter((warning) => warning.startsWith(`${join(cars, old)} is left where it is`)),
    ).toEqual([expect.stringContaining('pass.json')]);
    expect((await vacuum(1)).unreadable).toMatchObject([{ path: join('landing', 'cars', old) }]);
    expect(existsSync(join(cars, old, 'pass.json'))).toBe(true);
    const { out, code } = runLotlake(folder.path, 'status');
    expect([code, out]).toEqual([0, expect.stringContaining(`cannot be read: ${join(cars, old)}: `)]);
    expect(runLotlake(folder.path, 'vacuum', '--dry-run').out).toContain(
      `left as it is: ${join('landing', 'cars', old)}: `,
    );
    await expect(rebuild(job())).rejects.toMatchObject({
      code: 'LAND_FAILED',
      message: expect.stringContaining(`${join(cars, old)}, from which the lake was made`),
    });
    mend();
    await rebuild(job());
  }, 120_000);

  it('is left out by a rebuild if no published run used it', async () => {
    const lost = join(cars, '20261101T020000Z-abcdef');
    mkdirSync(lost);
    writeFileSync(join(lost, 'page-000001.ndjson.gz'), '');
    const reporter = silentReporter();
    await rebuild(job(reporter));
    expect(reporter.warnings).toContainEqual(expect.stringContaining(`${lost} is left out`));
    renameSync(layout.lake, `${layout.lake}.away`);
    await expect(rebuild(job())).rejects.toMatchObject({
      message: expect.stringContaining('may have been made'),
    });
    rmSync(layout.lake, { recursive: true, force: true });
    renameSync(`${layout.lake}.away`, layout.lake);
  }, 120_000);
});
