import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../../pipelines/incremental.js';
import { nightly } from '../../../pipelines/nightly.js';
import { readLake } from '../../../src/ask/query/open-lake.js';
import { readWatched } from '../../../src/ask/query/watched.js';
import { rows } from '../../../src/base/duck/session.js';
import { summarize } from '../../../src/cli/summary.js';
import type { JobOptions } from '../../../src/core/job/job.js';
import { allNames, type Manifest, readManifest } from '../../../src/core/lake/manifest.js';
import { modellingOf } from '../../../src/core/model/own-models.js';
import type { RunResult } from '../../../src/core/publish/step.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { runLotlake } from '../../cli/support.js';
import { type Opened, openExplore } from '../../explore/server.js';
import {
  configFor,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../../pipelines/support.js';
import { models as cases, type ModelCase, nameOf, writeCase } from './cases.js';

// One night with all of these models, what people do after it, and the next night.
const folder = temporaryFolder();
const output = join(folder.path, 'output');
const models = join(folder.path, 'models');
const notices: { text: string; run: { alarms: { subject: string }[] } }[] = [];
let sandbox: Sandbox;
let hook: Awaited<ReturnType<typeof serve>>;
let night: RunResult;
let manifest: Manifest;
const reporter = silentReporter();

/** Runs a pipeline with the models of a folder. */
function run(pipeline: (options: JobOptions) => Promise<RunResult>, hours: number, more: object = {}) {
  const config = configFor(sandbox.url, output, {
    apiKey: sandbox.apiKey,
    models,
    iceberg: true,
    modelTimeout: 2,
    notify: { url: `${hook.url.replace('/api', '')}/hook` },
    ...more,
  });
  const now = () => new Date(Date.parse('2026-11-20T04:00:00Z') + hours * 3_600_000);
  return pipeline({ config, reporter, now });
}

/** Runs a command over the lake, which must succeed. */
function lotlake(...args: readonly string[]): string {
  const { code, out, err } = runLotlake(output, ...args);
  expect(code, `${args.join(' ')}: ${err}`).toBe(0);
  return out;
}

beforeAll(async () => {
  sandbox = await startSandbox({
    vehicles: 150,
    clock: new Date('2026-11-20T04:00:00Z'),
    faults: WITHOUT_CATALOG,
  });
  hook = await serve((_, request) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => notices.push(JSON.parse(String(Buffer.concat(pieces)))));
    return { body: {} };
  });
  for (const each of cases) writeCase(models, each);
  night = await run(nightly, 0);
  manifest = readManifest(night.snapshot);
}, 600_000);
afterAll(async () => {
  await sandbox.close();
  await hook.close();
  folder.remove();
});

const leftOut = (): ReadonlyMap<string, string> =>
  new Map(manifest.own?.left_out.map(({ name, reason }) => [name, reason]));

describe('a night with bad models', () => {
  it('publishes, and leaves out what is bad and nothing else', () => {
    expect(night.published).toBe(true);
    const expected = cases.flatMap((each) => Object.keys(each.left_out));
    expect([...leftOut().keys()].sort()).toEqual(expected.sort());
    expect(reporter.warnings.filter((text) => text.includes('of your own models is left out'))).toHaveLength(
      expected.length,
    );
  });

  it.each(cases)('$name: $what', ({ left_out, works }) => {
    for (const [name, reason] of Object.entries(left_out)) {
      expect(leftOut().get(name), name).toMatch(new RegExp(reason));
      expect(existsSync(join(night.snapshot, name)), name).toBe(
        Object.hasOwn({ ...manifest.tables, ...manifest.marts }, name),
      );
    }
    for (const name of works) expect(allNames(manifest), String(leftOut().get(name))).toContain(name);
  });

  it('says so in its summary', () => {
    for (const length of ['line', 'short', 'long'] as const)
      expect(summarize(night, { cwd: output, called: 'lotlake', length })).toContain(
        'left out of your own models: ',
      );
  });

  it('has left no scratch', () => {
    expect(existsSync(join(output, 'work'))).toBe(false);
    expect(readdirSync(join(output, 'lake', 'snapshots'))).toEqual([night.snapshotId]);
  });

  it('tells the webhook', () => {
    const subjects = notices.at(-1)?.run.alarms.map(({ subject }) => subject);
    for (const name of leftOut().keys())
      expect(subjects).toContain(
        name.startsWith('checks/') ? `your check ${name.slice(7)}` : `your model ${name}`,
      );
    expect(notices.at(-1)?.text).toContain('count_star');
  });
});

describe('after that night', () => {
  it('every model that works can be read', async () => {
    await readLake(configFor(sandbox.url, output), {}, async ({ session }) => {
      for (const name of cases.flatMap((each) => each.works)) {
        const found = await rows(session.connection, `select * from "${name}"`);
        expect(found, name).toHaveLength(manifest.marts[name]?.rows ?? found.length);
      }
    });
  });

  it.each([
    [['query', 'select * from of_every_object', '--format', 'json']],
    [['query', 'select * from ends_of_time']],
    [['tables']],
    [['describe', 'lots']],
    [['describe', 'constructor']],
    [['runs']],
    [['verify']],
    [['vacuum']],
    [['watch']],
    [['docs']],
    [['report']],
    [['diff', 'current', 'current']],
    [['test', '--kept', '--show']],
    [['explore', '--export', join(folder.path, 'pages')]],
    [['export', 'constructor', 'of_every_object', '--to', join(folder.path, 'export')]],
    [['backup', '--to', join(folder.path, 'backup')]],
  ])('%j works', (args) => {
    lotlake(...args);
  });

  it('status tells what is left out', () => {
    const { code, out } = runLotlake(output, 'status');
    expect(code).not.toBe(1);
    for (const name of leftOut().keys())
      expect(out).toContain(name.startsWith('checks/') ? name.slice(7) : `your model ${name}: `);
  });

  it('the searches that are watched say why they are left out', async () => {
    const watched = await readWatched(configFor(sandbox.url, output));
    expect(watched.map(({ name }) => name).sort()).toEqual(['watch_failing', 'watch_null']);
    expect(watched.find(({ name }) => name === 'watch_failing')?.reason).toContain('never');
  });

  it('an unknown name that every object has is no table', () => {
    for (const name of ['toString', 'valueOf', '__proto__'])
      expect(runLotlake(output, 'describe', name).err).toContain('QUERY_NO_TABLE');
  });

  it('a run of the same day takes the models for unchanged, and says again what cannot be read', async () => {
    const before = reporter.warnings.length;
    const next = await run(incremental, 1);
    expect(next.manifest.recipe).toBe(manifest.recipe);
    expect(reporter.warnings.slice(before).join('\n')).toContain('alone.yml describes a model');
  });

  it('the next night works', async () => {
    const next = await run(nightly, 24);
    expect(next.published).toBe(true);
    lotlake('verify');
    lotlake('vacuum');
    const watched = await readWatched(configFor(sandbox.url, output), { name: 'watch_null' });
    expect(watched).toMatchObject([{ entered: 0, left: 0 }]);
  });

  it('a command that a person gives fails with the error of the first of them', () => {
    process.env.LOTLAKE_MODELS = models;
    const { code, err } = runLotlake(output, 'model', '--select', 'constructor');
    delete process.env.LOTLAKE_MODELS;
    expect([code, err]).toEqual([1, expect.stringContaining('MODEL_DEFINITION')]);
  });
});

describe('the form of explore', () => {
  const saved = join(folder.path, 'saved');
  const forms = cases.flatMap((each) => (each.form === undefined ? [] : [{ ...each, form: each.form }]));
  const isSaved = ({ form }: ModelCase): boolean => form !== undefined && form.says === undefined;
  let explore: Opened;
  beforeAll(async () => {
    explore = await openExplore(output, { models: saved }, { modelTimeout: 2 });
  });
  afterAll(() => explore.close());

  it.each(forms)('$name: $what', async (each) => {
    const { form } = each;
    const name = form.name ?? `f_${nameOf(each)}`;
    const answer = await explore.send('/searches', { name, sql: form.sql ?? each.sql ?? '' });
    const text = await answer.text();
    expect(answer.status, text).toBe(form.says === undefined ? 303 : 400);
    if (form.says !== undefined) {
      expect(text.replaceAll('&#39;', "'").replaceAll('&quot;', '"')).toMatch(new RegExp(form.says));
      expect(text).not.toContain('lotlake-');
    }
    for (const file of [`${name}.sql`, `${name}.yml`])
      expect(existsSync(join(saved, file))).toBe(form.says === undefined);
  });

  it('leaves nothing of a trial', async () => {
    const catalog: unknown = await (await explore.get('/catalog.json')).json();
    expect(Object.keys(Object(catalog)).filter((name) => name.startsWith('f_'))).toEqual([]);
    const views = await explore.text(
      `/sql?q=${encodeURIComponent("select string_agg(view_name) as n from duckdb_views() where view_name like 'f\\_%' escape '\\'")}`,
    );
    expect(views).not.toContain('f_count');
    const left = await explore.text(`/sql?q=${encodeURIComponent('select * from lots limit 1')}`);
    expect(left).toContain('lot_id');
    expect(readdirSync(folder.path)).not.toContain('trial');
  });

  it('and what it saved is published by the next night, and found by its commands', async () => {
    const next = await run(nightly, 48, { models: saved });
    const { own } = readManifest(next.snapshot);
    expect(own?.left_out).toEqual([]);
    const names = modellingOf({ own }).models.flatMap(({ name, isOwn }) => (isOwn ? [name] : []));
    expect(names).toHaveLength(forms.filter(isSaved).length);
    await readLake(configFor(sandbox.url, output), {}, async ({ session }) => {
      for (const name of names) await rows(session.connection, `select * from "${name}"`);
    });
    for (const command of ['tables', 'verify', 'watch', 'vacuum']) lotlake(command);
    expect(readFileSync(join(saved, `${names[0]}.yml`), 'utf8')).toContain('watch: true');
  });
});
