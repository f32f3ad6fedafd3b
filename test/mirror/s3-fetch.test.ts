import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openStore } from '../../src/mirror/s3.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const CONTENT = 'the rows of a table '.repeat(20_000);
let server: Server;
let answers = 0;

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length, etag: '"1"' });
    // The first answer breaks off in its middle.
    if (answers++ > 0) response.end(CONTENT);
    else response.write(CONTENT.slice(0, 100_000), () => setTimeout(() => response.destroy(), 50));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
  server.closeAllConnections();
  folder.remove();
});

it.each(['an answer that breaks off', 'a pull that was killed'])(
  'a file is fetched again after %s',
  async () => {
    const { port } = server.address() as AddressInfo;
    const place = {
      ...{ to: 's3://bucket/lake', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' },
      ...{ pathStyle: true, concurrency: 1, landing: false },
    };
    const store = await openStore(place, new AbortController().signal);
    const path = join(folder.path, `file-${answers}`);
    if (answers > 0) writeFileSync(path, 'half of it');
    expect(await store.fetch('files/a', path)).toBe(createHash('sha256').update(CONTENT).digest('hex'));
    expect(readFileSync(path, 'utf8')).toBe(CONTENT);
    if (answers > 2) expect(answers).toBe(3);
  },
);
