import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readJson } from '../../src/extract/client.js';
import { agentFor, proxyOf } from '../../src/extract/proxy.js';
import { openStore } from '../../src/mirror/s3.js';
import { CLI } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { quickClient, serve, type TestServer } from './support.js';

/** A proxy on 127.0.0.1 that leads every CONNECT to one server, and what it was asked for. */
async function startProxy(target: string, status = 200) {
  const connects: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(400).end());
  proxy.on('connect', (request, socket) => {
    connects.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { hostname, port } = new URL(target);
    const server = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(server).pipe(socket);
    });
    for (const end of [socket, server]) end.on('error', () => [socket, server].map((one) => one.destroy()));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { connects, url: `http://127.0.0.1:${Object(proxy.address()).port}`, close: () => proxy.close() };
}

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const AWS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

let server: TestServer;
let proxy: Awaited<ReturnType<typeof startProxy>>;
beforeEach(async () => {
  for (const name of NAMES.flatMap((upper) => [upper, upper.toLowerCase()])) vi.stubEnv(name, undefined);
  server = await serve((request, response) =>
    request.url?.includes('list-type')
      ? response.end('<ListBucketResult><Contents><Key>p/a</Key><Size>1</Size></Contents></ListBucketResult>')
      : response.end('{"ok": true}'),
  );
  proxy = await startProxy(server.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  proxy.close();
  await server.close();
});

async function ask(url: string): Promise<unknown> {
  const client = quickClient(url, { retryBudget: 0.01 });
  return client.get('cars', {}, readJson).finally(() => client.close());
}

describe('a proxy', () => {
  it('is between this machine and the service, with its password', async () => {
    vi.stubEnv('HTTP_PROXY', proxy.url.replace('//', '//me:secret@'));
    expect(await ask('http://service.test/api')).toEqual({ ok: true });
    expect(proxy.connects).toEqual([`service.test:80 Basic ${Buffer.from('me:secret').toString('base64')}`]);
    expect(server.seen[0]?.headers).toMatchObject({ host: 'service.test', 'x-api-key': 'the-secret-key' });
  });

  it('is not asked for hosts of NO_PROXY and of this machine', async () => {
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('NO_PROXY', 'other.test,.service.test');
    await expect(ask('http://a.service.test/api')).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
    expect(await ask(server.url)).toEqual({ ok: true });
    expect(await ask(server.url.replace('127.0.0.1', 'localhost'))).toEqual({ ok: true });
    expect(proxy.connects).toEqual([]);
    vi.stubEnv('NO_PROXY', '');
    expect(proxyOf('http://[::1]:1/api')).toBeUndefined();
    expect(proxyOf('https://service.test')).toBeUndefined();
    expect(proxyOf('http://service.test')).toBe(proxy.url);
  });

  it('that refuses is named with its status', async () => {
    const closed = await startProxy(server.url, 407);
    vi.stubEnv('HTTP_PROXY', closed.url);
    await expect(ask('http://service.test/api')).rejects.toThrow(/Proxy response \(407\)/);
    closed.close();
  });

  it('that is no proxy of HTTP is refused without its password', () => {
    for (const wrong of ['socks5://me:secret@127.0.0.1:1', 'http://me:secret@:x']) {
      vi.stubEnv('HTTPS_PROXY', wrong);
      expect(() => agentFor('https://service.test')).toThrow(/^HTTPS_PROXY or ALL_PROXY holds no URL/);
      expect(() => agentFor('https://service.test')).not.toThrow(/secret/);
    }
  });

  it('is between this machine and a mirror, too', async () => {
    for (const [name, value] of Object.entries({ ...AWS, HTTP_PROXY: proxy.url })) vi.stubEnv(name, value);
    const place = { to: 's3://bucket/p', endpoint: 'http://s3.test', pathStyle: true };
    const { signal } = new AbortController();
    const store = await openStore({ ...place, concurrency: 1, landing: false }, signal);
    expect([...(await store.list('')).keys()]).toEqual(['a']);
    expect(proxy.connects).toEqual(['s3.test:80']);
  });

  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
  it.skipIf(!hasOpenssl)('that stands in .env tunnels https', async () => {
    const folder = temporaryFolder();
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name));
    const names = ['-subj', '/CN=service.test', '-addext', 'subjectAltName=DNS:service.test'];
    const files = ['-keyout', key, '-out', cert].map(String);
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      ...names,
      ...files,
    ]);
    const asked: unknown[] = [];
    const service = createTlsServer({ key: readFileSync(String(key)), cert: readFileSync(String(cert)) });
    service.on('request', ({ headers }, response) => {
      asked.push(headers.host, headers['x-api-key']);
      response.writeHead(404).end('{"message": "Not found"}');
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    const tunnel = await startProxy(`https://127.0.0.1:${Object(service.address()).port}`);
    writeFileSync(
      join(folder.path, '.env'),
      `LOTLAKE_BASE_URL=https://service.test\nLOTLAKE_API_KEY=of-the-env-file\nHTTPS_PROXY=${tunnel.url}\n`,
    );
    const child = spawn(process.execPath, [CLI, 'lookup', 'vin', '1FTEX1EP5JKE12345'], {
      ...{ cwd: folder.path, env: { ...process.env, NODE_EXTRA_CA_CERTS: cert } },
    });
    expect(await text(child.stderr)).toContain('the service knows no vin 1FTEX1EP5JKE12345');
    expect(asked).toEqual(['service.test', 'of-the-env-file']);
    expect(tunnel.connects).toEqual(['service.test:443']);
    tunnel.close();
    service.close();
    folder.remove();
  });
});
