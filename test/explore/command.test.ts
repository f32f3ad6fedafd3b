import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLI } from '../cli/support.js';
import { smallLake } from '../docs/small-lake.js';
import { temporaryFolder } from '../pipelines/support.js';
import { request } from './server.js';

const folder = temporaryFolder();
beforeAll(() => smallLake(folder.path));
afterAll(() => {
  for (const child of started) child.kill();
  folder.remove();
});

/** Processes, which end even if a test fails. */
const started: ChildProcess[] = [];

/** Starts the command and waits until it printed something or ended. */
async function start(output: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [CLI, 'explore', '--output', output, ...args], {
    cwd: folder.path,
  });
  started.push(child);
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece) => (out += piece));
  child.stderr.on('data', (piece) => (err += piece));
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  return { child, ended, printed: () => ({ out, err }) };
}

it('prints an address that opens, follows a signal, and leaves nothing open', async () => {
  const { child, ended, printed } = await start(folder.path, '--json');
  const { url } = JSON.parse(printed().out);
  const first = await request(url);
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await request(`${new URL('/', url)}`, { headers: { cookie } });
  expect(await page.text()).toContain('What is on offer');
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  await expect(request(url)).rejects.toThrow();
});

it('says that a port is taken, and that there is no lake', async () => {
  const { child, ended, printed } = await start(folder.path, '--json');
  const { port } = new URL(JSON.parse(printed().out).url);
  const second = await start(folder.path, '--port', port);
  expect(await second.ended).toEqual([1, null]);
  expect(second.printed().err).toContain('EADDRINUSE');
  const none = await start(`${folder.path}/none`);
  await none.ended;
  expect(none.printed().err).toContain('QUERY_NO_SNAPSHOT');
  child.kill('SIGTERM');
  await ended;
});
