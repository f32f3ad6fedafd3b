import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readJson } from '../../src/core/service/client.js';
import { agentFor, proxyOf } from '../../src/core/service/proxy.js';
import { startProxy } from './proxy-server.js';
import { quickClient, serve, type TestServer } from './support.js';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

let server: TestServer;
let proxy: Awaited<ReturnType<typeof startProxy>>;
beforeEach(async () => {
  for (const name of NAMES.flatMap((upper) => [upper, upper.toLowerCase()])) vi.stubEnv(name, undefined);
  server = await serve((_, response) => response.end('{"ok": true}'));
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
  it('is used for the service, with its password', async () => {
    vi.stubEnv('HTTP_PROXY', proxy.url.replace('//', '//me:secret@'));
    expect(await ask('http://service.test/api')).toEqual({ ok: true });
    expect(proxy.connects).toEqual([`service.test:80 Basic ${Buffer.from('me:secret').toString('base64')}`]);
    expect(server.seen[0]?.headers).toMatchObject({ host: 'service.test', 'x-api-key': 'the-secret-key' });
  });

  it('is not used for hosts of NO_PROXY and of this machine', async () => {
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

  it('that refuses a connection is named with its status', async () => {
    const closed = await startProxy(server.url, 407);
    vi.stubEnv('HTTP_PROXY', closed.url);
    await expect(ask('http://service.test/api')).rejects.toThrow(/Proxy response \(407\)/);
    closed.close();
  });

  it('that is not an HTTP proxy is refused without printing its password', () => {
    for (const wrong of ['socks5://me:secret@127.0.0.1:1', 'http://me:secret@:x']) {
      vi.stubEnv('HTTPS_PROXY', wrong);
      expect(() => agentFor('https://service.test')).toThrow(/^HTTPS_PROXY or ALL_PROXY holds no URL/);
      expect(() => agentFor('https://service.test')).not.toThrow(/secret/);
    }
  });
});
