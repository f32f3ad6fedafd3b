import { lstatSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { filesBelow } from '../../src/core/lake/files.js';
import { runNightly } from '../../src/index.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A service that repeats what it was asked with in each record, and waits, so that others are asked meanwhile. */
async function echo() {
  const server = createServer(async ({ headers }, response) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const data = [1, 2, 3].map((id) => ({ id, vin: null, lots: [], note: Object.values(headers).join(' ') }));
    const meta = { current_page: 1, last_page: 1, per_page: 1000, total: data.length };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data, links: { next: null }, meta }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' ? address?.port : 0, close: () => server.close() };
}

it('two runs of one process keep the keys of both out of both lakes', async () => {
  const keys = ['the-key-of-the-first', 'another-key-of-the-second'];
  const services = await Promise.all(keys.map(echo));
  const runs = keys.map((apiKey, i) =>
    runNightly({
      ...{ baseUrl: `http://127.0.0.1:${services[i]?.port}/api`, apiKey, rate: 1000, retryBudget: 1 },
      output: join(folder.path, `lake-${i}`),
    }).catch((error: Error) => error),
  );
  await Promise.all(runs);
  for (const service of services) service.close();
  const files = filesBelow(folder.path).filter((path) => lstatSync(path).isFile());
  const texts = files.map((path) => {
    const bytes = readFileSync(path);
    return { path, text: (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString() };
  });
  const pages = texts.filter(({ path }) => /landing\/cars\/.*\.gz$/.test(path));
  expect(pages.map(({ text }) => text.match(/"note":"[^"]*\*{8}/) !== null)).toEqual([true, true]);
  for (const { path, text } of texts)
    for (const key of keys) expect(text.includes(key.slice(0, 12)), `${path} has ${key}`).toBe(false);
});
