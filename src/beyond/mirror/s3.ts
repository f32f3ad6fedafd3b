import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PutObjectCommandInput, S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { remove, streamNew } from '../../base/config/owned.js';
import { bucketOf } from '../../base/config/problems.js';
import { proxyOf } from '../../core/service/proxy.js';
import type { MirrorPlace } from './mirror-layout.js';
import { explain } from './s3-error.js';
import { type PartSizes, SIZES, sendInParts } from './s3-parts.js';
import { ATTEMPTS, retrying, sendStream } from './s3-stream.js';
import { type Content, type Listed, noRequests, type ObjectStore, type Requests } from './store.js';

/** Milliseconds to connect, and without a byte on an open connection. */
const TIMES = { connectionTimeout: 10_000, socketTimeout: 120_000 };

/**
 * Opens a place of an S3 service. The SDK is loaded here, and finds credentials as usual: in the environment, in its files,
 * or from the machine. No request is sent yet.
 * @param signal ends every request once it is aborted
 * @param sizes by which files are sent in parts
 */
export async function openStore(
  place: MirrorPlace,
  signal: AbortSignal,
  sizes: PartSizes = SIZES,
): Promise<ObjectStore> {
  // The SDK warns users of older versions of Node that its next releases will not run there.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client(await clientOptions(place));
  const { bucket: Bucket, prefix } = bucketOf(place.to);
  const send: typeof client.send = Reflect.get(client, 'send').bind(client);
  const stop = { abortSignal: withoutListenerLimit(signal) };
  const explained = <T>(work: () => Promise<T>, file?: string): Promise<T> =>
    work().catch((error: unknown) => {
      throw explain(error, place, signal, file);
    });
  /** Gets an object; undefined if there is none. */
  const get = (name: string) =>
    send(new sdk.GetObjectCommand({ Bucket, Key: prefix + name }), stop).catch((error: unknown) => {
      if (error instanceof sdk.NoSuchKey) return undefined;
      throw error;
    });
  const encryption = { ServerSideEncryption: place.encryption, SSEKMSKeyId: place.kmsKey };
  // Services have classes of their own names.
  const StorageClass = place.storageClass as PutObjectCommandInput['StorageClass'];
  const put = (name: string, input: Omit<PutObjectCommandInput, 'Bucket' | 'Key'>) =>
    send(new sdk.PutObjectCommand({ Bucket, Key: prefix + name, ...encryption, ...input }), stop);
  const sendWhole = (name: string, path: string, { bytes, sha256 }: Content) => {
    const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
    return sendStream(signal, path, {}, (Body) =>
      put(name, { Body, ContentLength: bytes, ChecksumSHA256, StorageClass }),
    );
  };
  return {
    place: place.to.replace(/\/+$/, ''),
    concurrency: place.concurrency,
    signal,
    requests: countRequests(client),
    list: (below) =>
      explained(async () => {
        const found = new Map<string, Listed>();
        const pages = sdk.paginateListObjectsV2({ client }, { Bucket, Prefix: prefix + below }, stop);
        for await (const { Contents = [] } of pages)
          for (const { Key = '', Size = 0, LastModified = new Date(), ETag = '' } of Contents)
            found.set(Key.slice(prefix.length), { bytes: Size, modified: LastModified, tag: ETag });
        return found;
      }),
    read: (name) =>
      explained(async () => {
        const found = await get(name);
        const body = await found?.Body?.transformToByteArray();
        return body === undefined ? undefined : { body: Buffer.from(body), tag: found?.ETag ?? '' };
      }),
    fetch: (name, path) =>
      explained(() =>
        retrying(signal, async () => {
          const found = await get(name);
          return found?.Body instanceof Readable ? writeBody(found.Body, path) : undefined;
        }),
      ),
    sendFile: (name, path, content) =>
      explained(async () => {
        const target = { Bucket, Key: prefix + name, ...encryption, StorageClass };
        const sending = { sdk, send, signal: stop.abortSignal };
        if (content.bytes > sizes.largest) await sendInParts(sending, target, path, content, sizes.part);
        else await sendWhole(name, path, content);
      }, path),
    send: (name, Body) =>
      explained(async () => {
        await put(name, { Body });
      }),
    replace: (name, Body, tag) =>
      explained(async () => {
        const condition = tag === undefined ? { IfNoneMatch: '*' } : { IfMatch: tag };
        try {
          return (await put(name, { Body, ...condition })).ETag ?? '';
        } catch (error) {
          if (!isLost(error)) throw error;
          // The answer to a first attempt may be lost, and the second one then finds what the first one wrote.
          const found = await get(name);
          return (await found?.Body?.transformToString()) === Body ? found?.ETag : undefined;
        }
      }),
    remove: (names, end) =>
      explained(async () => {
        const ended = end === undefined ? stop : { abortSignal: AbortSignal.any([stop.abortSignal, end]) };
        const Objects = names.map((name) => ({ Key: prefix + name }));
        const input = { Bucket, Delete: { Objects, Quiet: true } };
        const { Errors: [first] = [] } = await send(new sdk.DeleteObjectsCommand(input), ended);
        if (first !== undefined) throw Object.assign(new Error(), { name: first.Code });
      }),
  };
}

/** Counts the requests of a client from now on, each attempt and each page. */
function countRequests(client: S3Client): Requests {
  const requests = noRequests();
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        const kind = kindOf(commandName);
        requests[kind]++;
        const headers: unknown = Reflect.get(Object(args.request), 'headers');
        if (kind === 'put') requests.bytes += Number(Reflect.get(Object(headers), 'content-length') ?? 0);
        return next(args);
      },
    // After the step that repeats a request.
    { step: 'finalizeRequest', priority: 'low' },
  );
  return requests;
}

/** What a service charges for a command as. */
function kindOf(command: string): Exclude<keyof Requests, 'bytes'> {
  if (/^(Get|Head)/.test(command)) return 'get';
  if (command.startsWith('List')) return 'list';
  return /^(Delete|Abort)/.test(command) ? 'remove' : 'put';
}

/** A signal that is aborted with another one, and that any number of requests may listen to. */
function withoutListenerLimit(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal]);
  setMaxListeners(0, own);
  return own;
}

async function clientOptions({ to, endpoint, region, pathStyle }: MirrorPlace): Promise<S3ClientConfig> {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const here = region ?? (endpoint === undefined ? undefined : (process.env.AWS_REGION ?? 'us-east-1'));
  const agent = await agentOf(endpoint ?? `https://${bucketOf(to).bucket}.s3.amazonaws.com`);
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(here === undefined ? {} : { region: here }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    requestHandler: { ...TIMES, httpAgent: agent, httpsAgent: agent },
    // Every file that is fetched is compared with its SHA-256.
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: silent,
  };
}

/** Connections of the SDK, through the proxy if there is one. */
async function agentOf(url: string) {
  const connections = { maxSockets: 64 };
  const proxy = proxyOf(url);
  if (proxy === undefined) return connections;
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return new HttpsProxyAgent(proxy, { ...connections, keepAlive: true });
}

/** Codes of a conditional write that came too late. With If-Match, a missing object counts, too. */
const LOST: ReadonlySet<unknown> = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey']);

const isLost = (error: unknown): boolean => error instanceof Error && LOST.has(error.name);

/** Writes a file and returns its SHA-256 (hex). */
async function writeBody(body: Readable, path: string): Promise<string> {
  const hash = createHash('sha256');
  body.on('data', (chunk: Buffer) => hash.update(chunk));
  // An attempt before, or a pull that was killed, may have left a part of it.
  remove(path);
  await pipeline(body, streamNew(path));
  return hash.digest('hex');
}
