import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { HeadObjectCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { openStore } from '../../src/beyond/mirror/s3.js';
import { contentOf } from '../mirror/memory-store.js';
import { temporaryFolder } from '../pipelines/support.js';
import { describeWith } from './support/engines.js';
import { freePort } from './support/free-port.js';
import { type S3Server, type ServerName, startS3 } from './support/s3.js';

const MiB = 1_048_576;
/** The least that the services take. */
const SIZES = { largest: 5 * MiB, part: 5 * MiB };
const folder = temporaryFolder();
const body = randomBytes(17 * MiB);
const path = join(folder.path, 'large');
writeFileSync(path, body);
afterAll(() => folder.remove());

describeWith(['servers'], 'files in parts', () => {
  let server: S3Server;

  /** Opens a prefix of the bucket. Its credentials are in the environment, as those of every mirror. */
  const open = (prefix: string, more: object = {}, endpoint = server.endpoint) =>
    openStore(
      {
        ...{ to: `s3://${server.bucket}/${prefix}`, endpoint, region: 'us-east-1' },
        ...{ pathStyle: true, concurrency: 2, landing: false, ...more },
      },
      new AbortController().signal,
      SIZES,
    );

  /** Uploads of an object that were begun and not ended. */
  async function uploads(prefix: string): Promise<number> {
    const list = new ListMultipartUploadsCommand({ Bucket: server.bucket, Prefix: `${prefix}/files/a` });
    return (await server.client.send(list)).Uploads?.length ?? 0;
  }

  async function assertWhole(prefix: string): Promise<void> {
    const store = await open(prefix);
    expect((await store.list('files/')).get('files/a')?.bytes).toBe(body.length);
    const fetched = join(folder.path, 'fetched');
    expect(await store.fetch('files/a', fetched)).toBe(contentOf(body).sha256);
    expect(readFileSync(fetched).equals(body)).toBe(true);
    expect(await uploads(prefix)).toBe(0);
  }

  /** Forwards connections to the server, and breaks each that has sent so many bytes, as often as told. */
  async function breaking(bytes: number, times: number) {
    let left = times;
    const proxy = createServer((from) => {
      const to = connect(Number(new URL(server.endpoint).port), '127.0.0.1');
      let sent = 0;
      from.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        if (sent > bytes && left > 0) {
          left--;
          from.destroy();
          to.destroy();
        }
      });
      for (const socket of [from, to]) socket.on('error', () => undefined);
      from.pipe(to).pipe(from);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
    return { endpoint: `http://127.0.0.1:${port}`, broken: () => times - left, close: () => proxy.close() };
  }

  beforeAll(async () => {
    server = await startS3();
    for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  it.each<ServerName>(['minio', 'versitygw'])('are sent to %s and fetched', async (name) => {
    const own = server;
    server = name === 'minio' ? own : await startS3(name);
    await (await open('sent')).sendFile('files/a', path, contentOf(body));
    await assertWhole('sent');
    if (server !== own) await server.close();
    server = own;
  });

  it('are sent again after a kill between two parts, and nothing of the killed push stays', async () => {
    const module = pathToFileURL(join(packageRoot, 'dist', 'src', 'beyond', 'mirror', 's3.js'));
    const script = `
      const { openStore } = await import(${JSON.stringify(module)});
      const [place, sizes, path, content] = JSON.parse(process.argv[1]);
      const store = await openStore(place, new AbortController().signal, sizes);
      await store.sendFile('files/a', path, content);`;
    const place = {
      ...{ to: `s3://${server.bucket}/killed`, endpoint: server.endpoint, region: 'us-east-1' },
      ...{ pathStyle: true, concurrency: 1, landing: false },
    };
    for (const at of ['mirror.part-sent#2', 'mirror.parts-sent']) {
      const given = JSON.stringify([place, SIZES, path, contentOf(body)]);
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, given], {
        env: { ...process.env, ...server.env, LOTLAKE_KILL_AT: at },
      });
      const [err, [, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      expect(signal, err).toBe('SIGKILL');
    }
    expect(await uploads('killed')).toBe(2);
    expect((await (await open('killed')).list('files/')).size).toBe(0);
    await (await open('killed')).sendFile('files/a', path, contentOf(body));
    await assertWhole('killed');
  });

  it('go on with the part whose connection broke', async () => {
    const proxy = await breaking(3 * MiB, 2);
    await (await open('broken', {}, proxy.endpoint)).sendFile('files/a', path, contentOf(body));
    expect(proxy.broken()).toBe(2);
    proxy.close();
    await assertWhole('broken');
  });

  it('leave nothing if a part fails each time, or the file has another content', async () => {
    const proxy = await breaking(3 * MiB, 1000);
    const store = await open('failed', {}, proxy.endpoint);
    await expect(store.sendFile('files/a', path, contentOf(body))).rejects.toMatchObject({
      code: 'MIRROR_UNREACHABLE',
    });
    proxy.close();
    const other = await open('failed');
    await expect(other.sendFile('files/a', path, contentOf(randomBytes(17 * MiB)))).rejects.toMatchObject({
      code: 'LAKE_UNSOUND',
    });
    expect(await uploads('failed')).toBe(0);
    expect((await other.list('files/')).size).toBe(0);
  });

  it('are encrypted and stored in their class', async () => {
    const store = await open('encrypted', { encryption: 'aws:kms', storageClass: 'REDUCED_REDUNDANCY' });
    await store.sendFile('files/a', path, contentOf(body));
    const tag = await store.replace('current.json', '{}', undefined);
    expect(await store.replace('current.json', '{"a": 1}', tag)).toBeDefined();
    expect(await store.replace('current.json', '{"a": 2}', tag)).toBeUndefined();
    const head = (name: string) =>
      server.client.send(new HeadObjectCommand({ Bucket: server.bucket, Key: `encrypted/${name}` }));
    const [file, current] = [await head('files/a'), await head('current.json')];
    expect(file).toMatchObject({ ServerSideEncryption: 'aws:kms', StorageClass: 'REDUCED_REDUNDANCY' });
    expect(current).toMatchObject({ ServerSideEncryption: 'aws:kms' });
    expect(current.StorageClass).toBeUndefined();
    await assertWhole('encrypted');
  });
});

describeWith(['servers'], 'a key that a service refuses', () => {
  afterAll(() => vi.unstubAllEnvs());

  it.each<ServerName>(['minio', 'versitygw'])('is told apart from a missing bucket, by %s', async (name) => {
    const server = await startS3(name);
    const errorOf = async (key: string | undefined, secret: string | undefined, bucket = server.bucket) => {
      vi.stubEnv('AWS_ACCESS_KEY_ID', key);
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
      const place = { to: `s3://${bucket}/keys`, endpoint: server.endpoint, region: 'us-east-1' };
      const more = { pathStyle: true, concurrency: 1, landing: false };
      const store = await openStore({ ...place, ...more }, new AbortController().signal);
      return store.list('files/').catch((error: unknown) => error);
    };
    const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret } = server.env;
    const refused = (hint: RegExp) => ({ code: 'MIRROR_REFUSED', hint: expect.stringMatching(hint) });
    expect(await errorOf('nobody', secret)).toMatchObject(refused(/does not know the access key/));
    expect(await errorOf(key, 'wrong')).toMatchObject(refused(/the secret is that of another one/));
    expect(await errorOf(key, secret, 'nowhere')).toMatchObject({
      ...{ code: 'MIRROR_NOT_FOUND', hint: expect.stringContaining('make the bucket') },
    });
    expect(await errorOf(key, secret)).toEqual(new Map());
    await server.close();
  });
});
