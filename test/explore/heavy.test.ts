import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesBelow } from '../../src/core/lake/files.js';
import { CLI } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { night } from '../report/lake.js';
import { request } from './server.js';

/** Bytes of DuckDB's memory in all processes together, and what they may take beside it (docs/ask/explore.md). */
const MEMORY = 1e9;
const BESIDE = 1.2e9;

/** Mixed requests; set LOTLAKE_REQUESTS for more. */
const REQUESTS = Number(process.env.LOTLAKE_REQUESTS ?? 400);
const AT_ONCE = Math.min(200, REQUESTS / 2);

const folder = temporaryFolder();
const temp = temporaryFolder();
const started: ChildProcess[] = [];
/** What servers wrote beside their address. */
const said: string[] = [];
beforeAll(() => night(folder.path, { vehicles: 1500, clock: new Date('2026-11-20T04:00:00Z') }), 120_000);
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  expect(said).toEqual([]);
  folder.remove();
  temp.remove();
});

const ENDLESS = 'select count(*) from range(10000000) a, range(10000000) b where (a.range * b.range) % 7 = 3';
/** Takes for ever to plan. */
const NESTED = `select ${Array.from({ length: 60 }, (_, i) => `list_transform([1, 2], lambda x${i}: `).join('')}1${')'.repeat(60)}`;

/** Queries that take all there is of time, memory, disk, rows or width. */
const HEAVY: readonly string[] = [
  ENDLESS,
  NESTED,
  'select a.range, b.range from range(100000000) a, range(1000) b order by random()',
  'select * from range(1000000000)',
  "select repeat('x', 1000000) as x from range(100000)",
  "select repeat('x', 200000000) as x from range(20)",
  'select list(range) from range(200000000)',
  'select list(range) from range(100000000) group by range % 3',
  "select string_agg(range, ',') from range(300000000)",
  'select range(0, 10000000) from range(2000)',
  'with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r',
  'select histogram(range) from range(100000000)',
  'from lots a, lots b, lots c order by a.lot_id + b.lot_id',
  'select count(*) from lots a, lots b, lots c, lots d',
  'select distinct range % 50000000 from range(1000000000)',
  "select regexp_matches(repeat('a', 100000), '(a*)*b') from range(100000)",
  'select map_from_entries(list((range, range))) from range(50000000)',
  'select sum(range) over (order by random()) from range(100000000)',
  "select cast(repeat('x', 1000000) as blob) from range(100000)",
  'select * from lots a join lots b on a.lot_id <> b.lot_id',
  `select ${Array.from({ length: 3000 }, (_, i) => `${i} as c${i}`).join(', ')} from range(1000000)`,
  'select unnest(range(0, 100000)) from range(100000) order by 1',
  'select struct_pack(a := list(range), b := list(range)) from range(80000000)',
];

/** A server in a process of its own, as a user starts it. */
async function start() {
  const child = spawn(process.execPath, [CLI, 'explore', '--output', folder.path, '--json'], {
    cwd: folder.path,
    env: { ...process.env, TMPDIR: temp.path, LOTLAKE_MEMORY: `${MEMORY / 1e6}MB` },
  });
  started.push(child);
  child.stderr.on('data', (piece) => said.push(String(piece)));
  const [out] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  child.stdout.on('data', (piece) => said.push(String(piece)));
  const { url } = JSON.parse(String(out));
  const first = await request(url);
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const get = (path: string, signal?: AbortSignal, method = 'GET'): Promise<Response> =>
    request(`${new URL(path, url)}`, { headers: { cookie }, method, ...(signal && { signal }) });
  return { child, get, pid: child.pid ?? 0 };
}

/** Numbers from 0 to 1 that are the same for a seed (a linear congruential generator). */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const sql = (q: string): string => `/sql?${new URLSearchParams({ q })}`;
const file = (q: string, format = 'csv'): string => `/query.${format}?${new URLSearchParams({ q })}`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks, and leaves after some milliseconds. */
async function leaving(asked: (signal: AbortSignal) => Promise<Response>, after: number): Promise<void> {
  const signal = AbortSignal.timeout(after);
  await asked(signal)
    .then((answer) => answer.arrayBuffer())
    .catch(() => undefined);
}

/** Milliseconds until an answer is whole. */
async function timed(answer: Promise<Response>): Promise<number> {
  const began = performance.now();
  await (await answer).arrayBuffer();
  return performance.now() - began;
}

/** A process and those that it started. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

/** What a server and its processes hold: bytes, descriptors, threads, files in the scratch folder, seconds of processor time. */
function heldBy(pid: number) {
  const held = { bytes: 0, descriptors: 0, threads: 0, processes: 0, seconds: 0, files: 0 };
  for (const each of familyOf(pid)) {
    try {
      const status = readFileSync(`/proc/${each}/status`, 'utf8');
      const number = (name: string): number =>
        Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
      const stat = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      held.bytes += number('VmRSS') * 1024;
      held.threads += number('Threads');
      held.descriptors += readdirSync(`/proc/${each}/fd`).length;
      held.seconds += (Number(stat[11]) + Number(stat[12])) / 100;
      held.processes++;
    } catch {
      // It ended meanwhile.
    }
  }
  held.files = filesBelow(temp.path).length;
  return held;
}

/** Ends a server by Ctrl-C and says how long that took, in milliseconds. */
async function interrupt(child: ChildProcess): Promise<number> {
  const began = performance.now();
  const ended = once(child, 'close');
  child.kill('SIGINT');
  await ended;
  return performance.now() - began;
}

describe.skipIf(!existsSync('/proc/self/task'))('a server under heavy work', () => {
  it('ends within two seconds of Ctrl-C, whatever runs', async () => {
    for (const path of [
      sql(ENDLESS),
      sql(NESTED),
      file(HEAVY[2] ?? '', 'parquet'),
      '/report',
      sql(HEAVY[10] ?? ''),
    ]) {
      const { child, get } = await start();
      const asked = get(path)
        .then((answer) => answer.arrayBuffer())
        .catch(() => undefined);
      await pause(700);
      expect(await interrupt(child), path.slice(0, 80)).toBeLessThan(2000);
      await asked;
    }
    expect(readdirSync(temp.path)).toEqual([]);
  }, 120_000);

  it('ends within two seconds of Ctrl-C while it opens', async () => {
    for (const after of [150, 300, 450, 600, 750]) {
      const child = spawn(process.execPath, [CLI, 'explore', '--output', folder.path, '--json'], {
        cwd: folder.path,
        env: { ...process.env, TMPDIR: temp.path },
      });
      started.push(child);
      await pause(after);
      expect(await interrupt(child), String(after)).toBeLessThan(2000);
    }
    expect(readdirSync(temp.path)).toEqual([]);
  }, 60_000);

  it('has ended what a reader left, at any moment', async () => {
    const { child, get, pid } = await start();
    for (const query of [ENDLESS, NESTED, ...HEAVY.slice(2, 8)])
      for (const after of [1, 10, 400]) await leaving((signal) => get(sql(query), signal), after);
    for (let i = 0; i < 100; i++)
      void leaving((signal) => get(file(ENDLESS, i % 2 === 0 ? 'csv' : 'parquet'), signal), i);
    const [car] = [...(await (await get('/lots')).text()).matchAll(/\/car\/\d+/g)].map(([found]) => found);
    for (let i = 0; i < 500; i++) void leaving((signal) => get(car ?? '', signal), 5 + (i % 40));
    await pause(1500);
    expect(await timed(get('/lots'))).toBeLessThan(1000);
    const before = heldBy(pid);
    await pause(1000);
    expect(heldBy(pid).seconds - before.seconds).toBeLessThan(0.3);
    expect(before.processes).toBeLessThanOrEqual(3);
    await interrupt(child);
  }, 120_000);

  it('answers other pages while slow queries are open', async () => {
    const { child, get } = await start();
    const open = Array.from({ length: 8 }, () =>
      get(sql(ENDLESS))
        .then((answer) => answer.text())
        .catch(() => ''),
    );
    await pause(1000);
    for (const path of ['/', '/lots?make=Toyota', '/tables', '/compare?kind=make&of=Toyota'])
      expect(await timed(get(path)), path).toBeLessThan(1000);
    expect(await interrupt(child)).toBeLessThan(2000);
    await Promise.all(open);
  }, 60_000);

  it('leaves nothing of a HEAD request, and refuses it', async () => {
    const { child, get, pid } = await start();
    // It reads the report from its start.
    await (await get('/')).text();
    const before = heldBy(pid);
    for (let i = 0; i < 20; i++)
      for (const path of ['/', file('from lots', 'parquet'), file('from lots'), '/report'])
        expect((await get(path, undefined, 'HEAD')).status).toBe(405);
    const { files, descriptors } = heldBy(pid);
    expect(files).toBe(before.files);
    expect(descriptors).toBeLessThanOrEqual(before.descriptors);
    await interrupt(child);
  });

  it('says what a query took too much of, and goes on', async () => {
    const { child, get } = await start();
    for (const query of [
      "select repeat('x', 1000000) as x from range(100000)",
      "select repeat('x', 200000000) as x from range(20)",
      'select list(range) from range(200000000)',
      'select range(0, 10000000) from range(2000)',
      "select repeat('x', 5000000)::blob as x from range(400)",
    ]) {
      const page = await (await get(sql(query))).text();
      expect(page, query).toMatch(/role="alert"><pre>(Out of Memory Error|it needed much more memory)/);
      expect(await (await get(sql('select 42 as answer'))).text()).toContain(
        '<th scope="row" class="number">42',
      );
    }
    await interrupt(child);
  }, 120_000);

  it(`stays within its memory over ${REQUESTS} mixed requests, ${AT_ONCE} at once, with readers that leave`, async () => {
    const { child, get, pid } = await start();
    const draw = drawing(7);
    const ids = [...(await (await get('/lots')).text()).matchAll(/\/car\/(\d+)/g)].map(([, id]) => id);
    const pick = <T>(some: readonly T[]): T => some[Math.floor(draw() * some.length)] as T;
    const pathOf = (): string => {
      const kind = draw();
      if (kind < 0.35) return sql(pick(HEAVY));
      if (kind < 0.55) return file(pick(HEAVY), pick(['csv', 'parquet']));
      if (kind < 0.65) return `/car/${pick(ids)}`;
      if (kind < 0.75)
        return `/tables/lots.html?by=domain_name&where=${encodeURIComponent('lot_id % 7 = 1')}`;
      return pick(['/', '/lots?make=Toyota', '/tables', '/runs', '/lots.csv', '/compare?kind=make&of=Ford']);
    };
    let most = 0;
    let isDone = false;
    const waits: number[] = [];
    const watch = (async () => {
      while (!isDone) {
        most = Math.max(most, heldBy(pid).bytes);
        await pause(40);
      }
    })();
    const probe = (async () => {
      while (!isDone) {
        waits.push(await timed(get('/tables?q=lot')));
        await pause(200);
      }
    })();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next++ < REQUESTS)
        await leaving((signal) => get(pathOf(), signal), 1 + Math.floor(draw() ** 4 * 8000));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    isDone = true;
    await Promise.all([watch, probe]);
    await pause(1500);
    const after = heldBy(pid);
    waits.sort((a, b) => a - b);
    const figures = {
      most: Math.round(most / 1e6),
      after: { ...after, bytes: Math.round(after.bytes / 1e6) },
      wait: {
        median: waits[waits.length >> 1],
        p95: waits[Math.floor(waits.length * 0.95)],
        most: waits.at(-1),
      },
    };
    console.info(JSON.stringify(figures));
    expect(most, JSON.stringify(figures)).toBeLessThan(MEMORY + BESIDE);
    expect(after.processes).toBeLessThanOrEqual(3);
    expect(after.descriptors).toBeLessThan(300);
    // Other suites may run beside.
    expect(figures.wait.median, JSON.stringify(figures)).toBeLessThan(1000);
    expect(figures.wait.most, JSON.stringify(figures)).toBeLessThan(5000);
    expect(await interrupt(child)).toBeLessThan(2000);
    expect(readdirSync(temp.path)).toEqual([]);
  }, 1_200_000);
});
