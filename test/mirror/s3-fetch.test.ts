import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../src/beyond/mirror/s3.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const CONTENT = 'the rows of a table '.repeat(20_000);
const CHECKSUM = createHash('sha256').update(CONTENT).digest('hex');
let server: Server;
let answers = 0;
let broken = 0;

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length, etag: '"1"' });
    if (answers++ >= broken) response.end(CONTENT);
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

/** Fetches the object of a server whose first answers break off in their middle. Returns the checksum of what came. */
async function fetchFrom(path: string, breaking: number): Promise<string | undefined> {
  [answers, broken] = [0, breaking];
  const { port } = server.address() as AddressInfo;
  const place = {
    ...{ to: 's3://bucket/lake', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' },
    ...{ pathStyle: true, concurrency: 1, landing: false },
  };
  return (await openStore(place, new AbortController().signal)).fetch('files/a', path);
}

describe('a file of a mirror is fetched again', () => {
  it('after an answer that broke off', async () => {
    const path = join(folder.path, 'broken');
    expect(await fetchFrom(path, 1)).toBe(CHECKSUM);
    expect(readFileSync(path, 'utf8')).toBe(CONTENT);
    expect(answers).toBe(2);
  });

  it('over what a pull that was killed left', async () => {
    const path = join(folder.path, 'killed');
    writeFileSync(path, 'half of it');
    expect(await fetchFrom(path, 0)).toBe(CHECKSUM);
    expect(readFileSync(path, 'utf8')).toBe(CONTENT);
    expect(answers).toBe(1);
  });
});
