import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../src/beyond/mirror/s3.js';
import { partSize, SIZES } from '../../src/beyond/mirror/s3-parts.js';
import { temporaryFolder } from '../pipelines/support.js';
import { contentOf } from './memory-store.js';

const MiB = 1_048_576;
const folder = temporaryFolder();
const body = randomBytes(2.5 * MiB);
const path = join(folder.path, 'file');
let server: Server;

/** A request: `PUT files/a?partNumber=1`, and its headers. */
interface Seen {
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
}
let seen: Seen[] = [];
/** Statuses and codes with which calls fail, each once. */
let failures: [call: string, status: number, code: string][] = [];
/** Called with each request, before it is answered. */
let onCall: (call: string) => void = () => undefined;
let parts = new Map<string, Buffer>();
let objects = new Map<string, Buffer>();

/** Answers as S3 does, and compares bodies with their checksums. */
async function answer(
  { method, url = '', headers }: IncomingMessage,
  given: Buffer,
): Promise<[number, string]> {
  const { pathname, searchParams } = new URL(url, 'http://host');
  searchParams.delete('x-id');
  const query = searchParams.size === 0 ? '' : `?${searchParams}`;
  const name = pathname.replace('/bucket/lake/', '');
  const call = `${method} ${name}${query}`;
  seen.push({ call, headers });
  onCall(call);
  const failure = failures.find(([wanted]) => call.startsWith(wanted));
  const error = (status: number, code: string): [number, string] => [
    status,
    `<Error><Code>${code}</Code></Error>`,
  ];
  if (failure !== undefined) {
    failures = failures.filter((each) => each !== failure);
    return error(failure[1], failure[2]);
  }
  const checksum = headers['x-amz-checksum-sha256'];
  if (checksum !== undefined && createHash('sha256').update(given).digest('base64') !== checksum)
    return error(400, 'BadDigest');
  const number = searchParams.get('partNumber');
  if (number !== null) parts.set(number, given);
  else if (method === 'PUT') objects.set(name, given);
  if (method === 'POST' && searchParams.has('uploads'))
    return [200, '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>'];
  if (method === 'POST') {
    objects.set(name, Buffer.concat([...parts.values()]));
    return [200, '<CompleteMultipartUploadResult><ETag>"1-3"</ETag></CompleteMultipartUploadResult>'];
  }
  if (method === 'GET') {
    const of = (key: string, id: string) =>
      `<Upload><Key>lake/${key}</Key><UploadId>${id}</UploadId></Upload>`;
    return [
      200,
      `<ListMultipartUploadsResult>${of('files/a', 'killed')}${of('files/ab', 'other')}</ListMultipartUploadsResult>`,
    ];
  }
  return [method === 'DELETE' ? 204 : 200, ''];
}

beforeAll(async () => {
  writeFileSync(path, body);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  server = createServer(async (request, response) => {
    const [status, text] = await answer(request, await buffer(request));
    response.writeHead(status, { etag: '"1"' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  [seen, failures, parts, objects] = [[], [], new Map(), new Map()];
  onCall = () => undefined;
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
  server.closeAllConnections();
  folder.remove();
});

const { signal } = new AbortController();

/** A store that sends files above one MiB in parts of a MiB. */
function open(more: object = {}, stop = signal) {
  const { port } = server.address() as AddressInfo;
  const place = {
    ...{ to: 's3://bucket/lake', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' },
    ...{ pathStyle: true, concurrency: 1, landing: false, ...more },
  };
  return openStore(place, stop, { largest: MiB, part: MiB });
}

const calls = (): string[] => seen.map(({ call }) => call);
const SENT = [1, 2, 3].map((number) => `PUT files/a?partNumber=${number}&uploadId=1`);
const ENDED = 'DELETE files/a?uploadId=1';

describe('a large file', () => {
  it('is sent in parts that the service compares, and parts of a push that was killed are removed', async () => {
    await (await open()).sendFile('files/a', path, contentOf(body));
    expect(calls().slice(0, 5)).toEqual(['POST files/a?uploads=', ...SENT, 'POST files/a?uploadId=1']);
    expect(calls().slice(5)).toEqual([
      expect.stringMatching(/^GET .*prefix=lake%2Ffiles%2Fa/),
      'DELETE files/a?uploadId=killed',
    ]);
    expect(objects.get('files/a')?.equals(body)).toBe(true);
    const sums = seen
      .filter(({ call }) => SENT.includes(call))
      .map(({ headers }) => headers['x-amz-checksum-sha256']);
    expect(new Set(sums).size).toBe(3);
  });

  it('has a part that failed sent again, alone', async () => {
    failures = [
      ['PUT files/a?partNumber=2', 503, 'SlowDown'],
      ['PUT files/a?partNumber=3', 500, 'InternalError'],
    ];
    await (await open()).sendFile('files/a', path, contentOf(body));
    const [one = '', two = '', three = ''] = SENT;
    expect(calls().slice(1, 6)).toEqual([one, two, two, three, three]);
    expect(objects.get('files/a')?.equals(body)).toBe(true);
  });

  it.each([
    ['refuses a part', ['PUT files/a?partNumber=2', 403, 'AccessDenied'], 'MIRROR_REFUSED'],
    ['finds another content in a part', ['PUT files/a?partNumber=2', 400, 'BadDigest'], 'LAKE_UNSOUND'],
    ['refuses the end', ['POST files/a?uploadId', 400, 'InvalidPart'], 'MIRROR_FAILED'],
  ] as const)('leaves no parts if the service %s', async (_, [call, status, name], code) => {
    failures = [[call, status, name]];
    const store = await open();
    await expect(store.sendFile('files/a', path, contentOf(body))).rejects.toMatchObject({ code });
    expect(calls().at(-1)).toBe(ENDED);
    expect(objects.size).toBe(0);
  });

  it.each([
    ['has another content than it had', contentOf(randomBytes(2.5 * MiB))],
    ['is shorter than it was', contentOf(Buffer.concat([body, body]))],
  ])('is not made an object if it %s', async (_, content) => {
    const store = await open();
    await expect(store.sendFile('files/a', path, content)).rejects.toMatchObject({ code: 'LAKE_UNSOUND' });
    expect(calls().at(-1)).toBe(ENDED);
    expect(objects.size).toBe(0);
  });

  it('is begun again if another push has sent it meanwhile', async () => {
    failures = [['POST files/a?uploadId', 404, 'NoSuchUpload']];
    await (await open()).sendFile('files/a', path, contentOf(body));
    expect(calls().filter((call) => call === 'POST files/a?uploads=')).toHaveLength(2);
    expect(objects.get('files/a')?.equals(body)).toBe(true);
  });

  it('leaves no parts after an interrupt', async () => {
    const stop = new AbortController();
    const store = await open({}, stop.signal);
    onCall = (call) => {
      if (call === SENT[1]) stop.abort();
    };
    await expect(store.sendFile('files/a', path, contentOf(body))).rejects.toThrow();
    expect(calls().at(-1)).toBe(ENDED);
  });

  it.each([
    [257 * MiB, 64 * MiB],
    [6e9, 64 * MiB],
    [5 * MiB ** 2, 525 * MiB],
  ])('of %i bytes has parts of %i', (bytes, size) => {
    expect(partSize(bytes, SIZES.part)).toBe(size);
    expect(Math.ceil(bytes / size)).toBeLessThanOrEqual(10_000);
  });
});

it('sends encryption with every object, and the storage class with files', async () => {
  const more = { encryption: 'aws:kms', kmsKey: 'key', storageClass: 'STANDARD_IA' };
  const store = await open(more);
  await store.sendFile('files/a', path, contentOf(body));
  writeFileSync(join(folder.path, 'small'), 'small');
  await store.sendFile('files/small', join(folder.path, 'small'), contentOf(Buffer.from('small')));
  await store.send('tables/a', 'head');
  await store.replace('current.json', '{}', undefined);
  const headersOf = (call: string) => {
    const { headers } = seen.find((each) => each.call === call) ?? {};
    const names = ['', '-aws-kms-key-id'].map((name) => `x-amz-server-side-encryption${name}`);
    return [...names, 'x-amz-storage-class'].map((name) => headers?.[name]);
  };
  for (const call of ['POST files/a?uploads=', 'PUT files/small'])
    expect(headersOf(call), call).toEqual(['aws:kms', 'key', 'STANDARD_IA']);
  for (const call of ['PUT tables/a', 'PUT current.json'])
    expect(headersOf(call), call).toEqual(['aws:kms', 'key', undefined]);
});
