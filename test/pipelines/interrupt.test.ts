import { cpSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layoutOf } from '../../src/core/lake/layout.js';
import { type Fault, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import type { KillPoint } from './kill-points.js';
import { contentOf, type Ended, interruptAt, type Started, startLotlake } from './lake-process.js';
import { temporaryFolder } from './support.js';
import { isProbe } from './world-oracle.js';

/** Long before the real clock, which the runs use, so that no lot is sold while two lakes are compared. */
const CLOCK = new Date('2026-08-18T02:00:00Z');
const NIGHT = ['run', 'nightly', '--allow-shrink'];
/** Milliseconds within which an interrupted run ends. */
const SOON = 5000;

type Content = Awaited<ReturnType<typeof contentOf>>;
const folder = temporaryFolder();
const [disturbed, undisturbed] = [join(folder.path, 'disturbed'), join(folder.path, 'undisturbed')];
const layout = layoutOf(disturbed);
let sandbox: Sandbox;
let first: string;
let before: Content;
let after: Content;

function start(args: readonly string[], output: string, env: NodeJS.ProcessEnv = {}): Started {
  return startLotlake(args, {
    url: sandbox.url,
    output,
    env: { LOTLAKE_PER_PAGE: '20', LOTLAKE_CONCURRENCY: '1', ...env },
    cwd: folder.path,
  });
}

async function succeed(args: readonly string[], output: string): Promise<Ended> {
  const ended = await start(args, output).ended;
  expect(ended.code, ended.err).toBe(0);
  return ended;
}

/** Pages of `/cars` that were requested after the first `since` requests. */
function pagesAsked(since: number): number[] {
  return sandbox.requests
    .slice(since)
    .filter(({ path, query }) => path === '/cars' && !isProbe(new URLSearchParams(query)))
    .map(({ query }) => Number(new URLSearchParams(query).get('page')));
}

/** Names of the landed pages of `/cars`. */
function pagesLanded(): string[] {
  const cars = join(layout.landing, 'cars');
  return readdirSync(cars).flatMap((pass) =>
    readdirSync(join(cars, pass))
      .filter((name) => /^page-.*gz$/.test(name))
      .map((name) => `${pass}/${name}`),
  );
}

/** Expects what an interrupted run must leave: the last snapshot, and nothing unfinished. */
function expectAtRest({ code, signal, err }: Ended): void {
  expect({ code, signal }, err).toEqual({ code: 130, signal: null });
  expect(err).toContain('interrupted: the last snapshot stays current');
  expect(err).toContain('run the same command again to go on');
  expect(readdirSync(disturbed).sort()).toEqual(['lake', 'landing', 'report.html', 'runs']);
  expect(readdirSync(layout.snapshots)).toEqual([first]);
  expect(readlinkSync(layout.current)).toBe(join('snapshots', first));
  const left = readdirSync(disturbed, { recursive: true }).filter((name) => String(name).endsWith('.tmp'));
  expect(left).toEqual([]);
}

beforeAll(async () => {
  writeFileSync(join(folder.path, 'lotlake.config.json'), '{"keepSnapshots": 1, "keepDays": 0}');
  sandbox = await startSandbox({ vehicles: 160, seed: 13, clock: CLOCK });
  await succeed(NIGHT, disturbed);
  cpSync(disturbed, undisturbed, { recursive: true, verbatimSymlinks: true });
  before = await contentOf(disturbed);
  [first = ''] = readdirSync(layout.snapshots);
  sandbox.setClock(new Date(CLOCK.getTime() + 60 * 3_600_000));
  await succeed(NIGHT, undisturbed);
  after = await contentOf(undisturbed);
  expect(after).not.toEqual(before);
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

/** Each entry interrupts a run that resumes the run before. */
const WAITS: readonly {
  readonly name: string;
  readonly fault?: Fault;
  readonly env?: NodeJS.ProcessEnv;
  /** Text on stderr while the run waits. By default, it waits as soon as the request is sent. */
  readonly says?: string;
  readonly signal: NodeJS.Signals;
}[] = [
  { name: 'its turn at the rate limit', env: { LOTLAKE_RATE: '0.02' }, signal: 'SIGINT' },
  { name: 'an answer', fault: { kind: 'delay', ms: 60_000 }, signal: 'SIGTERM' },
  { name: 'the rest of a body', fault: { kind: 'stalled-body' }, signal: 'SIGINT' },
  { name: 'the next attempt', fault: { kind: 'server-error' }, says: 'attempt 2', signal: 'SIGINT' },
  {
    name: 'the end of a long Retry-After',
    fault: { kind: 'rate-limited', seconds: 120 },
    says: 'attempt 1',
    signal: 'SIGTERM',
  },
];

describe('a nightly run that is interrupted', () => {
  it.for(WAITS)('while it waits for $name ends soon after', async ({ fault, env, says, signal }) => {
    // One page is answered first, so each run lands one page more than the run before.
    sandbox.setFaults(fault === undefined ? [] : [{ match: { path: '/cars', after: 2 }, fault }]);
    const landed = pagesLanded();
    const earlier = sandbox.requests.length;
    const run = start(NIGHT, disturbed, env);
    const enough = fault === undefined ? 1 : 3;
    while (sandbox.requests.length < earlier + enough) await sleep(10);
    await (says === undefined ? sleep(150) : run.printed(says));
    const sent = performance.now();
    run.child.kill(signal);
    const ended = await run.ended;
    expect(performance.now() - sent).toBeLessThan(SOON);
    expectAtRest(ended);
    expect(pagesLanded()).toEqual(expect.arrayContaining(landed));
  });

  const POINTS: readonly KillPoint[] = [
    'job.locked',
    'land.page-written',
    'reconcile.table-compared',
    'model.mart-written',
    'publish.sealed',
  ];
  it.for(POINTS)('at %s ends at that point', async (point) => {
    sandbox.setFaults([]);
    const run = start(NIGHT, disturbed, { LOTLAKE_PAUSE_AT: point });
    expectAtRest(await interruptAt(run, point, 'SIGINT'));
  });

  it('several times at once is interrupted once', async () => {
    const run = start(NIGHT, disturbed, { LOTLAKE_PAUSE_AT: 'reconcile.begun' });
    await run.printed('paused');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) run.child.kill(signal);
    expectAtRest(await interruptAt(run, 'reconcile.begun', 'SIGINT'));
    expect(await contentOf(disturbed)).toEqual(before);
  });

  it('after the switch says that its snapshot is published', async () => {
    const landed = pagesLanded();
    const earlier = sandbox.requests.length;
    const run = start(NIGHT, disturbed, { LOTLAKE_PAUSE_AT: 'publish.switched' });
    const { code, out, err } = await interruptAt(run, 'publish.switched', 'SIGINT');
    expect(code, err).toBe(0);
    expect(out).toMatch(/^\nSnapshot \S+ is published/);
    expect(await contentOf(disturbed)).toEqual(after);
    expect(pagesLanded()).toEqual(landed);
    expect(pagesAsked(earlier)).toEqual([]);
    expect(readdirSync(disturbed).sort()).toEqual(['lake', 'landing', 'report.html', 'runs']);
  });
});

describe('a vacuum that is interrupted', () => {
  it('between two folders leaves the lake whole, and the next one removes the rest', async () => {
    for (const id of ['20990101T000000Z-abcdef', '20990102T000000Z-abcdef'])
      mkdirSync(join(layout.snapshots, id, 'lots'), { recursive: true });
    const run = start(['vacuum'], disturbed, { LOTLAKE_PAUSE_AT: 'vacuum.moved' });
    const { code, err } = await interruptAt(run, 'vacuum.moved', 'SIGINT');
    expect(code, err).toBe(130);
    expect(err).toContain('interrupted: the lake is whole');
    expect(await contentOf(disturbed)).toEqual(after);
    await succeed(['vacuum'], disturbed);
    expect(readdirSync(layout.lake).sort()).toEqual(['.lake.json', 'current', 'snapshots']);
    expect(readdirSync(layout.snapshots)).toHaveLength(1);
    await succeed(['verify'], disturbed);
    expect(await contentOf(disturbed)).toEqual(after);
  });
});
