import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { diagnose, doctor } from '../../src/cli/commands/doctor.js';
import { countIn } from '../../src/cli/doctor/counts.js';
import type { DoctorContext } from '../../src/cli/doctor/local.js';
import { placeOf, takeLock } from '../../src/core/job/lock.js';
import type { Manifest } from '../../src/core/lake/manifest.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { serve } from '../extract/support.js';
import { makeSnapshot } from '../mirror/support.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_MARTS } from '../pipelines/support.js';
import { effectsIn } from './support.js';

/** A set-up, and the first line of its result that is not ok. `…` matches any text. */
interface SetUp {
  readonly what: string;
  readonly says: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly means?: Partial<DoctorContext>;
  /** Files of the working folder, whose output folder is `output`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly prepare?: (output: string) => unknown;
  readonly now?: () => Date;
}

const SNAPSHOT = '20261101T020000Z-00000a';
const GONE = '20261102T020000Z-00000b';

/** Publishes a snapshot with one file in an output folder. */
function publish(output: string, more: Partial<Manifest> = {}): void {
  makeSnapshot(output, SNAPSHOT, { 'data.parquet': 'rows' }, more);
  symlinkSync(`snapshots/${SNAPSHOT}`, join(output, 'lake', 'current'));
}

const HOUR = 3_600_000;

const SET_UPS: readonly SetUp[] = [
  {
    what: 'a Node that is too old',
    says: 'failed node: this is Node 18.20.0, and lotlake needs 20.19 or newer',
    means: { node: '18.20.0' },
  },
  {
    what: 'no URL',
    says: 'failed origin: there is no base URL',
    env: { LOTLAKE_BASE_URL: '' },
  },
  {
    what: 'a mistyped setting',
    says: 'failed configuration: perpage in …lotlake.config.json: there is no such setting; did you mean perPage?',
    files: { 'lotlake.config.json': '{"perpage": 5}' },
  },
  {
    what: 'a mistyped variable',
    says: 'warning configuration: LOTLAKE_PERPAGE: there is no such variable; did you mean LOTLAKE_PER_PAGE?',
    env: { LOTLAKE_PERPAGE: '5' },
  },
  {
    what: 'a key file that cannot be read',
    says: 'failed configuration: the key file …none cannot be read: ENOENT…',
    env: { LOTLAKE_API_KEY_FILE: 'none' },
  },
  {
    what: 'a key in `.env` that others can read',
    says: 'warning configuration: others can read ….env, which holds a secret (mode 644); run chmod 600 ….env',
    files: { '.env': 'LOTLAKE_API_KEY=sandbox-key' },
  },
  {
    what: 'a file in the place of the output folder',
    says: 'failed configuration: the default of output is "output": …output is no folder',
    files: { output: 'a file' },
  },
  {
    what: 'an output folder that cannot be written',
    says: 'failed output: the output folder /proc/lotlake cannot be written: …',
    env: { LOTLAKE_OUTPUT: '/proc/lotlake' },
  },
  {
    what: 'too little space',
    says: 'failed space: there may be too little space below …: 0 MB free; a run takes up to 8.0 GB: a snapshot of 4.0 GB, …',
    means: { freeBytes: () => 1000 },
    prepare: (output) => publish(output, { marts: { m: { ...TABLE, bytes: 4e9 } } }),
  },
  {
    what: 'a run at work',
    says: 'failed lock: …lotlake.lock is held by process …, which runs nightly since …',
    prepare: (output) => takeLock(join(output, 'lotlake.lock'), { pipeline: 'nightly', now: new Date() }),
  },
  {
    what: 'a lock of another host',
    says: 'warning lock: …lotlake.lock is held by process 7 on host elsewhere, which runs nightly since 2026-11-01, whose process cannot be seen from here; its last sign of life is … s old',
    prepare: (output) => {
      const holder = {
        pid: 7,
        host: 'elsewhere',
        place: 'a b',
        pipeline: 'nightly',
        started_at: '2026-11-01',
      };
      symlinkSync(JSON.stringify(holder), join(output, 'lotlake.lock'));
    },
  },
  {
    what: 'a lake of a later format',
    says: 'failed lake: …manifest.json has format 9, written by lotlake 0; this is lotlake …',
    prepare: (output) => publish(output, { schema_version: 9 as never }),
  },
  {
    what: 'a link `current` to nothing',
    says: 'failed lake: the published snapshot 20261102T020000Z-00000b is damaged: …manifest.json cannot be read',
    prepare: (output) => {
      mkdirSync(join(output, 'lake'));
      symlinkSync(`snapshots/${GONE}`, join(output, 'lake', 'current'));
    },
  },
  {
    what: 'a lake of another service',
    says: 'failed origin: …output holds the lake of other, and this run asks service',
    prepare: (output) => publish(output, { origin: 'other' }),
  },
  {
    what: 'a pass that cannot be read',
    says: 'warning landing: 0 passes; …a-pass cannot be read: …pass.json cannot be read',
    prepare: (output) => {
      mkdirSync(join(output, 'landing', 'cars', 'a-pass'), { recursive: true });
      writeFileSync(join(output, 'landing', 'cars', 'a-pass', 'pass.json'), '{');
    },
  },
  {
    what: 'a service that is down',
    says: 'failed network: no complete answer from GET http://127.0.0.1:1/…: connect ECONNREFUSED 127.0.0.1:1',
    env: { LOTLAKE_BASE_URL: 'http://127.0.0.1:1' },
  },
  {
    what: 'a host that does not exist',
    says: 'failed network: no complete answer from GET https://service.invalid/…: getaddrinfo E… service.invalid',
    env: { LOTLAKE_BASE_URL: 'https://service.invalid' },
  },
  {
    what: 'a proxy that refuses',
    says: 'failed network: no complete answer from GET https://service.test/…: Proxy response (407) !== 200 …',
    env: { LOTLAKE_BASE_URL: 'https://service.test' },
  },
  {
    what: 'a clock that is off by hours',
    says: 'failed clock: the clock of this machine is 3 hours ahead of the one of the service',
    now: () => new Date(Date.now() + 3 * HOUR),
  },
  {
    what: 'a key that is refused',
    says: 'failed key: the key is refused (403) from GET …: invalid or inactive api key',
    env: { LOTLAKE_API_KEY: 'another-key' },
  },
  {
    what: 'a base URL without its path',
    says: 'failed key: not found (404) from GET …',
    env: { LOTLAKE_BASE_URL: 'http://127.0.0.1/none' },
  },
  {
    what: 'a plan without the source that is asked for',
    says: 'failed plan: the source is refused (401) from GET …: source 12 is not enabled for this key',
    env: { LOTLAKE_SOURCES: '12' },
  },
  {
    what: 'a plan without one of the sources that are asked for',
    says: 'warning plan: the key lacks a source that is asked for: the source is refused (401) from GET …: source 12 is not enabled for this key',
    env: { LOTLAKE_SOURCES: '1,12' },
  },
  {
    what: 'a page size that the plan refuses',
    says: 'warning plan: the plan refuses 200 records a page: bad request (400) from GET …',
    env: { LOTLAKE_PER_PAGE: '200' },
  },
];

const TABLE = { columns: [], key: [], partitioned: false, rows: 0, bytes: 0, files: [] };

let sandbox: Sandbox;
const proxy = createServer().on('connect', (_, socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'));
const folders: ReturnType<typeof temporaryFolder>[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 20, plan: 'small', domains: [1, 3], date: () => new Date() });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) folder.remove();
});
afterAll(async () => {
  proxy.close();
  await sandbox.close();
});

/** Effects of a set-up in its own folder. Everything is sound except what the set-up changes. */
async function effectsOf({ env = {}, files = {}, prepare, now }: Partial<SetUp>) {
  const folder = temporaryFolder();
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const output = join(folder.path, 'output');
  if (prepare !== undefined) mkdirSync(output);
  const lock: unknown = await prepare?.(output);
  for (const name of ['https_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined);
  vi.stubEnv('HTTPS_PROXY', env.LOTLAKE_BASE_URL?.endsWith('.test') ? urlOf(proxy) : undefined);
  const base = env.LOTLAKE_BASE_URL?.replace('127.0.0.1/', `${new URL(sandbox.url).host}/`);
  const set = {
    ...{
      LOTLAKE_API_KEY: sandbox.apiKey,
      LOTLAKE_RATE: '1000',
      LOTLAKE_PER_PAGE: '50',
      LOTLAKE_ORIGIN: 'service',
    },
    ...{ LOTLAKE_MEMORY: '700MB', ...env, LOTLAKE_BASE_URL: base ?? sandbox.url },
  };
  const { effects, out } = effectsIn(folder.path, set);
  return { effects: { ...effects, now: now ?? effects.now }, out, lock };
}

const urlOf = (server: typeof proxy): string => `http://127.0.0.1:${Object(server.address()).port}`;

const MEANS = { input: {}, offline: false, notify: false, node: '20.20.0', freeBytes: () => 1e12 };

const patternOf = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^]*')}$`);

describe('lotlake doctor', () => {
  it('finds nothing wrong with a sound set-up, and leaves nothing', async () => {
    const { effects } = await effectsOf({
      prepare: (output) =>
        nightly({
          config: configFor(sandbox.url, output, { origin: 'service', sources: [1, 3], perPage: 50 }),
          reporter: silentReporter(),
          now: () => new Date(),
          ...WITHOUT_MARTS,
        }),
    });
    const { lines, error } = await diagnose({ ...MEANS, effects });
    expect(lines.map(({ check, status }) => [check, status])).toEqual(
      [
        ...['node', 'configuration', 'output', 'space', 'lock', 'lake', 'landing', 'webhook'],
        ...['origin', 'network', 'clock', 'key', 'plan', 'counts'],
      ].map((check) => [check, 'ok']),
    );
    expect(error).toBeUndefined();
    expect(lines.find(({ check }) => check === 'plan')?.text).toBe(
      'sources 1, 3 and not 12; 50 records a page; 1000 requests a second, as configured: the service names no limit',
    );
    const counts =
      /^vehicles of the service and of the lake: iaai_com (\d+) and \1, copart_com (\d+) and \2, encar_com refused and 0$/;
    const counted = lines.at(-1)?.text ?? '';
    expect(counted).toMatch(counts);
    expect(counts.exec(counted)?.slice(1)).not.toContain('0');
  }, 60_000);

  it.each(SET_UPS)('of $what says: $says', async (setUp) => {
    const { effects, lock } = await effectsOf(setUp);
    const { lines, error } = await diagnose({ ...MEANS, ...setUp.means, effects });
    const first = lines.find(({ status }) => status !== 'ok');
    expect(`${first?.status} ${first?.check}: ${first?.text}`).toMatch(patternOf(setUp.says));
    expect(first?.hint ?? '').not.toBe('');
    expect(error?.code).toBe(lines.find(({ status }) => status === 'failed')?.code);
    if (typeof lock === 'object' && lock !== null) Reflect.get(lock, 'release')();
  });

  it('tells a refused key at once, also if a proxy says so in a page of its own', async () => {
    const server = await serve((_, response) =>
      response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Forbidden</h1>'),
    );
    const { effects } = await effectsOf({ env: { LOTLAKE_BASE_URL: server.url } });
    const began = performance.now();
    const { lines } = await diagnose({ ...MEANS, effects });
    await server.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    const failed = lines.find(({ status }) => status === 'failed');
    expect(failed).toMatchObject({ check: 'key', code: 'SERVICE_FOREIGN' });
    expect(failed?.text).toContain('(403, text/html)');
    expect(failed?.hint).toContain('LOTLAKE_API_KEY');
  });

  it('warns of a key that is too short to be hidden well', async () => {
    const other = await startSandbox({ vehicles: 5, apiKey: 'q7zx' });
    const { effects } = await effectsOf({
      env: { LOTLAKE_BASE_URL: other.url, LOTLAKE_API_KEY: 'q7zx' },
    });
    const { lines } = await diagnose({ ...MEANS, effects });
    await other.close();
    expect(lines.find(({ check }) => check === 'key')).toMatchObject({
      ...{ status: 'warning', hint: expect.stringContaining('less than 8 characters') },
    });
  });

  it.each([
    { what: 'once', times: 1, status: 'ok', text: /\b0 s ahead of|is 0 s/ },
    { what: 'every time', times: 9, status: 'warning', text: /dated hours from one another/ },
  ])('does not take an answer from a cache ($what) for a wrong clock', async ({ times, status, text }) => {
    let answers = 0;
    const server = await serve((_, response) => {
      const isCached = answers++ < times;
      const date = new Date(isCached ? Date.parse('2026-01-01') + answers * HOUR : Date.now());
      response.writeHead(200, { date: date.toUTCString() }).end('{"data":[],"links":{"next":null}}');
    });
    const { effects } = await effectsOf({ env: { LOTLAKE_BASE_URL: server.url } });
    const { lines } = await diagnose({ ...MEANS, effects });
    await server.close();
    expect(lines.find(({ check }) => check === 'clock')).toMatchObject({
      ...{ status, text: expect.stringMatching(text) },
    });
  });

  it('reads a count in each form of an answer', () => {
    for (const body of [
      7,
      { count: 7 },
      { total: 7 },
      { data: { count: 7 } },
      { data: [{ count: 7 }] },
      { data: 7 },
    ])
      expect(countIn(body)).toBe(7);
    expect(countIn({ message: 'none' })).toBeUndefined();
  });

  it('is documented with each of these set-ups', () => {
    const page = readFileSync(join(packageRoot, 'docs', 'run', 'care.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (.*?) +\| `((?:failed|warning) .*?)` +\|$/gm)].map((row) =>
      row.slice(1),
    );
    expect(rows).toEqual(SET_UPS.map(({ what, says }) => [what, says]));
  });

  it('continues with the checks that do not depend on a failed one', async () => {
    const { effects } = await effectsOf({
      prepare: (output) => publish(output, { schema_version: 9 as never }),
      env: { LOTLAKE_API_KEY: 'q8zx' },
    });
    const { lines } = await diagnose({ ...MEANS, effects });
    expect(Object.fromEntries(lines.map(({ check, status }) => [check, status]))).toMatchObject({
      ...{ lake: 'failed', landing: 'ok', network: 'ok', clock: 'ok', key: 'failed', plan: 'not checked' },
    });
  });

  it('says that the next run takes over the lock of a dead process', async () => {
    const holder = { pid: 2 ** 30, pipeline: 'nightly', started_at: '2026-11-01' };
    const { effects } = await effectsOf({
      prepare: (output) =>
        symlinkSync(JSON.stringify({ ...holder, place: placeOf() }), join(output, 'lotlake.lock')),
    });
    const { lines } = await diagnose({ ...MEANS, effects });
    expect(lines.find(({ check }) => check === 'lock')).toMatchObject({
      status: 'ok',
      text: /takes the lock over$/,
    });
  });

  it('prints JSON, throws the first failure, and sends no request with --offline', async () => {
    const { effects, out } = await effectsOf({ env: { LOTLAKE_API_KEY: 'another-key' } });
    const sent = sandbox.requests.length;
    await doctor.run({ json: true, offline: true, notify: false }, effects);
    expect(sandbox.requests).toHaveLength(sent);
    expect(JSON.parse(out())[0]).toMatchObject({ check: 'node', status: 'ok', hint: null, code: null });
    await expect(doctor.run({ json: false, offline: false, notify: false }, effects)).rejects.toMatchObject({
      ...{ code: 'SERVICE_KEY_REFUSED', outcome: 'refused' },
    });
    expect(out()).toMatch(
      /^failed {7}key {12}the key is refused .* \[SERVICE_KEY_REFUSED\]\n {28}check LOTLAKE_API_KEY$/m,
    );
    expect(out()).not.toContain('another-key');
  });
});
