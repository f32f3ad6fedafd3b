import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { nightly } from '../../pipelines/nightly.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { type Ended, startLotlake } from '../pipelines/lake-process.js';
import {
  configFor,
  healthMart,
  lastPage,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';
import { recordsOf } from '../served.js';

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder.path, ...names);
const [metrics, events] = [at('lotlake.prom'), at('events.ndjson')];
let sandbox: Sandbox;
let receiver: Server;
let url: string;
let notices: { readonly text: string; readonly run: { readonly outcome: string } }[] = [];

beforeAll(async () => {
  const clock = new Date('2026-11-20T02:00:00Z');
  sandbox = await startSandbox({ vehicles: 200, seed: 3, clock, faults: WITHOUT_CATALOG });
  // `/silent` never answers, `/reset` closes the connection.
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url === '/silent') return;
    if (request.url === '/reset') return void response.destroy();
    notices.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end('ok');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  execFileSync('python3', ['-m', 'venv', at('venv')]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const packages = ['prometheus_client==0.26.0', 'openlineage-python==1.54.0'];
  execFileSync(at('venv', 'bin', 'python'), [...pip, ...packages]);
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await sandbox.close();
  folder.remove();
});

const envWith = (env: Record<string, string> = {}) => ({
  ...{
    LOTLAKE_METRICS: metrics,
    LOTLAKE_LINEAGE_TO: events,
    LOTLAKE_NOTIFY_URL: `${url}/hook-of-a-secret-token`,
  },
  ...{ LOTLAKE_NOTIFY_ON: 'success,failure,hold,alarm', LOTLAKE_MEMORY: '700MB' },
  ...env,
});

async function run(pipeline: string, env: Record<string, string> = {}): Promise<Ended> {
  notices = [];
  const place = { url: sandbox.url, output: at('lake'), cwd: folder.path, env: envWith(env) };
  return startLotlake(['run', pipeline], place).ended;
}

const read = z.object({
  samples: z.int(),
  events: z.array(
    z.looseObject({
      eventType: z.string(),
      run: z.looseObject({ runId: z.string() }),
      inputs: z.array(z.looseObject({ name: z.string() })).default([]),
      outputs: z.array(z.looseObject({ name: z.string(), facets: z.looseObject({}) })).default([]),
    }),
  ),
});

/** The file of the events of this month. */
const eventsOfNow = (): string => at(`events-${new Date().toISOString().slice(0, 7)}.ndjson`);

/** What real readers find in the metrics and events. */
function checked(): z.output<typeof read> {
  const script = join(packageRoot, 'test', 'soak', 'notify-check.py');
  const options = { maxBuffer: 1 << 28 };
  return read.parse(
    JSON.parse(
      execFileSync(at('venv', 'bin', 'python'), [script, metrics, eventsOfNow()], options).toString(),
    ),
  );
}
const types = (): string[] => checked().events.map(({ eventType }) => eventType);
const sample = (name: string): number =>
  Number(
    readFileSync(metrics, 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1),
  );

const SUCCESS = 'lotlake_last_success_timestamp_seconds{pipeline="nightly"}';
let succeeded: number;

it('a night reports itself by metrics, events and a notice that others can read', async () => {
  const { code, err } = await run('nightly');
  expect(code, err).toBe(0);
  expect(err).not.toMatch(/warning +(the|OpenLineage)/);
  expect(notices).toMatchObject([
    { text: expect.stringMatching(/published/), run: { outcome: 'published' } },
  ]);
  const { samples, events: lineage } = checked();
  expect(samples).toBeGreaterThan(80);
  expect(lineage.map(({ eventType }) => eventType)).toEqual(['START', 'COMPLETE']);
  expect(new Set(lineage.map(({ run }) => run.runId)).size).toBe(1);
  expect(lineage[1]?.inputs.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['cars', 'archived_lots']),
  );
  const sales = lineage[1]?.outputs.find(({ name }) => name === 'sales')?.facets;
  expect(Object.keys(sales ?? {})).toEqual(expect.arrayContaining(['schema', 'dataQualityAssertions']));
  expect(sample('lotlake_table_rows{table="vehicles"}')).toBeGreaterThan(190);
  expect(readFileSync(join(layoutOf(at('lake')).runs, runIds()[0] ?? '', 'run.json'), 'utf8')).not.toContain(
    'secret-token',
  );
  succeeded = sample(SUCCESS);
});

const runIds = (): string[] => readdirSync(layoutOf(at('lake')).runs).sort();

it('a refused run is reported, and leaves the last success in the metrics', async () => {
  expect((await run('nightly', { LOTLAKE_API_KEY: 'a-wrong-key' })).code).toBe(3);
  expect(notices).toMatchObject([{ run: { outcome: 'refused', exit_code: 3 } }]);
  expect(types().slice(-2)).toEqual(['START', 'FAIL']);
  expect(sample('lotlake_run_success{pipeline="nightly"}')).toBe(0);
  expect(sample(SUCCESS)).toBe(succeeded);
});

it('a killed run is reported by the next one', async () => {
  expect((await run('nightly', { LOTLAKE_KILL_AT: 'reconcile.begun' })).code).toBeNull();
  expect(notices).toEqual([]);
  expect((await run('nightly')).code).toBe(0);
  expect(notices.map((notice) => notice.run.outcome)).toEqual(['killed', 'published']);
  const ended = checked().events.slice(-4);
  expect(ended.map(({ eventType }) => eventType)).toEqual(['START', 'FAIL', 'START', 'COMPLETE']);
  expect(ended[0]?.run.runId).toBe(ended[1]?.run.runId);
});

it('failing receivers delay a run by ten seconds at most, and change nothing else', async () => {
  const bad = { LOTLAKE_LINEAGE_TO: `${url}/silent`, LOTLAKE_NOTIFY_URL: `${url}/reset` };
  const folderInTheWay = at('lake');
  const { code, err } = await run('nightly', { ...bad, LOTLAKE_METRICS: `${folderInTheWay}/lake/no.prom` });
  expect(code, err).toBe(0);
  expect(err).toMatch(/OpenLineage events did not get to .*silent: it did not answer in time/);
  expect(err).toMatch(/the webhook of notify.url may not have been told/);
  expect(err).toMatch(/the metrics .* were not written/);
  const records = runIds().map((id) => readFileSync(join(layoutOf(at('lake')).runs, id, 'run.json'), 'utf8'));
  expect(JSON.parse(records.at(-1) ?? '')).toMatchObject({ outcome: 'published', exit_code: 0 });
});

it('an interrupted run ends soon, even if receivers do not answer', async () => {
  const env = envWith({ LOTLAKE_LINEAGE_TO: `${url}/silent` });
  const started = startLotlake(['run', 'nightly'], {
    url: sandbox.url,
    output: at('lake'),
    cwd: folder.path,
    env,
  });
  await started.printed('extract');
  const began = performance.now();
  started.child.kill('SIGINT');
  expect((await started.ended).code).toBe(130);
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(`interrupted: ended ${seconds.toFixed(1)} s later\n`);
  expect(seconds).toBeLessThan(6);
});

it('an alarm is reported once, when a snapshot has it and the one before did not', async () => {
  const world = await startSandbox({ vehicles: 20, seed: 7, clock: new Date('2026-11-18T04:00:00Z') });
  const records = recordsOf(world.world);
  await world.close();
  let meta: object = {};
  const service = await serve((requested) => {
    if (requested.pathname !== '/api/cars') return { status: 404, body: { message: 'no such endpoint' } };
    const isFirst = requested.searchParams.get('page') !== '2';
    return { body: { ...lastPage(isFirst ? records : []), ...(isFirst ? { meta } : {}) } };
  });
  const short = { path: 'http://service.example/api', total: 2 * records.length, last_page: 1 };
  const texts: string[][] = [];
  let hours = 0;
  for (const given of [{ path: short.path }, short, short]) {
    meta = given;
    notices = [];
    await nightly({
      modelling: healthMart(),
      config: configFor(service.url, at('alarms'), { notify: { url: `${url}/hook` } }),
      reporter: silentReporter(),
      now: () => new Date(Date.parse('2026-11-18T04:00:00Z') + hours++ * 60_000),
    });
    texts.push(notices.map(({ text }) => text));
  }
  await service.close();
  expect(texts).toEqual([[], [expect.stringMatching(/\nalarm: .*cars: 1 pass could not/)], []]);
});
