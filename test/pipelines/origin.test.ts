import { spawn } from 'node:child_process';
import { cpSync, existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { listPasses } from '../../src/core/lake/passes/pass.js';
import { createWorld } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import { recordsOf } from '../served.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';

const world = createWorld({ vehicles: 30, seed: 4 });
const records = recordsOf(world);
const folder = temporaryFolder();
let service: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  service = await serve((url) =>
    url.pathname === '/api/cars'
      ? { body: lastPage(records) }
      : { status: 404, body: { message: 'unknown' } },
  );
});
afterAll(async () => {
  await service.close();
  folder.remove();
});
beforeEach(() => service.requests.splice(0));

/** A job whose lake takes its origin from the base URL, as a user's lake does. */
const job = (output: string, more: { readonly origin?: string } = {}) => ({
  config: { ...configFor(service.url, output), origin: service.url, ...more },
  reporter: silentReporter(),
  ...WITHOUT_MARTS,
});

/** Runs a command in its own folder. Kills it as soon as `until` is true. Returns its output. */
async function run(cwd: string, args: readonly string[], until?: () => boolean): Promise<string> {
  const env = {
    ...process.env,
    npm_command: 'start',
    LOTLAKE_OUTPUT: '',
    LOTLAKE_BASE_URL: service.url,
    LOTLAKE_API_KEY: 'k',
  };
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)));
  const watcher = setInterval(() => until?.() === true && child.kill('SIGKILL'), 5);
  await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watcher);
  return printed;
}

const SANDBOX = ['run', 'nightly', '--sandbox', '--vehicles', '400', '--output', 'mine'];

describe('a lake', () => {
  it('refuses a service before the first request after a pass over the sandbox was killed', async () => {
    const cwd = join(folder.path, 'killed');
    cpSync(join(packageRoot, 'LICENSE'), join(cwd, 'LICENSE'));
    const output = join(cwd, 'mine');
    await run(cwd, SANDBOX, () => listPasses(join(output, 'landing'), 'cars').length > 0);
    expect(listPasses(join(output, 'landing'), 'cars')).toMatchObject([
      { record: { state: 'open', origin: 'sandbox of 400 vehicles, seed 1' } },
    ]);
    const printed = await run(cwd, ['run', 'nightly', '--output', 'mine']);
    expect(printed).toContain(
      `mine holds the lake of sandbox of 400 vehicles, seed 1, and this run asks ${service.url} [LAKE_ORIGIN]`,
    );
    expect(printed).toContain('--output');
    expect(service.requests).toEqual([]);
    expect(existsSync(join(output, 'lake', 'current'))).toBe(false);
  }, 60_000);

  it('shows its origin, keeps it in a rebuild, and refuses any other before the first request', async () => {
    const output = join(folder.path, 'real');
    const { manifest } = await nightly(job(output));
    expect(manifest).toMatchObject({ origin: service.url, schema_version: 4 });
    await rebuild({
      ...job(output),
      config: { ...configFor('http://127.0.0.1:1', output), origin: undefined },
    });
    expect(readManifest(realpathSync(join(output, 'lake', 'current'))).origin).toBe(service.url);
    service.requests.splice(0);
    for (const pipeline of [nightly, incremental])
      await expect(pipeline(job(output, { origin: 'http://other.example/api' }))).rejects.toMatchObject({
        code: 'LAKE_ORIGIN',
        outcome: 'usage',
        hint: expect.stringContaining(`LOTLAKE_ORIGIN=${service.url}`),
      });
    expect(service.requests).toEqual([]);
    const landing = layoutOf(output).landing;
    expect(listPasses(landing, 'cars').map(({ record: { state } }) => state)).toEqual(['sealed']);
  }, 60_000);

  it('of the sandbox has its own folder, so that the first run against a service needs no cleanup', async () => {
    const cwd = join(folder.path, 'first');
    cpSync(join(packageRoot, 'LICENSE'), join(cwd, 'LICENSE'));
    const printed = await run(cwd, ['run', 'nightly', '--sandbox', '--vehicles', '50']);
    expect(printed).toContain(`npx lotlake tables --output ${join('output', 'sandbox')}`);
    expect(existsSync(join(cwd, 'output', 'sandbox', 'lake', 'current'))).toBe(true);
    expect(await run(cwd, ['tables'])).toContain(`${join('output', 'sandbox')}: name it with --output`);
    expect(await run(cwd, ['run', 'nightly'])).toContain('is published');
    expect(readManifest(realpathSync(join(cwd, 'output', 'lake', 'current'))).origin).toBe(service.url);
  }, 120_000);
});
