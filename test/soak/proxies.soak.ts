import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../src/beyond/mirror/s3.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import { startProxy } from '../extract/proxy-server.js';
import { serve } from '../extract/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const inFolder = (name: string): string => join(folder.path, name);
const [key, cert] = [inFolder('key.pem'), inFolder('cert.pem')];

/** The sandbox as https://service.test, which only the proxy knows. */
let sandbox: Sandbox;
const service = createServer();
beforeAll(async () => {
  const names = ['-subj', '/CN=service.test', '-addext', 'subjectAltName=DNS:service.test'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  spawnSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert]);
  service.setSecureContext({ key: readFileSync(key), cert: readFileSync(cert) });
  sandbox = await startSandbox({ vehicles: 60 });
  service.on('secureConnection', (socket) => {
    const inner = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    for (const end of [socket, inner]) end.on('error', () => [socket, inner].map((one) => one.destroy()));
    socket.pipe(inner).pipe(socket);
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
});
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  service.close();
  await sandbox.close();
  folder.remove();
});

async function lotlake(...args: readonly string[]) {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: cert };
  const child = spawn(process.execPath, [CLI, ...args], { cwd: folder.path, env });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

describe('a proxy', () => {
  it('from .env is used for an https service', async () => {
    const proxy = await startProxy(`https://127.0.0.1:${Object(service.address()).port}`);
    const variables = {
      ...{ LOTLAKE_BASE_URL: 'https://service.test/api', LOTLAKE_API_KEY: sandbox.apiKey },
      ...{ LOTLAKE_RATE: 1000, HTTPS_PROXY: proxy.url },
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(inFolder('.env'), lines.join(''), { mode: 0o644 });
    const run = await lotlake('run', 'nightly');
    expect(run.code, run.err).toBe(0);
    expect(run.err).toContain(`others can read ${inFolder('.env')}, which holds a secret (mode 644)`);
    expect(sandbox.requests.length).toBeGreaterThan(20);
    expect(new Set(proxy.connects)).toEqual(new Set(['service.test:443']));
    const doctor = await lotlake('doctor');
    expect(doctor.code, doctor.out).toBe(0);
    expect(doctor.out).toContain(`service.test answers through the proxy ${new URL(proxy.url).host} (`);
    proxy.close();
  }, 300_000);

  it('is used for a mirror', async () => {
    const object = '<Contents><Key>p/a</Key><Size>1</Size></Contents>';
    const s3 = await serve((_, response) => response.end(`<ListBucketResult>${object}</ListBucketResult>`));
    const proxy = await startProxy(s3.url);
    const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', HTTP_PROXY: proxy.url };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const place = { to: 's3://bucket/p', endpoint: 'http://s3.test', pathStyle: true };
    const { signal } = new AbortController();
    const store = await openStore({ ...place, concurrency: 1, landing: false }, signal);
    expect([...(await store.list('')).keys()]).toEqual(['a']);
    expect(proxy.connects).toEqual(['s3.test:80']);
    proxy.close();
    await s3.close();
  });
});
