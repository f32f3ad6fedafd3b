import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import type { JobOptions } from '../../src/core/job/job.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { createWorld } from '../../src/sandbox/index.js';
import { runLotlake } from '../cli/support.js';
import { pageFiles } from '../docs/own-models-page.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder } from '../pipelines/support.js';
import { recordsOf } from '../served.js';

// Nights of somebody who writes a model: it works, is changed, breaks, is mended, fails its test, and cannot be read.
const folder = temporaryFolder();
const output = folder.path;
const records = recordsOf(createWorld({ vehicles: 900, seed: 3 }));
let service: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  service = await serve(({ pathname, searchParams }) =>
    pathname === '/api/cars' || pathname === '/api/archived-lots'
      ? { body: lastPage(pathname === '/api/cars' && !searchParams.has('minutes') ? records : []) }
      : { status: 404, body: { message: 'no such endpoint' } },
  );
  writeFileSync(join(output, 'lotlake.config.json'), '{}');
  for (const [path, text] of Object.entries(pageFiles())) write(path, text);
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

function write(path: string, text: string): void {
  const file = join(output, 'models', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const remove = (...paths: readonly string[]): void => {
  for (const path of paths) rmSync(join(output, 'models', path));
};

async function run(pipeline: (options: JobOptions) => Promise<RunResult>, hours: number) {
  const reporter = silentReporter();
  const config = configFor(service.url, output);
  const now = () => new Date(Date.parse('2026-11-18T02:00:00Z') + hours * 3_600_000);
  const result = await pipeline({ config, reporter, now });
  return { ...result, warned: reporter.warnings };
}

const lotlake = (...args: readonly string[]): string => {
  const { code, out, err } = runLotlake(output, ...args);
  expect(code, err).toBe(0);
  return out;
};

const marts = ({ snapshot }: RunResult): string[] => Object.keys(readManifest(snapshot).marts);

describe('nights with an own model', () => {
  it('publish it like a mart of lotlake', async () => {
    const night = await run(nightly, 0);
    expect(night.warned.join()).not.toContain('own models');
    expect(marts(night)).toContain('bargains');
    expect(night.tests.map(({ test }) => test)).toContain('bargains_are_offered');
    const [{ n }] = JSON.parse(lotlake('query', 'select count(*) as n from bargains', '--format', 'json'));
    expect(n).toBeGreaterThan(0);
    const tables: readonly { name: string }[] = JSON.parse(lotlake('tables', '--json'));
    expect(tables.find(({ name }) => name === 'bargains')).toMatchObject({ kind: 'mart', rows: n });
    expect(lotlake('describe', 'bargains')).toContain('Buy Now price as a share of the estimate.');
    expect(lotlake('test', '--model', 'bargains')).toContain('5 data tests');
    expect(lotlake('verify')).toContain('sound');
    lotlake('docs');
    const described = readFileSync(join(output, 'tables.md'), 'utf8');
    expect(described).toContain('Your own models: [bargains]');
    expect(described).toContain('Buy Now price as a share of the estimate.');
    lotlake('report');
    expect(readFileSync(join(output, 'report.html'), 'utf8')).toContain('<code>bargains</code>');
    const exported = join(output, '..', `${basename(output)}-export`);
    lotlake('export', 'bargains', '--to', exported);
    expect(readFileSync(join(exported, 'dictionary.md'), 'utf8')).toContain(
      'Price that half of such lots exceed.',
    );
    rmSync(exported, { recursive: true });
  });

  it('compare a change of it before publishing', async () => {
    const sql = pageFiles()['bargains.sql'] ?? '';
    write('bargains.sql', sql.replace('buy_now < low_80', 'buy_now < low_80 / 2'));
    const { path } = JSON.parse(lotlake('model', '--select', 'bargains', '--json'));
    const compared = JSON.parse(lotlake('diff', 'current', path, '--json'));
    expect(compared.tables).toMatchObject([
      { name: 'bargains', state: 'changed', added: 0, removed: 0, columns: [{ name: 'is_far_below' }] },
    ]);
    // Only the model is new.
    const published = await run(incremental, 1);
    expect(published.published).toBe(true);
    expect((await run(incremental, 2)).published).toBe(false);
  });

  it('publish without a failing model, and report it until it is fixed', async () => {
    write('more.sql', 'select no_such as lot_id from bargains');
    write('more.yml', 'description: x\ngrain: x\nkey: [lot_id]\ncolumns: { lot_id: { description: x } }\n');
    const night = await run(nightly, 24);
    expect(night.published).toBe(true);
    expect(marts(night)).toContain('bargains');
    expect(marts(night)).not.toContain('more');
    expect(night.warned.join()).toContain('more of your own models is left out of the snapshot');
    expect(lotlake('status')).toContain('your model more: it is left out of the snapshot');
    expect(lotlake('verify')).toContain('sound');
    write('more.sql', 'select lot_id from bargains');
    expect(marts(await run(nightly, 25))).toContain('more');
    expect(lotlake('status')).not.toContain('your model');
  });

  it('publish without one that fails its test, or cannot be read', async () => {
    write(
      'more.yml',
      'description: x\ngrain: x\nkey: [lot_id]\ncolumns: { lot_id: { description: x } }\ntests: [{ kind: expression, sql: "false" }]\n',
    );
    const tested = await run(nightly, 48);
    expect(marts(tested)).not.toContain('more');
    expect(lotlake('status')).toContain('1 data test failed: more: expression(false)');
    expect(lotlake('test', '--kept', '--show')).toContain('expression(false)');
    remove('more.yml', 'more.sql');
    write('sales.sql', 'select 1 as n');
    write('sales.yml', 'description: x\ngrain: x\nkey: [n]\ncolumns: { n: { description: x } }\n');
    const taken = await run(nightly, 49);
    expect(taken.warned.join()).toContain('lotlake has a table, mart or check sales itself');
    expect(marts(taken)).toEqual(expect.arrayContaining(['bargains', 'sales']));
    expect(lotlake('status')).toContain('your model sales: it is left out of the snapshot');
    remove('sales.yml', 'sales.sql');
    expect((await run(nightly, 50)).published).toBe(true);
    expect(lotlake('status')).not.toContain('your model');
  });
});
