import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Config, readConfig, readSettings } from '../../src/base/config/config.js';
import { plainText } from '../../src/beyond/notify/formats.js';
import { metricsText } from '../../src/beyond/notify/metrics.js';
import { noticeOf } from '../../src/beyond/notify/notice.js';
import { openObservers } from '../../src/beyond/notify/observers.js';
import { eventOf, eventTypeOf } from '../../src/beyond/notify/openlineage.js';
import { type RunRecord, writeRun } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { effectsIn, runCommand } from '../cli/support.js';
import { runId, runRecord } from '../lake/run-record.js';
import { silentReporter, temporaryFolder } from '../pipelines/support.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const ERROR = { code: 'SERVICE_UNAVAILABLE', stage: 'service', message: 'it is down', hint: 'wait' };
const failed = (outcome: RunRecord['outcome'], attempt = 1, more: Partial<RunRecord> = {}): RunRecord =>
  runRecord({ attempt, outcome, exit_code: 4, error: ERROR, ...more });
const published = (attempt: number, more: Partial<RunRecord> = {}): RunRecord =>
  runRecord({ attempt, snapshot_id: runId(attempt), ...more });

const configWith = (env: Record<string, string>): Config =>
  readConfig({ output: folder.path }, { env, cwd: folder.path });

/** Samples of a metrics text, by name and labels. */
const samplesOf = (text: string): Record<string, number> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.replace(/ [^ ]+$/, ''), Number(line.replace(/^.* /, ''))]),
  );

describe('metrics', () => {
  it('describe the last run of each pipeline, and keep its last success after a failure', () => {
    const at = (time: string) => `2026-11-20T0${time}Z`;
    const stages = ['extract', 'extract', 'load'].map((name) => ({
      ...{ name, detail: null, started_at: at('2:00:00'), ended_at: at('2:00:10'), counts: {} },
    }));
    const samples = samplesOf(
      metricsText(
        [
          published(1, { ended_at: at('2:30:00'), disk: { used_bytes: 100, free_bytes: 900 } }),
          published(2, { pipeline: 'closing', requests: { 200: 7, failed: 1 }, retries: 1 }),
          failed('unavailable', 3, { started_at: at('3:00:00'), ended_at: at('3:01:00'), stages }),
          failed('locked', 4),
          runRecord({ attempt: 5, outcome: 'running', ended_at: null }),
        ],
        undefined,
        2,
      ),
    );
    expect(samples).toMatchObject({
      'lotlake_run_success{pipeline="nightly"}': 0,
      'lotlake_run_success{pipeline="closing"}': 1,
      'lotlake_run_exit_code{pipeline="nightly"}': 4,
      'lotlake_run_outcome{pipeline="nightly",outcome="unavailable"}': 1,
      'lotlake_run_duration_seconds{pipeline="nightly"}': 60,
      'lotlake_last_success_timestamp_seconds{pipeline="nightly"}': Date.parse(at('2:30:00')) / 1000,
      'lotlake_run_stage_duration_seconds{pipeline="nightly",stage="extract"}': 20,
      'lotlake_run_requests{pipeline="closing",status="failed"}': 1,
      lotlake_disk_free_bytes: 900,
      lotlake_alarms_open: 2,
    });
    expect(Object.keys(samples).filter((name) => name.includes('tests_') || name.includes('table'))).toEqual(
      [],
    );
  });

  it('escape labels, and are empty for an empty folder', () => {
    const text = metricsText([published(1, { origin: 'a "b"\\\nc' })], undefined, undefined);
    expect(text).toContain('lotlake_info{version="0.1.0",origin="a \\"b\\"\\\\\\nc"} 1\n');
    expect(metricsText([], undefined, undefined)).toBe('# EOF\n');
  });
});

describe('lineage', () => {
  /** A facet in the published schema of OpenLineage. */
  const facet = z.looseObject({ _producer: z.string(), _schemaURL: z.url() });
  const dataset = z.looseObject({
    namespace: z.string(),
    name: z.string(),
    facets: z.record(z.string(), facet),
  });
  const event = z.object({
    eventType: z.enum(['START', 'COMPLETE', 'FAIL', 'ABORT']),
    eventTime: z.iso.datetime(),
    producer: z.string().startsWith('urn:'),
    schemaURL: z.url(),
    run: z.object({ runId: z.uuid({ version: 'v5' }), facets: z.record(z.string(), facet) }),
    job: z.object({ namespace: z.string(), name: z.string() }),
    inputs: z.array(dataset),
    outputs: z.array(dataset),
  });

  it('starts and ends a run under one id, with its error and the data tests by model', () => {
    const test = { test: 'not_null(id)', severity: 'error' } as const;
    const tests = [
      { ...test, model: 'sales', failures: 2 },
      { ...test, model: 'checks', failures: 0 },
    ];
    const config = configWith({ LOTLAKE_LINEAGE_NAMESPACE: 'mine' });
    const record = failed('held');
    const begun = event.parse(eventOf('START', record, { config, tests: [] }));
    const ended = event.parse(eventOf(eventTypeOf(record), record, { config, tests }));
    expect(ended).toMatchObject({
      ...{ eventType: 'FAIL', job: { namespace: 'mine', name: 'nightly' }, run: { runId: begun.run.runId } },
      outputs: [{ name: 'sales', namespace: `file://${folder.path}` }],
    });
    expect(ended.run.facets.errorMessage).toMatchObject({ message: 'SERVICE_UNAVAILABLE: it is down' });
    expect(ended.outputs[0]?.facets.dataQualityAssertions).toMatchObject({
      assertions: [{ assertion: 'not_null(id)', success: false }],
    });
    expect(event.parse(eventOf('START', failed('held', 2), { config, tests })).run).not.toEqual(begun.run);
  });

  it.each([
    ['published', 'COMPLETE'],
    ['nothing_new', 'COMPLETE'],
    ['interrupted', 'ABORT'],
    ['killed', 'FAIL'],
    ['held', 'FAIL'],
  ] as const)('a run that is %s is %s', (outcome, type) => expect(eventTypeOf({ outcome })).toBe(type));
});

describe('a notice', () => {
  const ALARM = { pipeline: 'nightly', started_at: '2026-11-20T02:00:00Z', metric: 'reject_share' };
  const alarm = { ...ALARM, subject: 'cars', what: 'half of the records were rejected' };
  const standard = configOf().on;
  function configOf(): Config['notify'] {
    return readConfig({}, { env: {}, cwd: '/' }).notify;
  }
  const told = (record: RunRecord, alarms: readonly (typeof alarm)[], on: typeof standard) => {
    const notice = noticeOf({ runs: [record], alarms }, { on });
    return notice && { text: plainText(notice), facts: notice.facts };
  };

  it('covers failures, holds, alarms, searches and cars by default', () => {
    const noticed = (['failed', 'held', 'killed', 'usage', 'interrupted', 'locked'] as const).filter(
      (outcome) => told(failed(outcome), [], standard) !== undefined,
    );
    expect(noticed).toEqual(['failed', 'held', 'killed', 'usage']);
    expect(told(published(1), [], standard)).toBeUndefined();
    expect(told(published(1), [], ['success'])?.text).toMatch(
      /^lotlake nightly of .* published 20261120T020000Z-000001: 0 /,
    );
    expect(told(failed('failed'), [], ['hold'])).toBeUndefined();
  });

  it('says what happened, and what to do', () => {
    expect(told(failed('unavailable'), [], standard)).toMatchObject({
      text: 'lotlake nightly of 2 Nov 2026, 02:00 UTC failed: SERVICE_UNAVAILABLE: it is down\nwait',
      facts: { run: { pipeline: 'nightly', outcome: 'unavailable', exit_code: 4, error: ERROR } },
    });
    expect(told(published(1), [alarm], standard)?.text).toContain('half of the records were rejected');
  });

  it('hands no text of the feed to a chat as markup', () => {
    const texts = [
      '<!channel>',
      '<@U1>',
      '@here',
      '@everyone',
      '<https://evil.example|Sale>',
      'https://evil.example',
    ];
    const alarms = ['[Sale](https://evil.example)', '`rm`', ...texts].map((what) => ({ ...alarm, what }));
    const { text = '', facts } = told(published(1), alarms, standard) ?? {};
    expect(text).not.toMatch(/[<>@`]|:\/\/|\]\(/);
    expect(text).toContain('evil․example|Sale');
    expect(facts).toMatchObject({ run: { alarms } });
  });
});

describe('observers', () => {
  let server: Server;
  let got: { readonly url: string; readonly key: unknown; readonly body: unknown }[];
  let answers: (number | 'reset' | 'silence')[];
  beforeEach(async () => {
    got = [];
    answers = [];
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      got.push({
        url: request.url ?? '',
        key: request.headers.authorization,
        body: JSON.parse(Buffer.concat(chunks).toString()),
      });
      const answer = answers.shift() ?? 200;
      if (answer === 'reset') response.destroy();
      else if (answer !== 'silence') response.writeHead(answer).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const urlOf = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  async function observed(
    env: Record<string, string>,
    record: RunRecord,
    {
      before = [],
      killed = [],
      signal,
    }: { before?: RunRecord[]; killed?: RunRecord[]; signal?: AbortSignal } = {},
  ): Promise<readonly string[]> {
    const reporter = silentReporter();
    const observers = openObservers({ config: configWith(env), reporter, signal });
    const run = { record, before, killed, tests: [] };
    observers.begun(run);
    await observers.ended(run);
    return reporter.warnings;
  }

  it('are joined by status and doctor, which tell the webhook when that is asked', async () => {
    const asked = effectsIn(folder.path, {
      LOTLAKE_OUTPUT: join(folder.path, 'empty'),
      LOTLAKE_NOTIFY_URL: urlOf('/hook'),
    });
    const status = ['status', '--max-age', '26h', '--fail-on-alarm'];
    await expect(runCommand(asked.effects, ...status)).rejects.toMatchObject({ code: 'LAKE_STALE' });
    expect(got).toEqual([]);
    await expect(runCommand(asked.effects, ...status, '--notify')).rejects.toMatchObject({
      code: 'LAKE_STALE',
    });
    expect(got).toMatchObject([
      { url: '/hook', body: { text: expect.stringMatching(/is stale: no nightly has published/) } },
    ]);
    const without = effectsIn(folder.path, { LOTLAKE_OUTPUT: join(folder.path, 'empty') });
    await expect(runCommand(without.effects, ...status, '--notify')).rejects.toMatchObject({
      code: 'LAKE_STALE',
    });
    expect(without.err()).toContain('no channel is set');
    await runCommand(asked.effects, 'doctor', '--offline', '--notify').catch(() => undefined);
    expect(got[1]).toMatchObject({ body: { text: expect.stringMatching(/^lotlake doctor: a test/) } });
    answers = [404];
    await expect(runCommand(asked.effects, 'doctor', '--offline', '--notify')).rejects.toMatchObject({
      message: 'the webhook of notify.url was not told: it answers 404',
    });
  });

  it('report a killed run before the next run, with the key', async () => {
    const record = failed('failed', 2);
    const env = { LOTLAKE_LINEAGE_TO: urlOf('/api/v1/lineage'), LOTLAKE_LINEAGE_KEY: 'key-of-lineage' };
    expect(await observed(env, record, { killed: [failed('killed')] })).toEqual([]);
    const types = got.map(({ body }) => z.looseObject({ eventType: z.string() }).parse(body).eventType);
    expect(types).toEqual(['FAIL', 'START', 'FAIL']);
    expect(new Set(got.map(({ url, key }) => `${url} ${key}`))).toEqual(
      new Set(['/api/v1/lineage Bearer key-of-lineage']),
    );
  });

  it('write events line by line and metrics whole, also of a failed run', async () => {
    const record = failed('failed', 2);
    writeRun(layoutOf(folder.path), record);
    const [metrics, to] = [
      join(folder.path, 'prom', 'lotlake.prom'),
      join(folder.path, 'events', 'all.ndjson'),
    ];
    expect(await observed({ LOTLAKE_METRICS: metrics, LOTLAKE_LINEAGE_TO: to }, record)).toEqual([]);
    expect(readFileSync(to.replace('all', 'all-2026-11'), 'utf8').match(/"eventType":"\w+"/g)).toEqual([
      '"eventType":"START"',
      '"eventType":"FAIL"',
    ]);
    expect(samplesOf(readFileSync(metrics, 'utf8'))).toMatchObject({
      'lotlake_run_success{pipeline="nightly"}': 0,
      lotlake_alarms_open: 1,
    });
  });

  it('begin a new file of events each month', async () => {
    const to = join(folder.path, 'events', 'all.ndjson');
    for (const ended_at of ['2026-11-30T23:59:59.000Z', '2026-12-01T00:00:01.000Z'])
      await observed({ LOTLAKE_LINEAGE_TO: to }, failed('failed', 2, { started_at: ended_at, ended_at }));
    expect(readdirSync(join(folder.path, 'events'))).toEqual(['all-2026-11.ndjson', 'all-2026-12.ndjson']);
  });

  it('ignore a run that found the lake locked', async () => {
    const metrics = join(folder.path, 'lotlake.prom');
    const env = { LOTLAKE_METRICS: metrics, LOTLAKE_NOTIFY_URL: urlOf('/hook') };
    expect(await observed(env, failed('locked'))).toEqual([]);
    expect(got).toEqual([]);
    expect(existsSync(metrics)).toBe(false);
  });

  it('retry once what may pass, and warn of the rest without the secret', async () => {
    const env = { LOTLAKE_NOTIFY_URL: urlOf('/services/T0/abcdefghijklmnop') };
    for (const [given, requests, warning] of [
      [['reset', 200], 1, 'other side closed'],
      [[503, 200], 2, undefined],
      [[503, 503], 2, 'it answers 503'],
      [[404], 1, 'it answers 404'],
    ] as const) {
      got = [];
      answers = [...given];
      const warnings = await observed(env, failed('failed'));
      expect(got).toHaveLength(requests);
      expect(warnings).toEqual(
        warning === undefined
          ? []
          : [
              given[0] === 'reset'
                ? `the webhook of notify.url may not have been told: ${warning}; it is not told again, and its next message says so`
                : `the webhook of notify.url was not told: ${warning}; the next run tells it`,
            ],
      );
    }
  });

  it('do not keep an interrupted run waiting', async () => {
    answers = ['silence', 'silence'];
    const env = { LOTLAKE_LINEAGE_TO: urlOf('/lineage') };
    const began = performance.now();
    const [first] = await observed(env, failed('interrupted'), { signal: AbortSignal.abort() });
    expect(first).toContain('it did not answer in time');
    expect(performance.now() - began).toBeLessThan(2500);
  });

  it('write nothing into the lake', async () => {
    mkdirSync(layoutOf(folder.path).lake);
    const metrics = join(layoutOf(folder.path).lake, 'lotlake.prom');
    expect(await observed({ LOTLAKE_METRICS: metrics }, failed('failed'))).toEqual([
      expect.stringContaining('which only runs write to'),
    ]);
    expect(existsSync(metrics)).toBe(false);
  });
});

it('settings hide their secrets, and errors name what is wrong', () => {
  const env = { LOTLAKE_LINEAGE_KEY: 'hidden-key', LOTLAKE_NOTIFY_URL: 'https://hooks.example/hidden-token' };
  const { config, inForce } = readSettings({}, { env, cwd: folder.path });
  expect(config.notify).toEqual({
    url: env.LOTLAKE_NOTIFY_URL,
    on: ['failure', 'hold', 'alarm', 'watch', 'car'],
    channels: {},
  });
  expect(JSON.stringify(inForce)).not.toContain('hidden');
  const read = (file: object) => () => {
    writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify(file));
    return readConfig({}, { env: {}, cwd: folder.path });
  };
  for (const [file, message] of [
    [{ notify: { url: 'ftp://host/hidden' } }, /^notify.url in .* cannot be used: it is no URL of http/],
    [{ notify: 'https://host/hidden' }, /^notify in .* cannot be used; it takes an object/],
    [
      { notify: { on: 'failure,luck' } },
      /^notify.on in .* it takes some of failure, hold, alarm, watch, car, success/,
    ],
    [{ lineage: { to: 'https://me:hidden@host' } }, /^lineage.to in .* cannot be used: it holds credentials/],
    [{ lineage: { to: 'http://host', key: 'hidden-key' } }, /^lineage.to in .*would travel in the clear/],
    [{ lineage: { to: 'http:///', key: 'hidden-key' } }, /^lineage.to in .*: it is no URL such as/],
    [{ metrics: 'lotlake.txt' }, /^metrics in .* does not end with .prom/],
  ] as const) {
    expect(read(file)).toThrow(message);
    expect(read(file)).not.toThrow(/hidden/);
  }
  expect(
    read({ notify: { on: 'success, hold' }, metrics: 'here/a.prom', lineage: { to: 'events' } })(),
  ).toMatchObject({
    notify: { on: ['success', 'hold'] },
    metrics: join(folder.path, 'here', 'a.prom'),
    lineage: { to: join(folder.path, 'events'), namespace: 'lotlake' },
  });
});
