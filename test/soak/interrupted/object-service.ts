import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A service on 127.0.0.1 that speaks as much of S3 as a push and a pull need, with its objects in memory. */
export interface ObjectService {
  /** Such as `http://127.0.0.1:4000`. */
  readonly endpoint: string;
  /** Contents by key: the bucket, a slash and the name. */
  readonly objects: ReadonlyMap<string, Buffer>;
  close(): void;
}

type Answer = Readonly<{ status: number; body?: string | Buffer; tag?: string }>;

const tagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;
const refused = (status: number, code: string): Answer => ({
  status,
  body: `<Error><Code>${code}</Code></Error>`,
});

/** Starts the service. An object exists once its whole body has come. */
export async function startObjectService(): Promise<ObjectService> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    // A killed client breaks off in its body.
    const given = await buffer(request).catch(() => undefined);
    if (given === undefined) return void response.destroy();
    const { status, body = '', tag } = answer(objects, request, given);
    response.writeHead(status, tag === undefined ? {} : { etag: tag }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { endpoint: `http://127.0.0.1:${port}`, objects, close };
}

function answer(objects: Map<string, Buffer>, { method, url = '', headers }: IncomingMessage, given: Buffer) {
  const { pathname, searchParams } = new URL(url, 'http://host');
  const key = decodeURIComponent(pathname.slice(1));
  const found = objects.get(key);
  if (method === 'POST' && searchParams.has('delete')) return removeAll(objects, key, String(given));
  if (method === 'GET' && searchParams.has('list-type')) return list(objects, key, searchParams);
  if (method === 'PUT') {
    const { 'if-match': tag, 'if-none-match': none } = headers;
    const isRefused = tag === undefined ? none === '*' && found !== undefined : tag !== tagOf(found ?? EMPTY);
    if (isRefused) return refused(412, 'PreconditionFailed');
    const sum = headers['x-amz-checksum-sha256'];
    if (sum !== undefined && sum !== createHash('sha256').update(given).digest('base64'))
      return refused(400, 'BadDigest');
    objects.set(key, given);
    return { status: 200, tag: tagOf(given) };
  }
  if (method !== 'GET') return refused(501, 'NotImplemented');
  return found === undefined ? refused(404, 'NoSuchKey') : { status: 200, body: found, tag: tagOf(found) };
}

const EMPTY = Buffer.alloc(0);

function removeAll(objects: Map<string, Buffer>, bucket: string, wanted: string): Answer {
  for (const [, name = ''] of wanted.matchAll(/<Key>(.*?)<\/Key>/g))
    objects.delete(`${bucket.replace(/\/$/, '')}/${name}`);
  return { status: 200, body: '<DeleteResult/>' };
}

function list(objects: ReadonlyMap<string, Buffer>, key: string, query: URLSearchParams): Answer {
  const bucket = `${key.replace(/\/$/, '')}/`;
  const listed = [...objects]
    .filter(([name]) => name.startsWith(`${bucket}${query.get('prefix') ?? ''}`))
    .map(
      ([name, body]) =>
        `<Contents><Key>${name.slice(bucket.length)}</Key><Size>${body.length}</Size><ETag>${tagOf(body)}</ETag><LastModified>2026-11-16T02:00:00Z</LastModified></Contents>`,
    );
  return { status: 200, body: `<ListBucketResult>${listed.join('')}</ListBucketResult>` };
}
