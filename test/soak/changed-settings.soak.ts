import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listPasses } from '../../src/core/lake/passes/pass.js';
import { streamNames } from '../../src/core/service/streams.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { contentOf, type Ended, startLotlake } from '../pipelines/lake-process.js';
import { bareDuckDb, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';

/** Long before the real clock, which the runs use, so that no lot is sold while two lakes are compared. */
const CLOCK = new Date('2026-08-18T02:00:00Z');
const LATER = new Date('2026-11-20T14:00:00Z');

/** Settings that may change between a run and the run that resumes it. */
const SETTINGS: readonly NodeJS.ProcessEnv[] = [
  { LOTLAKE_PER_PAGE: '25' },
  { LOTLAKE_RATE: '300' },
  { LOTLAKE_CONCURRENCY: '4' },
  { LOTLAKE_MEMORY: '800MB' },
  { LOTLAKE_THREADS: '2' },
  { LOTLAKE_LOG: 'debug' },
];

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
const copy = (from: string, to: string): void =>
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
let world: Sandbox;

/** A command to kill: its arguments for a folder, the lake that it starts with, and what it should leave. */
interface Work {
  readonly name: string;
  readonly args: (output: string) => readonly string[];
  readonly base: string;
  readonly left: (output: string) => Promise<unknown>;
}

/** Rows of an exported table. */
async function exported(output: string): Promise<unknown> {
  const duck = await bareDuckDb();
  const rows = await duck.query(`select * from '${output}-export/**/*.parquet' order by lot_id`);
  duck.close();
  return rows;
}

const WORKS: readonly Work[] = [
  { name: 'nightly', args: () => ['run', 'nightly', '--allow-shrink'], base: 'first' },
  { name: 'incremental', args: () => ['run', 'incremental'], base: 'first' },
  { name: 'closing', args: () => ['run', 'closing'], base: 'second' },
  { name: 'vacuum', args: () => ['vacuum'], base: 'second' },
  {
    name: 'export',
    args: (output: string) => ['export', 'lots', '--to', `${output}-export`],
    base: 'second',
  },
].map((work) => ({
  ...work,
  left: work.name === 'export' ? exported : contentOf,
}));

const lotlake = (args: readonly string[], service: Sandbox, output: string, env: NodeJS.ProcessEnv = {}) =>
  startLotlake(args, {
    ...{ url: service.url, output, cwd: folder.path },
    env: { LOTLAKE_PER_PAGE: '40', LOTLAKE_CONCURRENCY: '1', ...env },
  });

async function succeed(started: { readonly ended: Promise<Ended> }): Promise<void> {
  const { code, err } = await started.ended;
  expect(code, err).toBe(0);
}

beforeAll(async () => {
  writeFileSync(at('lotlake.config.json'), '{"keepSnapshots": 1, "keepDays": 0}');
  world = await startSandbox({ vehicles: 240, seed: 13, clock: CLOCK, faults: WITHOUT_CATALOG });
  await succeed(lotlake(['run', 'nightly'], world, at('first')));
  world.setClock(LATER);
  copy(at('first'), at('second'));
  await succeed(lotlake(['run', 'nightly', '--allow-shrink'], world, at('second')));
});
afterAll(async () => {
  await world.close();
  folder.remove();
});

/** Pages and lookups that a run left in landing, as requests to the service. */
function landedIn(output: string): Set<string> {
  const passes = streamNames.flatMap((stream) => listPasses(join(output, 'landing'), stream));
  const left = passes.filter(({ record: { published, state } }) => !published && state !== 'abandoned');
  return new Set(
    left.flatMap(({ record: { kind, stream }, pages }) =>
      pages.map(({ list, page }) => {
        if (kind === 'lookup') return `/cars/${list}`;
        return `${stream === 'cars' ? '/cars' : '/archived-lots'} ${stream === 'cars' || stream === 'archived_lots' ? page : stream}`;
      }),
    ),
  );
}

/**
 * Pages and lookups that were requested after the first `since` requests. Probes of a total, which ask for one record,
 * are left out.
 */
const askedSince = (service: Sandbox, since: number): string[] =>
  service.requests.slice(since).flatMap(({ path, query }) => {
    const parameters = new URLSearchParams(query);
    if (path.startsWith('/cars/')) return [path];
    if (!['/cars', '/archived-lots'].includes(path) || parameters.get('per_page') === '1') return [];
    return [`${path} ${parameters.get('page')}`];
  });

/** About 10 minutes. The moments are random; a failure names its own. */
it('50 randomly killed runs are resumed under another setting, with the result of an undisturbed run', async () => {
  const expected = new Map<string, { readonly left: unknown; readonly ms: number }>();
  for (const { name, args, base, left } of WORKS) {
    const output = at(`${name}-undisturbed`);
    copy(at(base), output);
    const begun = performance.now();
    await succeed(lotlake(args(output), world, output));
    expected.set(name, { left: await left(output), ms: performance.now() - begun });
  }
  const counts: Record<string, number> = {};
  for (let i = 0; i < 50; i++) {
    const work = WORKS[i % WORKS.length];
    const env = SETTINGS[Math.floor(i / WORKS.length) % SETTINGS.length];
    if (work === undefined) continue;
    const { name, args, base, left } = work;
    const output = at(`${name}-${i}`);
    copy(at(base), output);
    const most = expected.get(name)?.ms ?? 0;
    // Every second run is killed at a random moment, the others after their first page.
    const isLanding = !['vacuum', 'export'].includes(name) && Math.floor(i / WORKS.length) % 2 === 1;
    const begun = performance.now();
    const killed = lotlake(args(output), world, output);
    while (isLanding && killed.child.exitCode === null && landedIn(output).size === 0) await wait(2);
    await wait(Math.random() * (isLanding ? most / 3 : most));
    killed.child.kill('SIGKILL');
    const ms = performance.now() - begun;
    const { signal } = await killed.ended;
    const landed = landedIn(output);
    const since = world.requests.length;
    const round = `${name}, killed after ${Math.round(ms)} ms (${signal}), then with ${JSON.stringify(env)}, ${landed.size} pages landed`;
    const again = await lotlake(args(output), world, output, env).ended;
    // If the export was complete before it was killed, it blocks the second export.
    if (again.code !== 0) expect(again.err, round).toContain('EXPORT_EXISTS');
    expect(
      askedSince(world, since).filter((page) => landed.has(page)),
      round,
    ).toEqual([]);
    // Of a run that had ended by itself, the next one shows as gone what left since that run saw it, seconds before.
    if (signal !== null) expect(await left(output), round).toEqual(expected.get(name)?.left);
    const what = signal === null ? 'ended before' : landed.size > 0 ? 'with pages landed' : 'with none';
    counts[`${name} ${what}`] = (counts[`${name} ${what}`] ?? 0) + 1;
    rmSync(output, { recursive: true });
    rmSync(`${output}-export`, { recursive: true, force: true });
  }
  process.stdout.write(`${JSON.stringify(counts, null, 1)}\n`);
}, 3_600_000);
